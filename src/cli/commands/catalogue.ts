/** `lodestone catalogue …` */

import { dayMs, oldDays } from '../../catalogue/dates.js';
import type { Snapshot } from '../../catalogue/route.js';
import type { OldFigure } from '../../catalogue/source-check.js';
import { readCatalogue, readNames, readSources } from '../catalogue-snapshot.js';
import { type Command, type CommandContext, flag, text } from '../command.js';
import { readConfig } from '../connection.js';
import { UsageError } from '../io.js';
import { compareCommand } from './catalogue-compare.js';
import { importCommand } from './catalogue-import.js';

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
    parameters: '[<file> …] [--strict] [--max-age 90d]',
    summary:
      'Check the catalogue of the configuration and these files: faults, figures older than --max-age (90d), routes that retire. --strict asks for the source and date of every figure, refuses drafts and built-in routes past their retirement, and lists what is old. Needs no server.',
    options: { strict: flag, 'max-age': text },
    positionalsMax: 100,
    run: checkCatalogue,
  },
  compareCommand,
  importCommand,
];

async function reloadCatalogue({ client, print }: CommandContext): Promise<void> {
  const answer = await client().call<ReloadAnswer>('POST', '/catalogue/reload');
  print(answer, reloadText(answer));
}

export function reloadText({ sandbox, ...all }: ReloadAnswer): string {
  const text = ({ models, routes, providers }: Counts) => `${models} models, ${routes} routes, ${providers} providers`;
  return `Reloaded: ${text(all)}${sandbox.providers === 0 ? '' : ` (the sandbox: ${text(sandbox)})`}.`;
}

async function checkCatalogue({ io, json, options, flags, positionals, markFailed }: CommandContext): Promise<void> {
  const strict = flags.has('strict');
  const maxAge = options['max-age'] ?? `${oldDays}d`;
  const config = readConfig(options.config, io);
  const { snapshot, faults } = await readCatalogue(config, io, positionals);
  const maxAgeMs = maxAgeOf(maxAge);
  const sources = snapshot ? await readSources(config, io, positionals, maxAgeMs) : { faults: [], old: [], notes: [] };
  const names = snapshot ? await readNames(config, snapshot) : { faults: [], lost: [] };
  const all = [...faults, ...names.faults, ...(strict ? sources.faults : [])];
  const summary = snapshot && all.length === 0 ? summaryOf(snapshot) : null;
  if (json) {
    const more = { old: sources.old.map(oldJson), notes: sources.notes, warnings: names.lost };
    io.out(JSON.stringify({ ok: summary !== null, faults: all, ...more, ...summary }, null, 2));
  } else if (summary) {
    const notes = sources.notes.map(({ at, what }) => `${at}: ${what}`);
    const warnings = names.lost.map((text) => `Warning: ${text}.`);
    io.out([summaryText(summary), ...sourcesText(sources.old, maxAge, strict), ...notes, ...warnings].join('\n'));
  } else io.err(`${all.join('\n')}\n${all.length === 1 ? '1 fault' : `${all.length} faults`}.`);
  if (!summary) markFailed();
}

function maxAgeOf(text: string): number {
  const match = /^([1-9]\d{0,4})d$/.exec(text);
  if (!match) throw new UsageError(`--max-age is "${text}", but must be a number of days such as 120d.`);
  return Number(match[1]) * dayMs;
}

function oldJson({ at, what, asOf, days }: OldFigure) {
  return { at, what, as_of: asOf, days };
}

/** Old figures are no fault: nobody can tell from a date whether a figure still holds. */
function sourcesText(old: readonly OldFigure[], maxAge: string, strict: boolean): string[] {
  const all = strict ? 'Every figure has a source and a date. ' : '';
  // Without --strict a figure may have no date at all.
  if (old.length === 0) return strict ? [`${all}No figure is older than ${maxAge}.`] : [];
  const count = `${old.length === 1 ? '1 figure is' : `${old.length} figures are`} older than ${maxAge}`;
  if (!strict) return [`${count}; --strict lists them.`];
  const lines = old.map(({ at, what, asOf, days }) => `${at}: ${what}: as of ${asOf}, ${days} days ago`);
  return [`${all}${count}:`, ...lines];
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
