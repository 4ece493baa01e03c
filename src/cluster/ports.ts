/**
 * What a request needs of shared state before it is admitted, in one round trip: the counts of its address
 * and its key, and whether what is held in memory about it is still true.
 */

export interface AdmissionAsk {
  /** The name of the caller's address among the counters of addresses, and its limit; null = counted already. */
  readonly peer: { readonly name: string; readonly limit: number } | null;
  /** The key that the caller has shown, if it is held in memory and good; null counts and compares nothing of a key. */
  readonly key: { readonly id: string; readonly accountId: string; readonly limit: number } | null;
}

export interface Counted extends Reading {
  readonly admitted: boolean;
}

export interface AdmissionAnswer {
  readonly peer: Counted | null;
  /** null without a key, and where the address was refused: such a request counts nowhere else. */
  readonly request: Counted | null;
  /** null = there is no such version (any more): what is held has to be read again. */
  readonly keyVersion: string | null;
  readonly accountVersion: string | null;
  readonly statesVersion: string | null;
  readonly catalogueVersion: string | null;
}

export interface Admission {
  /** null where shared state is out of reach; it costs no request more than 50 ms to find that out. */
  ask(ask: AdmissionAsk): Promise<AdmissionAnswer | null>;
}

// * The port of buckets that attempts draw on, such as those at signing in. A bucket refills slowly and for
// ever, up to its capacity, so nothing that draws on it is ever locked out for good.

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

/**
 * The port of counters that many requests draw on, each within fixed windows of its own. In memory every
 * operation answers at once; behind a network it may answer later, and the callers take both.
 */

export type Pending<T> = T | Promise<T>;

/** Goes on at once where the value is there already, so that the usual request waits for nothing. */
export function whenKnown<T, U>(pending: Pending<T>, use: (value: T) => U): Pending<U> {
  return pending instanceof Promise ? pending.then(use) : use(pending);
}

/** A counter's window as it stood when it was looked at. */
export interface Reading {
  /** What has been taken in the window and not been given back. */
  readonly used: number;
  /** Whole milliseconds, 1 or more, until the window is over; 0 where none is open. */
  readonly resetMs: number;
}

export interface Take extends Reading {
  readonly admitted: boolean;
  /**
   * Moves the sum of the very window that admitted this take, however late; once that window is over, nothing changes. Only
   * for admitted takes, and never by more than was taken downwards.
   */
  adjust(delta: number): Pending<void>;
}

/**
 * One family of counters, such as the requests of keys. A counter's window begins with its first admitted take and lasts for a
 * fixed time that nothing prolongs. Time is monotonic: steps of the wall clock have no effect. No operation
 * ever fails: where shared state is out of reach, the implementation counts within the process.
 */
export interface Counters {
  /**
   * Adds `amount` where the window's sum stays within `limit`, or where the window is empty, so that one oversized take is
   * possible; otherwise nothing changes. Takes that arrive together are admitted as if they had come one after the other.
   */
  take(name: string, amount: number, limit: number): Pending<Take>;
  /** What this process knows of the counter: exact in memory, as of the last take elsewhere. Never waits. */
  peek(name: string): Reading;
}

/**
 * Sums that all processes of a fleet add to, such as the tokens that a route has used today. Nothing hangs on a sum alone: the
 * store can tell it again, so a shared state that forgot it is told by `atLeast`.
 */
export interface Totals {
  /** The sum with `amount` in it; null where shared state is out of reach. */
  add(name: string, amount: number): Promise<number | null>;
  /** Raises the sum to `amount` where it is lower. */
  atLeast(name: string, amount: number): Promise<void>;
}

/**
 * The port by which the processes of a fleet learn that what they hold in memory is out of date. A version is
 * an opaque text that is never used twice, so that shared state which lost its memory can only make processes read again.
 */

/** What has a version: a key, an account, the states and holds of models, the catalogue. */
export type Subject = `key:${string}` | `account:${string}` | 'states' | 'catalogue';

export interface Versions {
  /**
   * The version of each subject as it stands, made where there is none yet; null where shared state is out of reach. What is
   * read from the store after this call is at least as new as these versions.
   */
  current(subjects: readonly Subject[]): Promise<string[] | null>;
  /**
   * Gives each subject a new version. Call it after the change is in the store and before it is acknowledged. Resolves when
   * shared state has it, or when it has been out of reach for so long that every process must have noticed; it is then
   * made up for as soon as shared state is back. Never rejects.
   */
  raise(subjects: readonly Subject[]): Promise<void>;
  /**
   * Told each time the connection to shared state was lost, or it refused its service: a raise may have been missed, so nothing that was
   * held under a version may be trusted. A moment without an answer is no such loss; nobody acts on what is held while it lasts.
   */
  onLost(listener: () => void): void;
}
