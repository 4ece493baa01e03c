/**
 * The token of an API key: how it is made and hashed, read from a request by its shape, and compared with its key; and
 * the addresses and models that a key admits.
 */

import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { AddressRanges } from '../../base/ip-address.js';
import type { Route } from '../../catalogue/route.js';
import {
  type ApiKey,
  broughtKeptMs,
  type Identity,
  type KeyTerms,
  openTerms,
  workloadKeptMs,
} from '../../domain/account.js';
import { defaultProjectId, trustEntryId } from '../../domain/organisation.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { type Gated, keyScopeGate } from '../../policy/apply-gates.js';

export const tokenPrefix = 'sk-lr-';
const retiredTokenPrefix = 'sk-bf-';
/** 32 bytes in base64url without padding. */
export const tokenBodyLength = 43;
/** The first characters of the body are the key's public id; the rest is its secret. */
export const keyIdLength = 10;
const tokenLength = tokenPrefix.length + tokenBodyLength;

interface MadeToken {
  /** Shown once in full and never stored. */
  readonly token: string;
  readonly id: string;
  readonly lastFour: string;
  readonly hash: Buffer;
}

export function makeToken(random: () => Buffer = () => randomBytes(32)): MadeToken {
  let body = random().toString('base64url');
  // An id that begins with a dash would be read as an option on a command line.
  while (body.startsWith('-')) body = random().toString('base64url');
  const token = tokenPrefix + body;
  return { token, id: keyIdOf(token), lastFour: token.slice(-4), hash: hashToken(token) };
}

/** SHA-256 of the whole token. 256 random bits need no slow hash, and every request pays for this one. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

function keyIdOf(token: string): string {
  return token.slice(tokenPrefix.length, tokenPrefix.length + keyIdLength);
}

/** The text that may be shown after creation: the prefix and the last four characters. */
export function keyLabel({ brought, lastFour }: Pick<ApiKey, 'brought' | 'lastFour'>): string {
  return `${brought ? '' : tokenPrefix}…${lastFour}`;
}

export interface PresentedToken {
  readonly token: string;
  readonly keyId: string;
}

const scheme = 'Bearer ';
const goodStart = scheme + tokenPrefix;
const goodLength = scheme.length + tokenLength;
const base64urlBody = /^[A-Za-z0-9_-]{43}$/;

/**
 * Reads the token of the `Authorization` header by its shape alone, without a lookup. No message repeats the header.
 *
 * A body of 43 characters outside the base64url alphabet has the right shape, but no key can have it. It is therefore
 * `api_key_not_registered`, and costs no lookup.
 */
export function checkTokenShape(authorization: string | undefined): PresentedToken {
  if (authorization === undefined) throw gatewayError('authorization_missing');
  if (authorization.length !== goodLength || !authorization.startsWith(goodStart)) {
    throw gatewayError('api_key_malformed', { reason: shapeFault(authorization) });
  }
  const token = authorization.slice(scheme.length);
  if (!base64urlBody.test(token.slice(tokenPrefix.length))) throw gatewayError('api_key_not_registered');
  return { token, keyId: keyIdOf(token) };
}

function shapeFault(authorization: string): string {
  if (!authorization.startsWith(scheme)) {
    return 'the Authorization header must be exactly "Bearer", one space and the token';
  }
  const token = authorization.slice(scheme.length);
  if (token.startsWith(retiredTokenPrefix)) {
    return `the ${retiredTokenPrefix} key scheme is retired; keys now begin with ${tokenPrefix}`;
  }
  if (token === '') return 'there is no token after "Bearer "';
  if (!token.startsWith(tokenPrefix)) return `the token does not begin with ${tokenPrefix} right after "Bearer "`;
  const found = token.length - tokenPrefix.length;
  return `the body after ${tokenPrefix} has ${found} characters, but ${tokenBodyLength} are expected`;
}

/** The hash of a key that has expired is erased, that of a brought one later. */
export function isHashDue(key: ApiKey, nowMs: number): boolean {
  if (key.hash === null || key.expiresAt === null) return false;
  return nowMs >= key.expiresAt + (key.brought ? broughtKeptMs : 0);
}

/** The key of a workload is removed some time after its end. */
export function isRemoved({ workload, expiresAt }: ApiKey, nowMs: number): boolean {
  return workload !== undefined && expiresAt !== null && nowMs >= expiresAt + workloadKeptMs;
}

export function keyExpired(key: ApiKey, nowMs: number): boolean {
  return key.hash === null || (key.expiresAt !== null && nowMs >= key.expiresAt);
}

/** The entry of `trust` that a workload got its key by is gone, or is another one now, or its project is gone. */
function isTrustGone({ key, account }: Identity): boolean {
  const { workload } = key;
  if (workload === undefined) return false;
  const project = account.projects.get(key.projectId ?? defaultProjectId(account.id));
  return project?.trust.some((entry) => trustEntryId(entry) === workload.entry) !== true;
}

/**
 * Throws `api_key_expired`, `api_key_not_registered` or `api_key_disabled`. Expiry is checked first and depends only on the id, so
 * the answer does not change when the hash is erased. Only who has the whole token learns that the key is disabled.
 */
export function verifyToken(identity: Identity, token: string, nowMs: number): void {
  const { key } = identity;
  const isOver = isTrustGone(identity);
  if (key.hash === null || isOver || keyExpired(key, nowMs)) {
    const endMs = isOver ? Math.min(key.expiresAt ?? nowMs, nowMs) : (key.expiresAt ?? nowMs);
    throw gatewayError('api_key_expired', { expiredAt: new Date(endMs).toISOString() });
  }
  if (!isTokenValid(identity, token, nowMs)) throw gatewayError('api_key_not_registered');
  if (key.terms.disabled) throw gatewayError('api_key_disabled');
}

/** The same check as a boolean, for callers that report another error first. The hashes are compared in constant time. */
export function isTokenValid(identity: Identity, token: string, nowMs: number): boolean {
  const { key } = identity;
  if (key.hash === null || isTrustGone(identity) || keyExpired(key, nowMs)) return false;
  if (isVerified(token, identity)) return true;
  const good = timingSafeEqual(key.hash, hashToken(token));
  if (good) rememberVerified(token, identity);
  return good;
}

const entriesMax = 10_000;
/**
 * Tokens that were recently verified, so that a busy client is not hashed for every request. They are found by the hash code
 * of the whole token and never by comparing prefixes, so the time reveals nothing to a guess. An entry holds only for the
 * identity that it was verified for: a deleted, erased or changed key has another identity.
 */
const verified = new Map<string, Identity>();

function isVerified(token: string, identity: Identity): boolean {
  return verified.get(token) === identity;
}

function rememberVerified(token: string, identity: Identity): void {
  if (verified.size >= entriesMax) verified.clear();
  verified.set(token, identity);
}

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
