/** Reads the currency of a price: the rate of its figures, and the list price that is kept beside USD. */
import { anything, fields } from '../base/yaml-fields.js';
import type { FieldPath, YamlSource } from '../base/yaml-source.js';
import type { Currencies, CurrencyRate } from './currencies.js';
import type { Price } from './price.js';
import { currencyCode, picoPerToken, type Units } from './price-figures.js';

/** Where only the currency of a price is known, or its USD are not from a rate of the catalogue. */
export const published = fields({
  currency: currencyCode,
  input: anything.optional(),
  output: anything.optional(),
  cached_input: anything.optional(),
});
/** What the parts of one price have in common. */
export interface Reading {
  readonly source: YamlSource;
  readonly units: Units;
  /** null = the figures are in USD. */
  readonly rate: CurrencyRate | null;
}

export function rateOf(source: YamlSource, path: FieldPath, currencies: Currencies): CurrencyRate | null {
  const at = [...path, 'currency'];
  const code = source.valueAt(at) ?? null;
  if (typeof code !== 'string' || code === 'USD') return null;
  if ((source.valueAt([...path, 'published']) ?? null) !== null) {
    source.faultAt([...path, 'published'], 'found it beside `currency`, expected one: `currency` is for these figures');
  }
  const rate = currencies.get(code);
  if (rate === undefined) {
    const known = ['USD', ...currencies.keys()].join(', ');
    source.faultAt(
      at,
      `found ${code}, expected a currency with a rate in \`currencies\` of a catalogue file (${known})`,
    );
  }
  return rate ?? null;
}

/** The list price in another currency: the figures themselves where they are in it. */
export function publishedAt({ source, rate }: Reading, paths: readonly FieldPath[]): Pick<Price, 'published'> {
  const [path] = paths as [FieldPath];
  const places = rate ? paths : [[...path, 'published']];
  const currency = rate?.code ?? source.valueAt([...path, 'published', 'currency']);
  if (typeof currency !== 'string') return {};
  const figure = (name: string): string | null => {
    const at = places.map((place) => [...place, name]).find((place) => source.textAt(place) !== undefined);
    const figureText = at && source.textAt(at);
    if (figureText === undefined) return null;
    if (!rate && picoPerToken(figureText) === undefined) {
      source.faultAt(at!, `found ${figureText}, expected ${currency} per million tokens as a decimal`);
    }
    return figureText;
  };
  return {
    published: {
      ...{ currency, input: figure('input'), output: figure('output'), cachedInput: figure('cached_input') },
      ...(rate && { rate: { usd: rate.usd, source: rate.source, asOf: rate.asOf } }),
    },
  };
}
