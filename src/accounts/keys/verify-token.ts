/** Check 4, second half: holds a presented token against the key of its public id, in constant time (ruling 1). */
import { timingSafeEqual } from 'node:crypto';
import type { Identity, Key } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { hashToken } from './token.js';
import { isVerified, rememberVerified } from './verified-tokens.js';

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
