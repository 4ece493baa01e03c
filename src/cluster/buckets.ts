/**
 * The port of buckets that attempts draw on, such as those at signing in (failure case H14). A bucket refills slowly and for
 * ever, up to its capacity, so nothing that draws on it is ever locked out for good.
 */
import type { Pending } from './counters.js';

export interface Bucket {
  readonly name: string;
  /** Attempts at once. */
  readonly capacity: number;
  /** One more after this time. */
  readonly refillMs: number;
}

/** No operation ever fails: where shared state is out of reach, the implementation counts within the process. */
export interface Buckets {
  /** Takes one from every bucket, or nothing from any: the time after which all of them have one again; 0 = taken. */
  take(buckets: readonly Bucket[]): Pending<number>;
  giveBack(buckets: readonly Bucket[]): Pending<void>;
}
