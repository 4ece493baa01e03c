/** Reads the price of a route from a catalogue file: its fields, and what follows from them for each date, period, tier and band. */
import { z } from 'zod';
import { anything, field, fields, integerFrom, listOf, oneOf, text, yesOrNo } from '../base/yaml-fields.js';
import type { FieldPath, YamlSource } from '../base/yaml-source.js';
import type { Currencies } from './currencies.js';
import { day, dayMs, dayMsOf } from './dates.js';
import { type Band, type ClassPrices, type Period, type Price, priceClasses, type Rates } from './price.js';
import { published, publishedAt, type Reading, rateOf } from './price-currency.js';
import { currencyCode, figureAt, unitsOf } from './price-figures.js';
import { minutesOf } from './price-times.js';
import { provenanceMember, type StatedProvenance } from './provenance.js';
import type { ModelKind } from './route.js';

/** Read from the text of the file, not from a float. A chat model needs input and output. */
const figures = Object.fromEntries(priceClasses.map(([, name]) => [name, anything.optional()]));

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
  // That of the figures, where it is not USD.
  currency: currencyCode.nullish(),
  until: day.nullish(),
  // The price holds until a newer catalogue says otherwise; `until` is then the last day that is promised.
  until_changed: yesOrNo.nullish(),
  [laterField]: fields(parts).nullish(),
  published: published.nullish(),
  source: text.nullish(),
  as_of: text.nullish(),
});

/** undefined where a figure is faulty; the faults are then in the source. */
export function readPrice(
  source: YamlSource,
  path: FieldPath,
  kind: ModelKind = 'chat',
  currencies: Currencies = new Map(),
): Price | undefined {
  const before = source.faults.length;
  const rate = rateOf(source, path, currencies);
  const reading = { source, rate, units: unitsOf(rate) };
  const price = priceAt(reading, [path], kind === 'chat' ? undefined : freeClassesOf(source, path));
  return source.faults.length === before ? price : undefined;
}

/**
 * `paths` are where this price is written and, for one that begins later, the prices that it replaces, the newest first. What it does
 * not name itself is read again from those, over its own figures.
 */
function priceAt(
  reading: Reading,
  paths: readonly FieldPath[],
  below: Partial<ClassPrices> | undefined,
): Price | undefined {
  const { source } = reading;
  const [path] = paths as [FieldPath];
  const own = classesOver(reading, path, below);
  if (!own) return undefined;
  const partAt = (name: string): FieldPath => {
    const found = paths.find((at) => (source.valueAt([...at, name]) ?? null) !== null) ?? path;
    return [...found, name];
  };
  const bands = bandsAt(reading, partAt('above'), own);
  const base: Rates = { ...own, ...(bands && { bands }) };
  const tiers = tiersOver(reading, partAt('tiers'), own);
  const periods = periodsOver(reading, partAt('periods'), base, partAt('tiers'));
  const tools = toolsAt(reading, partAt('tools'));
  const price: Price = {
    ...base,
    ...(tiers && { tiers }),
    ...(periods && { periods }),
    ...(tools && { tools }),
    ...publishedAt(reading, paths),
    ...provenanceMember((source.valueAt(paths.at(-1)!) ?? {}) as StatedProvenance),
  };
  return withLater(reading, paths, price);
}

function withLater(reading: Reading, paths: readonly FieldPath[], price: Price): Price {
  const { source } = reading;
  const [path] = paths as [FieldPath];
  const until = source.valueAt([...path, 'until']) ?? null;
  const then = source.valueAt([...path, 'then']) ?? null;
  const untilChanged = source.valueAt([...path, 'until_changed']) === true;
  if (until === null && then === null) return untilChanged ? { ...price, offer: {} } : price;
  if (!untilChanged && (until === null || then === null)) {
    const [missing, there] = until === null ? ['until', 'then'] : ['then', 'until'];
    source.faultAt(
      [...path, missing],
      `found nothing, expected it beside \`${there}\`: one says until when, the other what holds then`,
    );
    return price;
  }
  // Parts that the later price takes over were checked here already, and would be reported a second time.
  if (source.faults.length > 0) return price;
  const later = then === null ? undefined : priceAt(reading, [[...path, 'then'], ...paths], price);
  if (untilChanged) {
    return {
      ...price,
      offer: { ...(until !== null && { through: String(until) }), ...(later && { listPrice: later }) },
    };
  }
  return later ? { ...price, later: { fromMs: (dayMsOf(until) ?? 0) + dayMs, price: later } } : price;
}

/** Embeddings and rerank have no output, and some are priced by the request alone. */
function freeClassesOf(source: YamlSource, path: FieldPath): Partial<ClassPrices> {
  const byRequest = (source.valueAt([...path, 'request']) ?? null) !== null;
  return { cachedInput: null, output: 0n, ...(byRequest && { input: 0n }) };
}

function classesOver(
  reading: Reading,
  path: FieldPath,
  below: Partial<ClassPrices> = { cachedInput: null },
): ClassPrices | undefined {
  const { source, units } = reading;
  const classes = classesOf(below);
  for (const [key, name] of priceClasses) {
    const at = [...path, name];
    const value = source.valueAt(at);
    const needed = (name === 'input' || name === 'output') && classes[key] === undefined;
    if (!needed && (value === undefined || value === null)) continue;
    const pico = figureAt(source, at, name === 'request' ? units.perUse : units.perMillion);
    if (pico !== undefined) classes[key] = pico;
  }
  return classes.input === undefined || classes.output === undefined ? undefined : (classes as ClassPrices);
}

/** The prices of the classes alone, without the layers above them. */
function classesOf(prices: Partial<ClassPrices>): Partial<Record<keyof ClassPrices, bigint | null>> {
  const classes: Partial<Record<keyof ClassPrices, bigint | null>> = {};
  for (const [key] of priceClasses) if (prices[key] !== undefined) classes[key] = prices[key];
  return classes;
}

function bandsAt(reading: Reading, path: FieldPath, base: ClassPrices): readonly Band[] | undefined {
  const { source } = reading;
  const value = source.valueAt(path) ?? null;
  if (value === null) return undefined;
  const paths = Array.isArray(value) ? value.map((_, index) => [...path, index]) : [path];
  const bands = paths.flatMap((at) => bandAt(reading, at, base) ?? []);
  return bands.sort((a, b) => a.fromTokens - b.fromTokens);
}

function bandAt(reading: Reading, path: FieldPath, base: ClassPrices): Band | undefined {
  const { source } = reading;
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
  const classes = classesOver(reading, path, base);
  return classes && { ...classes, fromTokens: fromTokens ?? aboveTokens! + 1 };
}

function tiersOver(reading: Reading, path: FieldPath, base: ClassPrices): ReadonlyMap<string, Rates> | undefined {
  const { source } = reading;
  const value = source.valueAt(path) ?? null;
  if (value === null || typeof value !== 'object') return undefined;
  const tiers = new Map<string, Rates>();
  for (const name of Object.keys(value)) {
    const at = [...path, name];
    if (!source.check(tier, at)) continue;
    const classes = classesOver(reading, at, base);
    const bands = classes && bandsAt(reading, [...at, 'above'], classes);
    if (classes) tiers.set(name, { ...classes, ...(bands && { bands }) });
  }
  return tiers;
}

interface PeriodFields {
  readonly utc: readonly [number, number];
  readonly days?: readonly (typeof weekdays)[number][] | null;
}

function periodsOver(
  reading: Reading,
  path: FieldPath,
  base: Rates,
  tiersPath: FieldPath,
): readonly Period[] | undefined {
  const { source } = reading;
  const value = source.valueAt(path) ?? null;
  if (!Array.isArray(value)) return undefined;
  return value.flatMap((_, index): Period[] => {
    const at = [...path, index];
    const checked = source.check(period, at) as PeriodFields | undefined;
    const classes = checked && classesOver(reading, at, base);
    if (!checked || !classes) return [];
    const bands = bandsAt(reading, [...at, 'above'], classes) ?? base.bands;
    const tiers = tiersOver(reading, tiersPath, classes);
    const [fromMinute, toMinute] = checked.utc;
    const days = checked.days?.map((name) => weekdays.indexOf(name));
    return [
      { ...classes, fromMinute, toMinute, ...(days && { days }), ...(bands && { bands }), ...(tiers && { tiers }) },
    ];
  });
}

function toolsAt(reading: Reading, path: FieldPath): ReadonlyMap<string, bigint> | undefined {
  const { source, units } = reading;
  const value = source.valueAt(path) ?? null;
  if (value === null || typeof value !== 'object') return undefined;
  const tools = new Map<string, bigint>();
  for (const name of Object.keys(value)) {
    const pico = figureAt(source, [...path, name], units.perUse);
    if (pico !== undefined) tools.set(name, pico);
  }
  return tools;
}
