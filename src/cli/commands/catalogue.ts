/** `lodestone catalogue …` */
import type { Snapshot } from '../../catalogue/route.js';
import { readCatalogue } from '../catalogue-snapshot.js';
import type { Command, CommandContext } from '../command.js';
import { readConfig } from '../connection.js';

interface Counts {
  models: number;
  routes: number;
  providers: number;
}

interface ReloadAnswer extends Counts {
  sandbox: Counts;
}

export const catalogueCommands: readonly Command[] = [
  {
    name: 'catalogue reload',
    parameters: '',
    summary: 'Make the server read its catalogue files again.',
    positionalsMax: 0,
    run: reloadCatalogue,
  },
  {
    name: 'catalogue check',
    parameters: '[<file> …]',
    summary: 'Check the catalogue of the configuration and these files. Needs no server.',
    positionalsMax: 100,
    run: checkCatalogue,
  },
];

async function reloadCatalogue({ client, io, json }: CommandContext): Promise<void> {
  const answer = await client().call<ReloadAnswer>('POST', '/catalogue/reload');
  io.out(json ? JSON.stringify(answer, null, 2) : reloadText(answer));
}

export function reloadText({ sandbox, ...all }: ReloadAnswer): string {
  const text = ({ models, routes, providers }: Counts) => `${models} models, ${routes} routes, ${providers} providers`;
  return `Reloaded: ${text(all)}${sandbox.providers === 0 ? '' : ` (the sandbox: ${text(sandbox)})`}.`;
}

async function checkCatalogue({ io, json, options, positionals, markFailed }: CommandContext): Promise<void> {
  const config = readConfig(options.config, io);
  const { snapshot, faults } = await readCatalogue(config, io, positionals);
  const summary = snapshot && summaryOf(snapshot);
  if (json) io.out(JSON.stringify({ ok: summary !== null, faults, ...summary }, null, 2));
  else if (summary) io.out(summaryText(summary));
  else io.err(`${faults.join('\n')}\n${faults.length === 1 ? '1 fault' : `${faults.length} faults`}.`);
  if (!summary) markFailed();
}

function summaryOf({ providers, regions, models, routes }: Snapshot) {
  const count = <T>(items: Iterable<T>, holds: (item: T) => boolean) => [...items].filter(holds).length;
  return {
    providers: providers.size,
    providers_configured: count(providers.values(), ({ configured }) => configured),
    regions: regions.size,
    regions_with_carbon: count(regions.values(), ({ carbon }) => carbon !== null),
    models: models.size,
    routes: routes.size,
    routes_priced: count(routes.values(), ({ price }) => price !== null),
    routes_priced_in_another_currency: count(routes.values(), ({ price }) => price?.published !== undefined),
    routes_with_carbon: count(routes.values(), ({ carbon }) => carbon !== null),
    routes_with_data_policy: count(routes.values(), ({ dataPolicy }) => dataPolicy !== undefined),
    routes_configured: count(routes.values(), ({ provider }) => provider.configured),
  };
}

function summaryText(counts: ReturnType<typeof summaryOf>): string {
  return [
    'No faults.',
    `${counts.providers} providers, ${counts.providers_configured} of them configured here`,
    `${counts.regions} regions, ${counts.regions_with_carbon} with carbon`,
    `${counts.models} models`,
    `${counts.routes} routes: ${counts.routes_priced} with a price (${counts.routes_priced_in_another_currency} not published in USD), ` +
      `${counts.routes_with_carbon} with carbon, ${counts.routes_with_data_policy} with a data policy, ${counts.routes_configured} configured here`,
  ].join('\n');
}
