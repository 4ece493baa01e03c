/** Removes the routes of providers whose terms exclude the caller's territory. */
import type { Provider, Route } from '../catalogue/route.js';
import { metCode, type Territory } from './territory.js';

export interface FilteredRoutes {
  /** The same array as given, where nothing is excluded. */
  readonly permitted: readonly Route[];
  readonly excluded: readonly Route[];
}

const none: readonly Route[] = Object.freeze([]);
/** Providers live as long as their snapshot. */
const excludedCodes = new WeakMap<Provider, ReadonlySet<string>>();

/** A caller whose territory is unknown is permitted, as it is not sanctioned either. */
export function permits(provider: Provider, territory: Territory): boolean {
  if (territory.country === null || provider.excludedTerritories.length === 0) return true;
  let codes = excludedCodes.get(provider);
  if (!codes) {
    codes = new Set(provider.excludedTerritories);
    excludedCodes.set(provider, codes);
  }
  return metCode(codes, territory) === null;
}

/** The filtered lists by territory. The same arrays are returned each time, so that rankings of them can be cached. */
const filteredLists = new WeakMap<readonly Route[], Map<string, FilteredRoutes>>();
const territoriesMax = 1000;

export function territoryFilter(routes: readonly Route[], territory: Territory): FilteredRoutes {
  const first = routes.findIndex(({ provider }) => !permits(provider, territory));
  if (first < 0) return { permitted: routes, excluded: none };
  const code = territory.subdivision ?? territory.country ?? '';
  const known = filteredLists.get(routes) ?? new Map<string, FilteredRoutes>();
  const filtered = known.get(code) ?? filteredFrom(first, routes, territory);
  if (known.size < territoriesMax) filteredLists.set(routes, known.set(code, filtered));
  return filtered;
}

function filteredFrom(first: number, routes: readonly Route[], territory: Territory): FilteredRoutes {
  const permitted = routes.slice(0, first);
  const excluded: Route[] = [];
  for (const route of routes.slice(first)) (permits(route.provider, territory) ? permitted : excluded).push(route);
  return { permitted, excluded };
}
