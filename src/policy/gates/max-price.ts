/** Removes routes above a price and routes without a published price. Compares integers, so that nothing is rounded. */
import { type PriceMoment, ratesAt } from '../../catalogue/price-moment.js';
import type { Route } from '../../catalogue/route.js';
import { ceilingRelaxation, ceilingSchema, isCeilingSet, readCeiling, readStoredCeiling } from './ceiling.js';
import type { Gate } from './gate.js';

const name = 'max_price';
/** One USD per million tokens is 10⁶ pico-dollars a token. */
const decimals = 6;

export const maxPrice: Gate<typeof name> = {
  name,
  defaultSetting: null,
  takes: 'USD per million tokens, a number of at least 0, or `null` for no ceiling',
  removes:
    'Routes whose dearer price, of input and output, is above the ceiling, and those with no published price. The price is that of the request’s date, time and prompt length.',
  card: {
    title: 'Price',
    description:
      'In USD per million tokens, of the dearer of input and output. With a ceiling, routes without a price are removed.',
    control: { kind: 'ceiling', label: 'Highest price' },
  },
  figure: { name: 'price', published: ({ price }) => price !== null },
  schema: ceilingSchema,
  read: (value, param = name) => readCeiling(param, value),
  readStored: readStoredCeiling,
  isSet: isCeilingSet,
  permits(route, ceiling, moment) {
    if (ceiling === null) return true;
    const price = dearer(route, moment);
    return price !== null && price <= picoFloor(ceiling);
  },
  relaxationFor(route, _ceiling, moment) {
    const price = dearer(route, moment);
    return ceilingRelaxation(name, price === null ? null : usdPerMillion(price));
  },
};

function dearer(route: Route, moment: PriceMoment): bigint | null {
  const rates = ratesAt(route, moment);
  if (rates === null) return null;
  return rates.input > rates.output ? rates.input : rates.output;
}

/**
 * Whole pico-dollars a token of a ceiling, by its decimal text, so that 0.29 is 290000 and not a float's neighbour of it. A
 * route's price is a whole number, so what is cut off below it decides nothing.
 */
export function picoFloor(ceiling: number): bigint {
  const [mantissa = '', exponent = '0'] = String(ceiling).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const shift = Number(exponent) - fraction.length + decimals;
  const digits = BigInt(whole + fraction);
  return shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
}

function usdPerMillion(pico: bigint): number {
  return Number(`${pico}e-${decimals}`);
}
