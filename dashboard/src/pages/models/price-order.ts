/** Compares prices: exact decimal texts, as numbers only to put them in order. */
import type { CatalogueRoute } from '../../api/types.js';

type Priced = Pick<CatalogueRoute, 'price'>;

/** Input and output together, which is what most requests pay. */
const sumOf = ({ input, output }: NonNullable<CatalogueRoute['price']>) => Number(input) + Number(output);

/** The price of the cheapest route; null where none has a price. */
export function lowestPrice(routes: readonly Priced[]): CatalogueRoute['price'] {
  const prices = routes.flatMap(({ price }) => (price ? [price] : []));
  return prices.reduce<CatalogueRoute['price']>(
    (lowest, price) => (lowest === null || sumOf(price) < sumOf(lowest) ? price : lowest),
    null,
  );
}
