/** Compares a token with the key of its public id, in constant time. */
import { timingSafeEqual } from 'node:crypto';
import type { ApiKey, Identity } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { hashToken } from './token.js';

export function keyExpired(key: ApiKey, nowMs: number): boolean {
  return key.hash === null || (key.expiresAt !== null && nowMs >= key.expiresAt);
}

/**
 * Throws `api_key_expired`, `api_key_not_registered` or `api_key_disabled`. Expiry is checked first and depends only on the id, so
 * the answer does not change when the hash is erased. Only who has the whole token learns that the key is disabled.
 */
export function verifyToken(identity: Identity, token: string, nowMs: number): void {
  const { key } = identity;
  if (key.hash === null || keyExpired(key, nowMs)) {
    throw gatewayError('api_key_expired', { expiredAt: new Date(key.expiresAt ?? nowMs).toISOString() });
  }
  if (!isTokenValid(identity, token, nowMs)) throw gatewayError('api_key_not_registered');
  if (key.terms.disabled) throw gatewayError('api_key_disabled');
}

/** The same check as a boolean, for callers that report another error first. */
export function isTokenValid(identity: Identity, token: string, nowMs: number): boolean {
  const { key } = identity;
  if (key.hash === null || keyExpired(key, nowMs)) return false;
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
