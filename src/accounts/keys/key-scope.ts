/**
 * What a key may be used for: from which addresses, for which models, of which providers. A key without restrictions costs one
 * comparison. What is derived from a key's terms is kept with them, because they are replaced and never changed.
 */
import { AddressRanges } from '../../base/ip-address.js';
import type { Route } from '../../catalogue/route.js';
import { type ApiKey, type KeyTerms, openTerms } from '../../domain/account.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { type Gated, keyScopeGate } from '../../policy/apply-gates.js';

/** A model id that is resolved: a pin has one route, an `auto/` id all routes of its model. */
interface ResolvedId {
  readonly id: string;
  /** The name of the operator that it came by; an entry may be that name. */
  readonly name?: string | null;
  readonly kind: 'pin' | 'auto';
  readonly routes: readonly Route[];
}

interface Scope {
  readonly addresses: AddressRanges | null;
  readonly models: ReadonlySet<string> | null;
  readonly providers: ReadonlySet<string> | null;
  readonly byRoutes: WeakMap<readonly Route[], Gated>;
}

const scopes = new WeakMap<KeyTerms, Scope>();

function scopeOf(terms: KeyTerms): Scope {
  let scope = scopes.get(terms);
  if (!scope) {
    const { allowedIps, allowedModels, allowedProviders } = terms;
    scope = {
      addresses: allowedIps && new AddressRanges(allowedIps),
      models: allowedModels && new Set(allowedModels),
      providers: allowedProviders && new Set(allowedProviders),
      byRoutes: new WeakMap(),
    };
    scopes.set(terms, scope);
  }
  return scope;
}

/** The refusal of a call from this address, whatever it asks for; null where the key may be used from there. */
export function addressRefusal({ terms }: ApiKey, address: string): GatewayError | null {
  if (terms === openTerms || terms.allowedIps === null) return null;
  return scopeOf(terms).addresses!.includes(address) ? null : gatewayError('key_address_scope', { address });
}

/** The terms that make a key a restricted one, by their names in the API. */
const restrictions = [
  ...[
    ['limit_usd', 'limitPico'],
    ['allowed_models', 'allowedModels'],
    ['allowed_providers', 'allowedProviders'],
    ['allowed_ips', 'allowedIps'],
    ['requests_per_minute', 'requestsPerMinute'],
    ['tokens_per_minute', 'tokensPerMinute'],
  ],
] as [name: string, term: keyof KeyTerms][];

/**
 * The refusal of a change to what holds for all keys of the account; null where the key may make it. A restricted key may not, of
 * either kind: it could otherwise send the requests of the other keys to a dearer model or to another jurisdiction.
 */
export function settingsRefusal({ terms }: ApiKey): GatewayError | null {
  if (terms === openTerms) return null;
  const found = restrictions.filter(([, term]) => terms[term] !== null).map(([name]) => name);
  return found.length === 0 ? null : gatewayError('restricted_key', { restrictions: found.join(', ') });
}

/**
 * The refusal of a model id as a whole; null where the key may ask for it. A management key may ask for none. An alias is judged
 * by its target, a name of the operator by its target or itself. A pin is not admitted by an `auto/` entry, nor an `auto/` id by an entry
 * for pins.
 */
export function modelRefusal({ terms }: ApiKey, { id, name, kind, routes: [first] }: ResolvedId): GatewayError | null {
  if (terms === openTerms) return null;
  if (terms.kind === 'management') return gatewayError('key_kind_scope');
  if (!first) return null;
  const { models, providers } = scopeOf(terms);
  const isNamed = name != null && models?.has(name) === true;
  if (models && !isNamed && !entriesFor(kind, first).some((entry) => models.has(entry))) {
    return gatewayError('key_scope', { id, reason: `its allowed_models are ${listText(terms.allowedModels!)}` });
  }
  if (kind === 'auto' || !providers || providers.has(first.provider.id)) return null;
  return gatewayError('key_scope', { id, reason: `its allowed_providers are ${listText(terms.allowedProviders!)}` });
}

/** The entries of `allowed_models` that admit an id. */
function entriesFor(kind: ResolvedId['kind'], { id, provider, model }: Route): string[] {
  const { canonicalId, creator } = model;
  const ofModel = [canonicalId, `${creator}/*`];
  return kind === 'auto' ? [`auto/${canonicalId}`, ...ofModel] : [id, `${provider.id}/${canonicalId}`, ...ofModel];
}

const shownMax = 5;

function listText(entries: readonly string[]): string {
  const rest = entries.length - shownMax;
  return `${entries.slice(0, shownMax).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/**
 * The candidates of an `auto/` id that the key's `allowed_providers` leave. Where none is removed, `eligible` is the same array as
 * `routes`.
 */
export function applyKeyScope({ terms }: ApiKey, routes: readonly Route[]): Gated {
  if (terms === openTerms || terms.allowedProviders === null) return { eligible: routes, removed: [] };
  const { providers, byRoutes } = scopeOf(terms);
  const known = byRoutes.get(routes);
  if (known) return known;
  const eligible = routes.filter(({ provider }) => providers!.has(provider.id));
  const removed = routes
    .filter(({ provider }) => !providers!.has(provider.id))
    .map((route) => ({ route, gate: keyScopeGate }) as const);
  const gated = { eligible: removed.length === 0 ? routes : eligible, removed };
  byRoutes.set(routes, gated);
  return gated;
}
