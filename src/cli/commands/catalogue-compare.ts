/** `lodestone catalogue compare`: the prices of the catalogue beside those of public lists. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { priceProvenance } from '../../catalogue/price.js';
import type { Route } from '../../catalogue/route.js';
import { readCatalogue } from '../catalogue-snapshot.js';
import { type Command, type CommandContext, required } from '../command.js';
import { readConfig } from '../connection.js';
import { CommandFailure } from '../io.js';
import { type ListedPrice, type PriceList, priceListOf } from '../public-prices.js';
import { table } from '../text-table.js';

export const compareCommand: Command = {
  name: 'catalogue compare',
  parameters: '--with <list> [<list> …]',
  summary:
    'Compare the prices of the catalogue with public lists: LiteLLM’s table of prices, the api.json of models.dev, the data.json of genai-prices. Prints where they differ, and how many lists agree with the catalogue. Needs no server.',
  options: { with: { type: 'string' } },
  positionalsMax: 10,
  run: compareCatalogue,
};

/** Names of a provider in the lists, where they are not its id. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  alibaba: ['dashscope'],
  azure: ['azure_ai'],
  bedrock: ['bedrock_converse', 'amazon-bedrock', 'aws'],
  cloudflare: ['cloudflare-workers-ai'],
  cloudferro: ['cloudferro-sherlock'],
  cohere: ['cohere_chat'],
  fireworks: ['fireworks_ai', 'fireworks-ai'],
  friendli: ['friendliai'],
  'google-ai-studio': ['gemini', 'google'],
  moonshotai: ['moonshot'],
  novita: ['novita-ai'],
  ovhcloud: ['ovhcloud-ai-endpoints'],
  together: ['together_ai', 'togetherai'],
  vertex: ['vertex_ai-anthropic_models', 'vertex_ai-language-models', 'google-vertex', 'google-vertex-anthropic'],
  xai: ['x-ai'],
};

/** Figures that differ by less than this share are equal: lists round. */
const tolerance = 0.02;

interface Comparison {
  readonly route: string;
  readonly verdict: 'equal' | 'differs';
  /** Lists that have the price of the catalogue, and those that have another. */
  readonly agree: readonly string[];
  readonly differ: readonly string[];
  readonly ours: string;
  readonly theirs: readonly string[];
  readonly asOf: string | null;
}

async function compareCatalogue({ io, json, options, positionals }: CommandContext): Promise<void> {
  const files = [required(options.with, '--with <list>'), ...positionals];
  const lists = await Promise.all(files.map((file) => readList(resolve(io.cwd, file))));
  const { snapshot, faults } = await readCatalogue(readConfig(options.config, io), io);
  if (!snapshot) throw new CommandFailure(faults.join('\n'));
  const routes = [...snapshot.routes.values()].filter(({ price, processing }) => price && processing !== 'operator');
  const found = routes.flatMap((route) => comparisonOf(route, lists));
  const differing = found.filter(({ verdict }) => verdict === 'differs');
  const counts = {
    routes: routes.length,
    equal: found.length - differing.length,
    differs: differing.length,
    unlisted: routes.length - found.length,
  };
  if (json) io.out(JSON.stringify({ ...counts, differing }, null, 2));
  else io.out([...(differing.length > 0 ? [tableOf(differing), ''] : []), summaryOf(counts)].join('\n'));
}

async function readList(file: string): Promise<PriceList> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandFailure(`${file} cannot be read (${error.code ?? error.message}).`);
  });
  const list = priceListOf(parsed(text));
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

/** Empty where no list has the route. */
function comparisonOf(route: Route, lists: readonly PriceList[]): Comparison[] {
  const price = route.price!;
  const ours = [price.input, price.output].map((pico) => Number(pico) / 1e6) as [number, number];
  const agree: string[] = [];
  const differ: string[] = [];
  const theirs: string[] = [];
  for (const { name, prices } of lists) {
    const found = prices.find((each) => isOf(each, route));
    if (!found) continue;
    const isEqual = isNear(found.input, ours[0]) && isNear(found.output, ours[1]);
    (isEqual ? agree : differ).push(name);
    if (!isEqual) theirs.push(`${name} ${shown(found.input)} / ${shown(found.output)}`);
  }
  if (agree.length + differ.length === 0) return [];
  const verdict = differ.length === 0 ? 'equal' : 'differs';
  const { asOf } = priceProvenance(route);
  return [{ route: route.id, verdict, agree, differ, ours: ours.map(shown).join(' / '), theirs, asOf }];
}

function isOf({ provider, model }: ListedPrice, { provider: { id }, upstreamModel, locode }: Route): boolean {
  if (locode !== 'global' && manyPlaces.has(id)) return false;
  const isProvider = provider === id || otherNames[id]?.includes(provider) === true;
  return isProvider && model.toLowerCase() === upstreamModel.toLowerCase();
}

/** The lists do not say for which place their price is. */
const manyPlaces: ReadonlySet<string> = new Set(['azure', 'bedrock', 'vertex']);

function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= tolerance * Math.max(a, b);
}

function shown(value: number): string {
  return String(Number(value.toFixed(6)));
}

function tableOf(differing: readonly Comparison[]): string {
  return table(
    ['route', 'ours', 'as of', 'theirs', 'majority'],
    differing.map(({ route, ours, asOf, theirs, agree, differ }) => [
      ...[route, ours, asOf, theirs.join(', ')],
      agree.length > differ.length ? 'ours' : agree.length === differ.length ? 'even' : 'theirs',
    ]),
  );
}

function summaryOf({ routes, equal, differs, unlisted }: Record<string, number>): string {
  return `${routes} routes with a price: ${equal} equal to 2 % in every list that has them, ${differs} differ, ${unlisted} are in none.`;
}
