/**
 * The port of counters that many requests draw on, each within fixed windows of its own (ruling 11). In memory every
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
 * fixed time that nothing prolongs. Time is monotonic: steps of the wall clock have no effect (failure case F7). No operation
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
