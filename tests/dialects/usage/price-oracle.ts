/**
 * What a usage must cost, computed from the price list as it is written and apart from the gateway's code: the date chooses the price,
 * the time a period, the tier that the answer names a layer of that, and the prompt a band.
 */
import type { SeededRandom } from '../../support/seeded-random.js';

/** What a provider did for one answer. No token is in two classes. */
export interface Work {
  input: number;
  cached_input: number;
  cache_write: number;
  cache_write_1h: number;
  input_audio: number;
  input_image: number;
  output: number;
  reasoning: number;
  output_audio: number;
  output_image: number;
  tools: Record<string, number>;
  /** As the answer names it; null where it names none. */
  tier: string | null;
}

export const promptClasses = [
  'input',
  'cached_input',
  'cache_write',
  'cache_write_1h',
  'input_audio',
  'input_image',
] as const;
export const completionClasses = ['output', 'reasoning', 'output_audio', 'output_image'] as const;
const tokenClasses = [...promptClasses, ...completionClasses] as const;
type TokenClass = (typeof tokenClasses)[number];

/** USD per million tokens; `request` USD for a request. As texts, as a catalogue has them. */
type ClassFigures = Partial<Record<TokenClass | 'request', string>>;
interface Layer extends ClassFigures {
  above?: ClassFigures & { input_tokens?: number; from_tokens?: number };
}
export interface PriceList extends Layer {
  tiers?: Record<string, Layer>;
  periods?: (Layer & { utc: string })[];
  tools?: Record<string, string>;
  until?: string;
  then?: Layer & { tiers?: Record<string, Layer>; tools?: Record<string, string> };
}

export interface Expected {
  pico: bigint;
  /** As in `usage.cost_details`. */
  details: Record<string, bigint>;
  prompt: number;
  completion: number;
  /** The tier whose price applied. */
  tier: string | null;
}

const shownAs: Record<TokenClass, string> = {
  input: 'input',
  cached_input: 'cache_read',
  cache_write: 'cache_write',
  cache_write_1h: 'cache_write',
  input_audio: 'audio',
  input_image: 'image',
  output: 'output',
  reasoning: 'reasoning',
  output_audio: 'audio',
  output_image: 'image',
};

export function expectedCost(list: PriceList, work: Work, atMs: number): Expected {
  const prompt = sumOf(work, promptClasses);
  const completion = sumOf(work, completionClasses);
  const current = list.until !== undefined && atMs >= dayAfter(list.until) ? { ...list, ...list.then } : list;
  const tier = work.tier !== null && current.tiers?.[work.tier] ? work.tier : null;
  const figures = figuresFor(current, tier, atMs, prompt);
  const expected: Expected = { pico: 0n, details: {}, prompt, completion, tier };
  const add = (name: string, amount: bigint) => {
    expected.pico += amount;
    expected.details[name] = (expected.details[name] ?? 0n) + amount;
  };
  for (const name of tokenClasses) {
    if (work[name] === 0) continue;
    const billed = billedAs(figures, name);
    add(shownAs[billed], BigInt(work[name]) * pico(priceOf(figures, billed), 6));
  }
  for (const [tool, calls] of Object.entries(work.tools)) {
    const price = current.tools?.[tool];
    if (price !== undefined && calls > 0) add('tools', BigInt(calls) * pico(price, 12));
  }
  const request = pico(figures.request ?? '0', 12);
  if (request > 0n) add('request', request);
  return expected;
}

/** A class without a price is billed as input or output; a write for an hour as one for five minutes, where that has a price. */
function billedAs(figures: ClassFigures, name: TokenClass): TokenClass {
  if (figures[name] !== undefined) return name;
  if (name === 'cache_write_1h' && figures.cache_write !== undefined) return name;
  return (promptClasses as readonly string[]).includes(name) ? 'input' : 'output';
}

function priceOf(figures: ClassFigures, name: TokenClass): string {
  return figures[name] ?? (name === 'cache_write_1h' ? figures.cache_write! : figures.output!);
}

function figuresFor(list: PriceList, tier: string | null, atMs: number, prompt: number): ClassFigures {
  const period = list.periods?.find(({ utc }) => isWithin(utc, atMs));
  let layer: Layer = period ? { ...list, ...period } : list;
  const priced = tier === null ? undefined : list.tiers?.[tier];
  if (priced) layer = { ...layer, above: undefined, ...priced } as Layer;
  const band = layer.above;
  const from = band?.from_tokens ?? (band?.input_tokens ?? Number.POSITIVE_INFINITY) + 1;
  return prompt >= from ? { ...layer, ...band } : layer;
}

function isWithin(utc: string, atMs: number): boolean {
  const time = new Date(atMs).toISOString().slice(11, 16);
  const [from, to] = utc.split('-') as [string, string];
  return from < to ? time >= from && time < to : time >= from || time < to;
}

const dayAfter = (day: string): number => Date.parse(`${day}T00:00:00Z`) + 86_400_000;

/** A decimal times a power of ten, exactly. */
function pico(figure: string, places: number): bigint {
  const [whole = '0', fraction = ''] = figure.split('.');
  return BigInt(whole + fraction.padEnd(places, '0'));
}

const sumOf = (work: Work, names: readonly TokenClass[]): number => names.reduce((sum, name) => sum + work[name], 0);

const figure = (random: SeededRandom): string => `${random.below(60)}.${String(random.below(1e6)).padStart(6, '0')}`;

const optional = ['cached_input', 'cache_write', 'cache_write_1h', 'reasoning', 'input_image', 'request'] as const;

function randomFigures(random: SeededRandom, chance: number): ClassFigures {
  const figures: ClassFigures = {};
  for (const name of ['input', 'output', ...optional] as const)
    if (random.chance(chance)) figures[name] = figure(random);
  return figures;
}

function randomBand(random: SeededRandom): Layer {
  if (random.chance(0.6)) return {};
  const bound = random.below(3_000);
  return {
    above: {
      ...(random.chance(0.5) ? { input_tokens: bound } : { from_tokens: bound + 1 }),
      ...randomFigures(random, 0.5),
    },
  };
}

/** Audio always has a price, because output audio without one cannot be billed at all. */
export function randomPrices(random: SeededRandom): PriceList {
  const list: PriceList = {
    ...randomFigures(random, 0.5),
    ...{ input: figure(random), output: figure(random) },
    ...{ input_audio: figure(random), output_audio: figure(random), output_image: figure(random) },
    tools: { web_search: `0.0${random.below(99)}` },
  };
  if (random.chance(0.6)) {
    const tiers = { flex: randomFigures(random, 0.6), priority: randomFigures(random, 0.6) };
    list.tiers = { flex: tiers.flex, priority: { ...tiers.priority, ...randomBand(random) } };
  }
  if (random.chance(0.4)) {
    const utc = random.pick(['00:30-08:30', '22:00-06:15', '16:00-00:00']);
    list.periods = [{ utc, ...randomFigures(random, 0.6) }];
  } else {
    Object.assign(list, randomBand(random));
  }
  if (random.chance(0.3)) {
    list.until = '2026-11-30';
    // biome-ignore lint/suspicious/noThenProperty: the name of the field in a catalogue.
    list.then = {
      ...randomFigures(random, 0.5),
      ...(random.chance(0.3) && { tiers: { flex: randomFigures(random, 0.6) } }),
    };
  }
  return list;
}
