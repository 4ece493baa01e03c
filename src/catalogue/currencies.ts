/** Reads the rates at which prices in other currencies become USD: `currencies` of a catalogue file. */
import { anything, fields, text } from '../base/yaml-fields.js';
import { describeValue, type FieldPath, type YamlSource } from '../base/yaml-source.js';
import { partialDate } from './dates.js';
import { currencyCode, decimalTimes, type Rate, rateDecimals } from './price-figures.js';

export interface CurrencyRate extends Rate {
  /** USD for one unit, as written. */
  readonly usd: string;
  readonly source: string;
  readonly asOf: string;
  /** Where it is written. */
  readonly place: { readonly source: YamlSource; readonly path: FieldPath };
}

/** By code. A faulty rate is null, so that a price that names it is not reported as a second fault. */
export type Currencies = ReadonlyMap<string, CurrencyRate | null>;

const currency = fields({ usd: anything.optional(), source: text, as_of: partialDate });

export function currenciesIn(source: YamlSource): Map<string, CurrencyRate | null> {
  const rates = new Map<string, CurrencyRate | null>();
  const table = source.valueAt(['currencies']) ?? {};
  if (typeof table !== 'object' || Array.isArray(table)) {
    source.faultAt(['currencies'], `found ${describeValue(table)}, expected a mapping from a currency to its rate`);
    return rates;
  }
  for (const code of Object.keys(table)) rates.set(code, rateAt(source, code) ?? null);
  return rates;
}

function rateAt(source: YamlSource, code: string): CurrencyRate | undefined {
  const path = ['currencies', code];
  if (!currencyCode.safeParse(code).success || code === 'USD') {
    source.faultAt(path, `found ${describeValue(code)}, expected an ISO 4217 code such as EUR, other than USD`);
    return undefined;
  }
  const checked = source.check(currency, path);
  if (!checked) return undefined;
  const at = [...path, 'usd'];
  const usd = source.textAt(at) ?? '';
  const micros = decimalTimes(usd, rateDecimals) ?? 0n;
  if (micros > 0n) return { code, usd, micros, source: checked.source, asOf: checked.as_of, place: { source, path } };
  const expected = `the USD that one ${code} costs, as a decimal above zero with at most ${rateDecimals} decimals`;
  source.faultAt(at, `found ${usd || describeValue(source.valueAt(at))}, expected ${expected}`);
  return undefined;
}
