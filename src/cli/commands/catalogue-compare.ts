/** `lodestone catalogue compare`: the prices of the catalogue beside those of public lists. */
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { systemClock } from '../../base/time.js';
import { dayMsOf, dayText } from '../../catalogue/dates.js';
import type { Snapshot } from '../../catalogue/route.js';
import { readCatalogue } from '../catalogue-snapshot.js';
import { type Command, type CommandContext, text } from '../command.js';
import { readConfig } from '../connection.js';
import { CommandFailure, type Io, UsageError, unreadable } from '../io.js';
import { type MissingModel, missingModels, routesInLists } from '../price-lists/match.js';
import { type PriceList, priceListOf } from '../price-lists/read-list.js';
import { type JudgedFigure, judgedFigures, type Verdict } from '../price-lists/verdict.js';
import { table } from '../text-table.js';

export const compareCommand: Command = {
  name: 'catalogue compare',
  parameters: '--with <list>[@<date>] [<list>[@<date>] …] [--provider P]',
  summary:
    'Compare the prices of the catalogue with public lists: LiteLLM’s table of prices, the api.json of models.dev, the data.json of genai-prices. Each figure is equal, better sourced than in the list, or differs, by date and majority; models of a provider that have no route are missing. The date is the day of the list, else that of its file. --provider looks at one provider, and names what is missing. Needs no server.',
  options: { with: { ...text, multiple: true }, provider: text },
  positionalsMax: 10,
  run: compareCatalogue,
};

async function compareCatalogue(context: CommandContext): Promise<void> {
  const { io, json, options } = context;
  const { lists, snapshot } = await readComparison(context);
  const isAsked = isOfProvider(options.provider, snapshot);
  const routes = [...snapshot.routes.values()].filter(
    ({ price, processing, provider }) => price && processing !== 'operator' && isAsked(provider.id),
  );
  const nowMs = systemClock.now();
  const listed = routesInLists(routes, lists).filter(({ found }) => found.length > 0);
  const judged = listed.map((each) => judgedFigures(each, nowMs));
  const figures = judged.flat();
  const missing = missingModels(snapshot, lists).filter(({ provider }) => isAsked(provider));
  const counts = {
    routes: routes.length,
    unlisted: routes.length - listed.length,
    ...{ figures: countsOf(figures), by_route: countsOf(judged.map(worst)), missing: missing.length },
  };
  if (json) {
    const unequal = figures.filter(({ verdict }) => verdict !== 'equal');
    io.out(JSON.stringify({ ...counts, unequal: unequal.map(figureJson), models: missing.map(missingJson) }, null, 2));
    return;
  }
  const better = figures.filter(({ verdict }) => verdict === 'better sourced');
  const differing = figures.filter(({ verdict }) => verdict === 'differs');
  const parts = [
    better.length > 0 ? `Better sourced than in the lists:\n${tableOf(better)}` : [],
    differing.length > 0 ? `To be looked at:\n${tableOf(differing)}` : [],
    missing.length > 0 ? `Without a route here:\n${missingText(missing, options.provider !== undefined)}` : [],
    summaryOf(counts),
  ];
  io.out(parts.flat().join('\n\n'));
}

/** The lists that the command line names, and the catalogue. */
export async function readComparison({
  io,
  options,
  repeated,
  positionals,
}: CommandContext): Promise<{ lists: PriceList[]; snapshot: Snapshot }> {
  const files = [...(repeated.with ?? []), ...positionals];
  if (files.length === 0) throw new UsageError('--with <list> is missing');
  const lists = await Promise.all(files.map((file) => readList(file, io)));
  const twice = lists.find(({ name }, index) => lists.findIndex((each) => each.name === name) !== index);
  if (twice) throw new UsageError(`Two of the lists are of ${twice.name}, but each must be given once.`);
  const { snapshot, faults } = await readCatalogue(readConfig(options.config, io), io);
  if (!snapshot) throw new CommandFailure(faults.join('\n'));
  return { lists, snapshot };
}

/** Whether a provider is the one that was asked for; every one is without an option. */
export function isOfProvider(asked: string | undefined, { providers }: Snapshot): (id: string) => boolean {
  if (asked !== undefined && !providers.has(asked)) {
    throw new UsageError(`--provider is "${asked.slice(0, 200)}", but must be a provider that the catalogue has.`);
  }
  return (id) => asked === undefined || id === asked;
}

async function readList(named: string, { cwd }: Io): Promise<PriceList> {
  const [, path = named, date] = /^(.*)@(\d{4}-\d{2}-\d{2})$/s.exec(named) ?? [];
  const file = resolve(cwd, path);
  if (date !== undefined && dayMsOf(date) === undefined) {
    throw new UsageError(`The date of ${path} is "${date}", but must be a date of the calendar such as 2026-11-21.`);
  }
  const read = async () => ({ text: await readFile(file, 'utf8'), writtenMs: (await stat(file)).mtimeMs });
  const { text, writtenMs } = await read().catch((error: NodeJS.ErrnoException) => {
    throw unreadable(file, error);
  });
  const list = priceListOf(parsed(text), date ?? dayText(writtenMs), dayText(systemClock.now()));
  if (!list) throw new CommandFailure(`${file} is no list of prices of LiteLLM, models.dev or genai-prices.`);
  return list;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type VerdictCounts = Readonly<Record<'equal' | 'better_sourced' | 'differs', number>>;

function countsOf(verdicts: readonly Pick<JudgedFigure, 'verdict'>[]): VerdictCounts {
  const count = (asked: Verdict) => verdicts.filter(({ verdict }) => verdict === asked).length;
  return { equal: count('equal'), better_sourced: count('better sourced'), differs: count('differs') };
}

/** The verdict on a route is the worst one on its figures. */
function worst(figures: readonly JudgedFigure[]): Pick<JudgedFigure, 'verdict'> {
  const order = ['differs', 'better sourced'] as const;
  return { verdict: order.find((each) => figures.some(({ verdict }) => verdict === each)) ?? 'equal' };
}

function figureJson({ asOf, theirs, ...figure }: JudgedFigure) {
  return { ...figure, as_of: asOf, theirs: theirs.map(({ asOf: day, ...their }) => ({ ...their, as_of: day })) };
}

function missingJson({ provider, found }: MissingModel) {
  return { provider, model: found[0]!.model.model, lists: found.map(({ list }) => list.name) };
}

function tableOf(figures: readonly JudgedFigure[]): string {
  return table(
    ['route', 'figure', 'ours', 'as of', 'theirs', 'why'],
    figures.map(({ route, figure, ours, asOf, theirs, reason }) => [
      ...[route, figure, ours, asOf],
      ...[theirs.map(({ list, value }) => `${list} ${value}`).join(', '), reason],
    ]),
  );
}

/** Lists have hundreds of models, so they are named only where one provider is asked for. */
function missingText(missing: readonly MissingModel[], named: boolean): string {
  if (named)
    return table(
      ['model', 'lists'],
      missing.map(missingJson).map(({ model, lists }) => [model, lists]),
    );
  const counts = new Map<string, number>();
  for (const { provider } of missing) counts.set(provider, (counts.get(provider) ?? 0) + 1);
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return `${sorted.map(([provider, count]) => `${provider} ${count}`).join(', ')}; --provider names them.`;
}

interface Counts {
  readonly routes: number;
  readonly unlisted: number;
  readonly figures: VerdictCounts;
  readonly by_route: VerdictCounts;
  readonly missing: number;
}

function summaryOf({ routes, unlisted, figures, by_route: byRoute, missing }: Counts): string {
  const text = (counts: VerdictCounts) =>
    `${counts.equal} equal to 2 %, ${counts.better_sourced} better sourced, ${counts.differs} differ`;
  return [
    `${routes} routes with a price: ${text(byRoute)}, ${unlisted} are in no list.`,
    `Their figures: ${text(figures)}. Models without a route: ${missing} missing.`,
  ].join('\n');
}
