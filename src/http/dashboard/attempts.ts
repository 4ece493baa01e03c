/**
 * Which buckets an attempt belongs to. Guesses are counted by address, by account and address, and by
 * account alone; but a browser that has signed in to the account before has a bucket of its own instead of the account's, so
 * that nobody can keep the owner out by guessing.
 */
import type { FastifyRequest } from 'fastify';
import type { GuessLimiter } from '../../accounts/sign-in/guess-limiter.js';
import type { Bucket } from '../../cluster/ports.js';
import { peerOf } from '../../limits/ip-limiter.js';

const seconds = 1000;

export interface Attempt {
  /** The address that it comes from. */
  peer: string;
  /** What is being guessed at: an e-mail address or an account's id. */
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

/** Successful ones count too: each makes an account, perhaps with welcome credit. 20 at once and 20 an hour. */
export function signUpBuckets(peer: string): Bucket[] {
  return [{ name: `sign-up ${peer}`, capacity: 20, refillMs: 180 * seconds }];
}

/**
 * Keys that an account makes for itself: twice as many at once as it may have, then 10 a minute. Each key has rate limits of its
 * own, which an account that keeps replacing its keys would never reach.
 */
export function newKeyBuckets(accountId: string): Bucket[] {
  return [{ name: `new key ${accountId}`, capacity: 400, refillMs: 6 * seconds }];
}

/** A one-time link or the admin token: nothing that somebody mistypes often. */
export function secretBuckets(peer: string): Bucket[] {
  return [{ name: `secret ${peer}`, capacity: 10, refillMs: 30 * seconds }];
}

/** A null answer was a wrong guess and counts; anything else, also a store that is away, was none. */
export async function countingGuesses<T>(
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

/** The name under which whoever is calling is counted. */
export function callerPeer({ origin }: FastifyRequest): string {
  return peerOf(origin.address);
}
