/** Counts the entries of a snapshot. */
import type { Provider, Snapshot } from './route.js';

interface Counts {
  readonly models: number;
  readonly routes: number;
  readonly providers: number;
}

export interface CatalogueCounts extends Counts {
  /** Those of the built-in sandbox, which are in the figures above too. */
  readonly sandbox: Counts;
}

export function countsOf({ models, routes, providers }: Snapshot): CatalogueCounts {
  const isSandbox = ({ dialect }: Provider) => dialect === 'sandbox';
  const count = <T>(items: Iterable<T>, holds: (item: T) => boolean) => [...items].filter(holds).length;
  return {
    models: models.size,
    routes: routes.size,
    providers: providers.size,
    sandbox: {
      models: count(
        models.values(),
        ({ routes }) => routes.length > 0 && routes.every(({ provider }) => isSandbox(provider)),
      ),
      routes: count(routes.values(), ({ provider }) => isSandbox(provider)),
      providers: count(providers.values(), isSandbox),
    },
  };
}
