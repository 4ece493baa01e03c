/** The model that a policy is first tried on: one that can be served, with the most routes. */
import type { Catalogue } from '../../api/types.js';

export function firstModel({ data }: Pick<Catalogue, 'data'>): string {
  const isSandbox = ({ creator }: Catalogue['data'][number]) => creator === 'lodestone';
  const order = [...data].sort(
    (a, b) =>
      Number(b.servable) - Number(a.servable) ||
      Number(isSandbox(a)) - Number(isSandbox(b)) ||
      b.routes.length - a.routes.length,
  );
  return order[0]?.id ?? '';
}
