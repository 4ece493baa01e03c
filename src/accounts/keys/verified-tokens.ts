/**
 * Tokens that have just been held against their hash, so that a busy caller is not hashed anew for every request. Found by the
 * whole token's hash code, never by comparing beginnings, so a guess learns nothing from the time it takes. An entry is only
 * good for the very identity that it was verified for: a deleted, erased or changed key has another.
 */
import type { Identity } from '../../domain/account.js';

const entriesMax = 10_000;
const verified = new Map<string, Identity>();

export function isVerified(token: string, identity: Identity): boolean {
  return verified.get(token) === identity;
}

export function rememberVerified(token: string, identity: Identity): void {
  if (verified.size >= entriesMax) verified.clear();
  verified.set(token, identity);
}
