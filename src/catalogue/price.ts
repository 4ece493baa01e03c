/**
 * The prices of a route, resolved when the catalogue is read: every layer below is complete, so that a request only chooses one. The
 * date chooses the price, the time of day its period, the tier that the answer names a layer of that, and the prompt's length a band.
 * A class that a layer does not name has the price of the layer below it. A tier has only bands of its own: those of the base price
 * say nothing about it.
 */
import { noProvenance, type Provenance } from './provenance.js';

/** Pico-dollars a token, exact: a price per million tokens has at most six decimals. */
export interface ClassPrices {
  readonly input: bigint;
  readonly output: bigint;
  /** null = read from a cache at the price of input. */
  readonly cachedInput: bigint | null;
  /** Written to a cache for five minutes; absent = input. */
  readonly cacheWrite?: bigint;
  /** Written to a cache for an hour; absent = as for five minutes. */
  readonly cacheWrite1h?: bigint;
  /** Absent = output. */
  readonly reasoning?: bigint;
  readonly inputAudio?: bigint;
  readonly outputAudio?: bigint;
  /** Absent = input. */
  readonly inputImage?: bigint;
  readonly outputImage?: bigint;
  /** Pico-dollars for the request itself. */
  readonly request?: bigint;
}

/** What each class is called in a catalogue file, and as a line of a bill. */
const nameOfClass = {
  input: 'input',
  output: 'output',
  cachedInput: 'cached_input',
  cacheWrite: 'cache_write',
  cacheWrite1h: 'cache_write_1h',
  reasoning: 'reasoning',
  inputAudio: 'input_audio',
  outputAudio: 'output_audio',
  inputImage: 'input_image',
  outputImage: 'output_image',
  request: 'request',
} as const satisfies Record<keyof ClassPrices, string>;
export type ClassName = (typeof nameOfClass)[keyof ClassPrices];

/** Every class, by its property and its name. */
export const priceClasses = Object.entries(nameOfClass) as [keyof ClassPrices, ClassName][];

/** The price of a whole request whose prompt has at least so many tokens. */
export interface Band extends ClassPrices {
  readonly fromTokens: number;
}

/** Bands are in ascending order. */
export interface Rates extends ClassPrices {
  readonly bands?: readonly Band[];
}

interface TieredRates extends Rates {
  readonly tiers?: ReadonlyMap<string, Rates>;
}

/** Minutes of the day, UTC; one that ends before it begins crosses midnight. */
export interface Period extends TieredRates {
  readonly fromMinute: number;
  readonly toMinute: number;
  /** Days of the week on which it holds, 0 is Sunday; absent = every day. */
  readonly days?: readonly number[];
}

export interface Price extends TieredRates {
  readonly periods?: readonly Period[];
  /** Pico-dollars a call of a tool that runs at the provider, by its name. */
  readonly tools?: ReadonlyMap<string, bigint>;
  /** The price from a date on. */
  readonly later?: { readonly fromMs: number; readonly price: Price };
  /** An offer whose end is not known: it holds until a newer catalogue says otherwise. */
  readonly offer?: {
    /** The last day that is promised. */
    readonly through?: string;
    /** What is to follow. */
    readonly listPrice?: Price;
  };
  readonly provenance?: Provenance;
  /** The list price per million tokens in another currency, as text; null where only the currency is known. */
  readonly published?: {
    readonly currency: string;
    readonly input: string | null;
    readonly output: string | null;
    readonly cachedInput: string | null;
    /** USD for one unit, from which the prices above follow; absent where they are another's conversion. */
    readonly rate?: Provenance & { readonly usd: string };
  };
}

/** Where the price of a route is from, and of when: a price without its own has that of the route. */
export function priceProvenance(route: { readonly price: Price | null; readonly provenance?: Provenance }): Provenance {
  return route.price?.provenance ?? route.provenance ?? noProvenance;
}

/** The price in force at a moment. */
export function priceAt(price: Price, atMs: number): Price {
  let current = price;
  while (current.later !== undefined && atMs >= current.later.fromMs) current = current.later.price;
  return current;
}

/** The prices of one request. `tier` is the one that the answer names; null, or one without prices, is the ordinary one. */
export function ratesFor(price: Price, atMs: number, tier: string | null, promptTokens: number): ClassPrices {
  const current = price.later === undefined ? price : priceAt(price, atMs);
  const layer: TieredRates = current.periods === undefined ? current : (periodAt(current.periods, atMs) ?? current);
  const rates = (tier !== null && layer.tiers?.get(tier)) || layer;
  return rates.bands === undefined ? rates : bandFor(rates, rates.bands, promptTokens);
}

const minuteMs = 60_000;
const dayMinutes = 24 * 60;

function periodAt(periods: readonly Period[], atMs: number): Period | undefined {
  const minute = Math.floor(atMs / minuteMs) % dayMinutes;
  const day = new Date(atMs).getUTCDay();
  return periods.find(({ fromMinute, toMinute, days }) => {
    if (days !== undefined && !days.includes(day)) return false;
    return fromMinute < toMinute
      ? minute >= fromMinute && minute < toMinute
      : minute >= fromMinute || minute < toMinute;
  });
}

function bandFor(base: Rates, bands: readonly Band[], promptTokens: number): ClassPrices {
  let found: ClassPrices = base;
  for (const band of bands) if (promptTokens >= band.fromTokens) found = band;
  return found;
}
