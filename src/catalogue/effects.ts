/** What a change of the catalogue means for requests: whether it only adds, what it does to prices, law and policies. */
import type { CatalogueChange } from './changes.js';

export const effects = ['new', 'gone', 'price_up', 'price_down', 'law', 'policy', 'other'] as const;
export type Effect = (typeof effects)[number];

/** Changes with these effects are applied only where the operator agrees: requests cost more, fail, or pass other gates. */
const asksFirst: ReadonlySet<Effect> = new Set(['gone', 'price_up', 'law', 'policy']);

export const needsConsent = (change: CatalogueChange): boolean => asksFirst.has(effectOf(change));

export function effectOf({ kind, field, from, to }: CatalogueChange): Effect {
  if (field === 'id') return from === null ? 'new' : 'gone';
  if (kind === 'price') return priceEffect(field, from, to);
  if (kind === 'jurisdiction') return field === 'name' ? 'other' : 'law';
  if (kind === 'region') return ['country', 'processing', 'locode'].includes(field) ? 'law' : 'other';
  if (kind === 'terms') return field.startsWith('data_policy.') ? 'policy' : 'law';
  if (kind === 'carbon') return 'policy';
  return field === 'quantization' || field === 'default' ? 'policy' : 'other';
}

/** What cannot be compared may be a rise. The published price is what the price in USD was made from, and is not billed. */
function priceEffect(field: string, from: CatalogueChange['from'], to: CatalogueChange['to']): Effect {
  if (/(^|\.)published\./.test(field)) return 'other';
  const [before, after] = [from, to].map((value) => (typeof value === 'string' ? Number(value) : Number.NaN));
  return after! < before! ? 'price_down' : 'price_up';
}
