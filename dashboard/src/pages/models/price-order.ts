/** Compares prices: exact decimal texts, as numbers only to put them in order. */
import type { CatalogueRoute } from '../../api/types.js';

type Priced = Pick<CatalogueRoute, 'price' | 'servable'>;

const isFree = (price: NonNullable<CatalogueRoute['price']>) => Number(price.input) === 0 && Number(price.output) === 0;

/** Without the free routes of servers that nobody has set up here: their price is not one that a reader could pay. */
function pricesOf(routes: readonly Priced[]): NonNullable<CatalogueRoute['price']>[] {
  return routes.flatMap(({ price, servable }) => (price && (servable || !isFree(price)) ? [price] : []));
}

/** The lowest and the highest price of a part, as exact texts; null where none is known. */
export function priceRange(routes: readonly Priced[], part: 'input' | 'output'): { low: string; high: string } | null {
  const prices = pricesOf(routes)
    .map((price) => price[part])
    .sort((a, b) => Number(a) - Number(b));
  return prices.length === 0 ? null : { low: prices[0]!, high: prices.at(-1)! };
}

/** Input and output together, which is what most requests pay. */
const sumOf = ({ input, output }: NonNullable<CatalogueRoute['price']>) => Number(input) + Number(output);

/** The price of the cheapest route; null where none has a price. */
export function lowestPrice(routes: readonly Priced[]): CatalogueRoute['price'] {
  return pricesOf(routes).reduce<CatalogueRoute['price']>(
    (lowest, price) => (lowest === null || sumOf(price) < sumOf(lowest) ? price : lowest),
    null,
  );
}
