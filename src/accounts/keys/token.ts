/** The token of an API key: how it is made and hashed, read from a request by its shape, and compared with its key. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type ApiKey, broughtKeptMs, type Identity, isTrustGone, workloadKeptMs } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';

export const tokenPrefix = 'sk-lr-';
const retiredTokenPrefix = 'sk-bf-';
/** 32 bytes in base64url without padding. */
export const tokenBodyLength = 43;
/** The first characters of the body are the key's public id; the rest is its secret. */
export const keyIdLength = 10;
const tokenLength = tokenPrefix.length + tokenBodyLength;

export interface MadeToken {
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
