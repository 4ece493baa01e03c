/** The prices of routes at the moment of a request: its date, its time of day and the length of its prompt choose among them. */
import { type ClassPrices, type Price, ratesFor } from './price.js';

/** What chooses a price before the answer is there. */
export interface PriceMoment {
  readonly atMs: number;
  /** An estimate. */
  readonly promptTokens: number;
}

interface Priced {
  readonly price: Price | null;
}

/** The prices that a request at this moment would pay; null where none is published. */
export function ratesAt({ price }: Priced, { atMs, promptTokens }: PriceMoment): ClassPrices | null {
  return price && ratesFor(price, atMs, null, promptTokens);
}

const varyingByList = new WeakMap<readonly Priced[], readonly Priced[]>();
const numbers = new WeakMap<ClassPrices, number>();
let numbered = 0;

/**
 * The same text for moments at which all these routes have the same prices, so that what follows from the prices can be kept. Empty for
 * a list in which no price varies, which is the usual one.
 */
export function priceKey(routes: readonly Priced[], moment: PriceMoment): string {
  let varying = varyingByList.get(routes);
  if (!varying) {
    varying = routes.filter(({ price }) => price !== null && varies(price));
    varyingByList.set(routes, varying);
  }
  if (varying.length === 0) return '';
  return varying.map((route) => numberOf(ratesAt(route, moment)!)).join(' ');
}

/** Whether a price depends on the time or the length of a request. */
export function varies({ later, periods, bands }: Price): boolean {
  return later !== undefined || periods !== undefined || bands !== undefined;
}

/** Layers are made once, when the catalogue is read, so each has a number for good. */
function numberOf(rates: ClassPrices): number {
  let number = numbers.get(rates);
  if (number === undefined) {
    number = ++numbered;
    numbers.set(rates, number);
  }
  return number;
}
