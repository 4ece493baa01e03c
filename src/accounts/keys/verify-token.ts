/** Check 4, second half: holds a presented token against the key of its public id, in constant time. */
import { timingSafeEqual } from 'node:crypto';
import type { Identity, Key } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { hashToken } from './token.js';

export function keyExpired(key: Key, nowMs: number): boolean {
  return key.hash === null || (key.expiresAt !== null && nowMs >= key.expiresAt);
}

/**
 * Throws `api_key_expired` or `api_key_not_registered`. Expiry is looked at first: from that moment the id alone answers,
 * whether or not the hash has been erased yet, so the answer does not change when it is.
 */
export function verifyToken(identity: Identity, token: string, nowMs: number): void {
  const { key } = identity;
  if (key.hash === null || keyExpired(key, nowMs)) {
    throw gatewayError('api_key_expired', { expiredAt: new Date(key.expiresAt ?? nowMs).toISOString() });
  }
  if (!tokenIsGood(identity, token, nowMs)) throw gatewayError('api_key_not_registered');
}

/** The same as an answer, for those who have something else to say first. */
export function tokenIsGood(identity: Identity, token: string, nowMs: number): boolean {
  const { key } = identity;
  if (key.hash === null || keyExpired(key, nowMs)) return false;
  if (isVerified(token, identity)) return true;
  const good = timingSafeEqual(key.hash, hashToken(token));
  if (good) rememberVerified(token, identity);
  return good;
}

// * Tokens that have just been held against their hash, so that a busy caller is not hashed anew for every request. Found by the
// whole token's hash code, never by comparing beginnings, so a guess learns nothing from the time it takes. An entry is only
// good for the very identity that it was verified for: a deleted, erased or changed key has another.

const entriesMax = 10_000;
const verified = new Map<string, Identity>();

export function isVerified(token: string, identity: Identity): boolean {
  return verified.get(token) === identity;
}

export function rememberVerified(token: string, identity: Identity): void {
  if (verified.size >= entriesMax) verified.clear();
  verified.set(token, identity);
}
