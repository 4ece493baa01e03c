/** What a change of the catalogue means for requests: whether it only adds, what it does to prices, law and policies. */
import type { CatalogueChange } from './changes.js';
import type { ChangeKind } from './facts.js';
import type { Route, Snapshot } from './route.js';

export const effects = ['address', 'new', 'gone', 'price_up', 'price_down', 'law', 'policy', 'other'] as const;
export type Effect = (typeof effects)[number];

/** A change, or a provider that is called at another address or with another credential, which is no published fact. */
export type UpdateChange = Omit<CatalogueChange, 'kind'> & { readonly kind: ChangeKind | 'address' };

/** Changes with these effects are applied only where the operator agrees: requests cost more, fail, pass other gates, or go elsewhere. */
const asksFirst: ReadonlySet<Effect> = new Set(['address', 'gone', 'price_up', 'law', 'policy']);

export const needsConsent = (change: UpdateChange): boolean => asksFirst.has(effectOf(change));

export function effectOf({ kind, field, from, to }: UpdateChange): Effect {
  if (kind === 'address') return 'address';
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

/** Where the requests and the credential of a route go, as far as this gateway can call it. */
function destinationOf({ provider, baseUrl }: Route): string | null {
  if (!provider.configured || provider.dialect === 'sandbox') return null;
  const { origin } = URL.canParse(baseUrl) ? new URL(baseUrl) : { origin: baseUrl };
  return `${provider.apiKeyEnv ?? provider.auth ?? 'key'} at ${origin}`;
}

/** Routes that would be called where nothing of their provider was called before, and the change for each of these places. */
export function newDestinations(
  before: Snapshot,
  after: Snapshot,
): { changes: UpdateChange[]; routes: ReadonlySet<string> } {
  const nameOf = (route: Route, to: string) => `${route.provider.id} ${to}`;
  const known = new Set([...before.routes.values()].map((route) => nameOf(route, destinationOf(route) ?? '')));
  const changes = new Map<string, UpdateChange>();
  const routes = new Set<string>();
  for (const route of after.routes.values()) {
    const to = destinationOf(route);
    if (to === null || known.has(nameOf(route, to))) continue;
    routes.add(route.id);
    const earlier = before.routes.get(route.id);
    const from = earlier ? destinationOf(earlier) : null;
    const change = {
      kind: 'address',
      id: route.provider.id,
      field: 'base_url',
      from,
      to,
      source: null,
      asOf: null,
    } as const;
    if (!changes.has(nameOf(route, to))) changes.set(nameOf(route, to), change);
  }
  return { changes: [...changes.values()], routes };
}
