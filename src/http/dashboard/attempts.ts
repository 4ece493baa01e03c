/**
 * The buckets that limit attempts. Guesses count by address, by account and address, and by account. A browser that has signed in to
 * the account before has a bucket of its own instead of the account's, so that nobody can lock the owner out by guessing.
 */
import type { FastifyRequest } from 'fastify';
import type { GuessLimiter } from '../../accounts/sign-in/guess-limiter.js';
import type { Bucket } from '../../cluster/ports.js';
import { peerOf } from '../../limits/rate-limits.js';

const seconds = 1000;

export interface Attempt {
  /** The address that it comes from. */
  peer: string;
  /** The account that is guessed at: an email address or an id. */
  account: string;
  /** The browser, where it is known to the account. */
  device: string | null;
}

export function signInBuckets({ peer, account, device }: Attempt): Bucket[] {
  const byAddress = { name: `address ${peer}`, capacity: 40, refillMs: 15 * seconds };
  if (device !== null) return [byAddress, { name: `device ${device}`, capacity: 10, refillMs: 30 * seconds }];
  return [
    byAddress,
    { name: `account ${account} at ${peer}`, capacity: 10, refillMs: 60 * seconds },
    { name: `account ${account}`, capacity: 50, refillMs: 30 * seconds },
  ];
}

/** Successful attempts count too, because each makes an account, perhaps with welcome credit. 20 at once, then 20 an hour. */
export function signUpBuckets(peer: string): Bucket[] {
  return [{ name: `sign-up ${peer}`, capacity: 20, refillMs: 180 * seconds }];
}

/**
 * Few, because a code has six digits. Whoever guesses here knows the password, so a browser that the account knows is not
 * counted separately: a new password ends the guesses.
 */
export function codeBuckets({ peer, account }: Omit<Attempt, 'device'>): Bucket[] {
  return [
    { name: `code of ${account} at ${peer}`, capacity: 5, refillMs: 60 * seconds },
    { name: `code of ${account}`, capacity: 10, refillMs: 300 * seconds },
  ];
}

/** For a one-time link and the admin token, which people rarely mistype. */
export function secretBuckets(peer: string): Bucket[] {
  return [{ name: `secret ${peer}`, capacity: 10, refillMs: 30 * seconds }];
}

/** Of sign-ins at an identity provider, each of which calls it. Successful ones do not count. */
export function providerBuckets(peer: string): Bucket[] {
  return [{ name: `provider ${peer}`, capacity: 100, refillMs: 5 * seconds }];
}

/** Every request counts, because each may send a mail. By the address that is asked for too, whether or not it has an account. */
export function resetBuckets(peer: string, email: string): Bucket[] {
  return [
    { name: `reset ${peer}`, capacity: 10, refillMs: 180 * seconds },
    { name: `reset of ${email}`, capacity: 3, refillMs: 600 * seconds },
  ];
}

/** Counts an attempt that answers null as a wrong guess. Anything else, also an unreachable store, does not count. */
export async function limitGuesses<T>(
  limiter: GuessLimiter,
  buckets: readonly Bucket[],
  attempt: () => Promise<T | null>,
): Promise<T | null> {
  await limiter.take(buckets);
  let wrong = false;
  try {
    const result = await attempt();
    wrong = result === null;
    return result;
  } finally {
    if (!wrong) await limiter.giveBack(buckets);
  }
}

/** The name under which the client's address is counted. */
export function callerPeer({ origin }: FastifyRequest): string {
  return peerOf(origin.address);
}
