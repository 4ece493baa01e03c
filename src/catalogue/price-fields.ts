/** Reads the price of a route from a catalogue file: its fields, and what follows from them for each date, period, tier and band. */
import { z } from 'zod';
import { anything, field, fields, integerFrom, listOf, oneOf, text } from '../base/yaml-fields.js';
import type { FieldPath, YamlSource } from '../base/yaml-source.js';
import type { Band, ClassPrices, Period, Price, Rates } from './price.js';
import { dayAfter, minutesOf } from './price-times.js';
import { provenanceMember, type StatedProvenance } from './provenance.js';
import type { ModelKind } from './route.js';

/** As they are named in a file and in code. A chat model needs input and output; `request` is for a request, not for a token. */
export const classNames = {
  input: 'input',
  output: 'output',
  cached_input: 'cachedInput',
  cache_write: 'cacheWrite',
  cache_write_1h: 'cacheWrite1h',
  reasoning: 'reasoning',
  input_audio: 'inputAudio',
  output_audio: 'outputAudio',
  input_image: 'inputImage',
  output_image: 'outputImage',
  request: 'request',
} as const satisfies Record<string, keyof ClassPrices>;

/** Figures are read from the text of the file, not from a float. */
const figures = Object.fromEntries(Object.keys(classNames).map((name) => [name, anything.optional()]));

const band = fields({ input_tokens: integerFrom(0).nullish(), from_tokens: integerFrom(1).nullish(), ...figures });
/** One band, or a list of them. */
const above = z.unknown();
const tier = fields({ ...figures, above: above.nullish() });
/** Sunday first, as in `Date`. */
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
const period = fields({
  utc: field('a part of the day such as "00:30-08:30", UTC', minutesOf),
  days: listOf(oneOf(weekdays), `days (${weekdays.join(', ')})`).nullish(),
  ...figures,
  above: above.nullish(),
});
const namedFields = (what: string) =>
  z.record(z.string(), anything, { error: `a mapping from the name of a ${what} to its price` });
const currency = field('an ISO 4217 code such as EUR', (value) =>
  typeof value === 'string' && /^[A-Z]{3}$/.test(value) ? value : undefined,
);
const day = field('a date such as 2026-11-21', dayAfter);

const published = fields({
  currency,
  input: anything.optional(),
  output: anything.optional(),
  cached_input: anything.optional(),
});
const parts = {
  ...figures,
  above: above.nullish(),
  tiers: namedFields('tier').nullish(),
  tools: namedFields('tool').nullish(),
  periods: listOf(anything, 'periods').nullish(),
};
/** An object literal with a member `then` looks like a promise to a linter, and to `await`. */
const laterField = 'then';
export const priceFields = fields({
  ...parts,
  until: day.nullish(),
  [laterField]: fields(parts).nullish(),
  published: published.nullish(),
  source: text.nullish(),
  as_of: text.nullish(),
});

/** undefined where a figure is faulty; the faults are then in the source. */
export function readPrice(source: YamlSource, path: FieldPath, kind: ModelKind = 'chat'): Price | undefined {
  const before = source.faults.length;
  const price = priceAt(source, [path], kind === 'chat' ? undefined : freeClassesOf(source, path));
  return source.faults.length === before ? price : undefined;
}

/**
 * `paths` are where this price is written and, for one that begins later, the prices that it replaces, the newest first. What it does
 * not name itself is read again from those, over its own figures.
 */
function priceAt(
  source: YamlSource,
  paths: readonly FieldPath[],
  below: Partial<ClassPrices> | undefined,
): Price | undefined {
  const [path] = paths as [FieldPath];
  const own = classesOver(source, path, below);
  if (!own) return undefined;
  const partAt = (name: string): FieldPath => {
    const found = paths.find((at) => (source.valueAt([...at, name]) ?? null) !== null) ?? path;
    return [...found, name];
  };
  const bands = bandsAt(source, partAt('above'), own);
  const base: Rates = { ...own, ...(bands && { bands }) };
  const tiers = tiersOver(source, partAt('tiers'), own);
  const periods = periodsOver(source, partAt('periods'), base, partAt('tiers'));
  const tools = toolsAt(source, partAt('tools'));
  const price: Price = {
    ...base,
    ...(tiers && { tiers }),
    ...(periods && { periods }),
    ...(tools && { tools }),
    ...publishedAt(source, [...path, 'published']),
    ...provenanceMember((source.valueAt(paths.at(-1)!) ?? {}) as StatedProvenance),
  };
  return withLater(source, paths, price);
}

function withLater(source: YamlSource, paths: readonly FieldPath[], price: Price): Price {
  const [path] = paths as [FieldPath];
  const until = source.valueAt([...path, 'until']) ?? null;
  const then = source.valueAt([...path, 'then']) ?? null;
  if (until === null && then === null) return price;
  if (until === null || then === null) {
    const [missing, there] = until === null ? ['until', 'then'] : ['then', 'until'];
    source.faultAt(
      [...path, missing],
      `found nothing, expected it beside \`${there}\`: one says until when, the other what holds then`,
    );
    return price;
  }
  // Parts that the later price takes over were checked here already, and would be reported a second time.
  if (source.faults.length > 0) return price;
  const later = priceAt(source, [[...path, 'then'], ...paths], price);
  return later ? { ...price, later: { fromMs: dayAfter(until) ?? 0, price: later } } : price;
}

/** Embeddings and rerank have no output, and some are priced by the request alone. */
function freeClassesOf(source: YamlSource, path: FieldPath): Partial<ClassPrices> {
  const byRequest = (source.valueAt([...path, 'request']) ?? null) !== null;
  return { cachedInput: null, output: 0n, ...(byRequest && { input: 0n }) };
}

function classesOver(
  source: YamlSource,
  path: FieldPath,
  below: Partial<ClassPrices> = { cachedInput: null },
): ClassPrices | undefined {
  const classes = classesOf(below);
  for (const [name, key] of Object.entries(classNames)) {
    const at = [...path, name];
    const value = source.valueAt(at);
    const needed = (name === 'input' || name === 'output') && classes[key] === undefined;
    if (!needed && (value === undefined || value === null)) continue;
    const pico = figureAt(source, at, name === 'request' ? perUse : perMillion);
    if (pico !== undefined) classes[key] = pico;
  }
  return classes.input === undefined || classes.output === undefined ? undefined : (classes as ClassPrices);
}

/** The prices of the classes alone, without the layers above them. */
function classesOf(prices: Partial<ClassPrices>): Partial<Record<keyof ClassPrices, bigint | null>> {
  const classes: Partial<Record<keyof ClassPrices, bigint | null>> = {};
  for (const key of Object.values(classNames)) if (prices[key] !== undefined) classes[key] = prices[key];
  return classes;
}

function bandsAt(source: YamlSource, path: FieldPath, base: ClassPrices): readonly Band[] | undefined {
  const value = source.valueAt(path) ?? null;
  if (value === null) return undefined;
  const paths = Array.isArray(value) ? value.map((_, index) => [...path, index]) : [path];
  const bands = paths.flatMap((at) => bandAt(source, at, base) ?? []);
  return bands.sort((a, b) => a.fromTokens - b.fromTokens);
}

function bandAt(source: YamlSource, path: FieldPath, base: ClassPrices): Band | undefined {
  const checked = source.check(band, path);
  if (!checked) return undefined;
  const { input_tokens: aboveTokens = null, from_tokens: fromTokens = null } = checked as {
    input_tokens?: number | null;
    from_tokens?: number | null;
  };
  if ((aboveTokens === null) === (fromTokens === null)) {
    const found = aboveTokens === null ? 'nothing' : 'both `input_tokens` and `from_tokens`';
    source.faultAt(
      [...path, 'input_tokens'],
      `found ${found}, expected \`input_tokens\` (above it) or \`from_tokens\` (from it on)`,
    );
    return undefined;
  }
  const classes = classesOver(source, path, base);
  return classes && { ...classes, fromTokens: fromTokens ?? aboveTokens! + 1 };
}

function tiersOver(source: YamlSource, path: FieldPath, base: ClassPrices): ReadonlyMap<string, Rates> | undefined {
  const value = source.valueAt(path) ?? null;
  if (value === null || typeof value !== 'object') return undefined;
  const tiers = new Map<string, Rates>();
  for (const name of Object.keys(value)) {
    const at = [...path, name];
    if (!source.check(tier, at)) continue;
    const classes = classesOver(source, at, base);
    const bands = classes && bandsAt(source, [...at, 'above'], classes);
    if (classes) tiers.set(name, { ...classes, ...(bands && { bands }) });
  }
  return tiers;
}

interface PeriodFields {
  readonly utc: readonly [number, number];
  readonly days?: readonly (typeof weekdays)[number][] | null;
}

function periodsOver(
  source: YamlSource,
  path: FieldPath,
  base: Rates,
  tiersPath: FieldPath,
): readonly Period[] | undefined {
  const value = source.valueAt(path) ?? null;
  if (!Array.isArray(value)) return undefined;
  return value.flatMap((_, index): Period[] => {
    const at = [...path, index];
    const checked = source.check(period, at) as PeriodFields | undefined;
    const classes = checked && classesOver(source, at, base);
    if (!checked || !classes) return [];
    const bands = bandsAt(source, [...at, 'above'], classes) ?? base.bands;
    const tiers = tiersOver(source, tiersPath, classes);
    const [fromMinute, toMinute] = checked.utc;
    const days = checked.days?.map((name) => weekdays.indexOf(name));
    return [
      { ...classes, fromMinute, toMinute, ...(days && { days }), ...(bands && { bands }), ...(tiers && { tiers }) },
    ];
  });
}

function toolsAt(source: YamlSource, path: FieldPath): ReadonlyMap<string, bigint> | undefined {
  const value = source.valueAt(path) ?? null;
  if (value === null || typeof value !== 'object') return undefined;
  const tools = new Map<string, bigint>();
  for (const name of Object.keys(value)) {
    const pico = figureAt(source, [...path, name], perUse);
    if (pico !== undefined) tools.set(name, pico);
  }
  return tools;
}

function publishedAt(source: YamlSource, path: FieldPath): Pick<Price, 'published'> {
  const currency = source.valueAt([...path, 'currency']);
  if (typeof currency !== 'string') return {};
  const figure = (name: string): string | null => {
    const figureText = source.textAt([...path, name]);
    if (figureText === undefined) return null;
    if (perMillion.read(figureText) === undefined) {
      source.faultAt([...path, name], `found ${figureText}, expected ${currency} per million tokens as a decimal`);
    }
    return figureText;
  };
  return {
    published: { currency, input: figure('input'), output: figure('output'), cachedInput: figure('cached_input') },
  };
}

interface Unit {
  readonly expected: string;
  readonly read: (figureText: string) => bigint | undefined;
}

const perMillion: Unit = {
  expected: 'USD per million tokens as a decimal such as 0.60, not negative, with at most 6 decimals',
  read: picoPerToken,
};
const perUse: Unit = {
  expected: 'USD as a decimal such as 0.01, not negative, with at most 12 decimals',
  read: (figureText) => decimalTimes(figureText, 12),
};

function figureAt(source: YamlSource, at: FieldPath, unit: Unit): bigint | undefined {
  const value = source.valueAt(at);
  const written = typeof value === 'number' || typeof value === 'string' ? source.textAt(at) : undefined;
  const pico = written === undefined ? undefined : unit.read(written);
  if (pico === undefined) source.faultAt(at, `found ${source.textAt(at) ?? 'nothing'}, expected ${unit.expected}`);
  return pico;
}

/** Converts USD per million tokens to pico-dollars per token without floats: six decimals are exact. Undefined where the text is not a price. */
export function picoPerToken(figureText: string): bigint | undefined {
  return decimalTimes(figureText, 6);
}

const decimal = /^(\d{1,9})(?:\.(\d+))?$/;

/** A decimal times a power of ten, as a whole number; undefined where digits would be lost. */
function decimalTimes(figureText: string, decimals: number): bigint | undefined {
  const match = decimal.exec(figureText);
  if (!match) return undefined;
  const fraction = (match[2] ?? '').replace(/0+$/, '');
  if (fraction.length > decimals) return undefined;
  return BigInt(match[1]! + fraction.padEnd(decimals, '0'));
}
