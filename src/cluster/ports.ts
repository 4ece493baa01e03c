/**
 * The interfaces of the shared state. Admission asks in one round trip for the counts of a request's address and key, and
 * whether what memory holds about them is still current.
 */
import type { MaybePromise } from '../base/turn.js';
import type { SpendAnswer, SpendAsk } from './shared-spend.js';

export interface AdmissionAsk {
  /** The address's name among the counters and its limit; null where it is already counted. */
  readonly peer: { readonly name: string; readonly limit: number } | null;
  /** The caller's key, if it is in memory and valid; null counts and compares nothing of a key. */
  readonly key: KeyAsk | null;
}

export interface KeyAsk {
  readonly id: string;
  readonly accountId: string;
  readonly limit: number;
  /** The count may be given back, because another limit may refuse the request. */
  readonly mayGiveBack?: boolean;
  /** What else a chat takes, where its body was read before; null takes nothing more. */
  readonly chat: ChatAsk | null;
}

/** Taken only where the request is admitted and the versions are current. */
export interface ChatAsk {
  readonly keyVersion: string;
  readonly accountVersion: string;
  readonly tokens: number;
  readonly tokenLimit: number;
  /** null where nothing limits what the request may spend. */
  readonly spend: SpendAsk | null;
}

export interface ChatTaken {
  readonly tokens: Take;
  /** null where nothing was asked, or where the tokens were refused. */
  readonly spend: SpendAnswer | null;
}

export interface Counted extends Reading {
  readonly admitted: boolean;
  /** As of a `Take`, where the count may be given back. */
  adjust?(delta: number): MaybePromise<void>;
}

export interface AdmissionAnswer {
  readonly peer: Counted | null;
  /** null without a key, and where the address was refused: such a request counts nowhere else. */
  readonly request: Counted | null;
  /** null where there is no such version any more: what memory holds must be read again. */
  readonly keyVersion: string | null;
  readonly accountVersion: string | null;
  readonly statesVersion: string | null;
  readonly catalogueVersion: string | null;
  /** null where nothing was asked or taken. */
  readonly chat: ChatTaken | null;
}

export interface Admission {
  /** null where the shared state is out of reach. Finding that out costs a request at most 50 ms. */
  ask(ask: AdmissionAsk): Promise<AdmissionAnswer | null>;
}

export interface Bucket {
  readonly name: string;
  /** The number of attempts at once. */
  readonly capacity: number;
  /** The time after which one more attempt is possible. */
  readonly refillMs: number;
}

/**
 * Buckets of attempts, such as those to sign in. A bucket refills slowly up to its capacity, so nobody is locked out for
 * good. No operation fails: where the shared state is out of reach, the process counts alone.
 */
export interface Buckets {
  /** Takes one from every bucket, or nothing from any: the time after which all of them have one again; 0 = taken. */
  take(buckets: readonly Bucket[]): MaybePromise<number>;
  giveBack(buckets: readonly Bucket[]): MaybePromise<void>;
}

/**
 * The port of counters that many requests draw on, each within fixed windows of its own. In memory every
 * operation answers at once; behind a network it may answer later, and the callers take both.
 */

/** A counter's window as it stood when it was looked at. */
export interface Reading {
  /** What was taken in the window and not given back. */
  readonly used: number;
  /** Whole milliseconds, at least 1, until the window ends; 0 where none is open. */
  readonly resetMs: number;
}

export interface Take extends Reading {
  readonly admitted: boolean;
  /**
   * Changes the sum of the window that admitted this take, however late; nothing changes once that window has ended. Only for
   * admitted takes, and never down by more than was taken. Never rejects.
   */
  adjust(delta: number): MaybePromise<void>;
}

/**
 * One family of counters, such as the requests of keys. A counter's window begins with its first admitted take and lasts for
 * a fixed time. Time is monotonic: changes of the wall clock have no effect. No operation fails: where the shared state is
 * out of reach, the process counts alone.
 */
export interface Counters {
  /**
   * Adds `amount` where the window's sum stays within `limit`, or where the window is empty, so that one oversized take is
   * possible; otherwise nothing changes. Parallel takes are admitted as if they came one after the other. `owner` is the account of
   * an API key's counter, whose shared state is all in one place.
   */
  take(name: string, amount: number, limit: number, owner?: string): MaybePromise<Take>;
  /** What this process knows of the counter: exact in memory, as of the last take otherwise. Never waits. */
  peek(name: string): Reading;
}

/**
 * Which route served a conversation last, for a limited time. Names are hashes. No operation fails: where the shared state is out of
 * reach, the process remembers alone.
 */
export interface Conversations {
  /** False where nothing is remembered of this account, so that its conversations need not be looked up. */
  mayKnow(accountId: string): boolean;
  recall(name: string): MaybePromise<string | null>;
  remember(name: string, routeId: string, accountId: string): void;
  forget(name: string): void;
}

/**
 * Sums that all processes of a fleet add to, such as the tokens that a route has used today. The store can recompute a sum,
 * so a shared state that lost it gets it again through `atLeast`.
 */
export interface Totals {
  /** The sum including `amount`; null where the shared state is out of reach. Never rejects. */
  add(name: string, amount: number): Promise<number | null>;
  /** Raises the sum to `amount` where it is lower. Never rejects. */
  atLeast(name: string, amount: number): Promise<void>;
}

/**
 * What has a version: a key (`key:<id>@<account>`), an account, the states and holds of models, the catalogue. A version is an opaque text that is
 * never used twice, so a shared state that lost its memory can only make processes read again.
 */
export type Subject = `key:${string}` | `account:${string}` | 'states' | 'catalogue';

export interface Versions {
  /**
   * The current version of each subject, created where there is none; null where the shared state is out of reach. What is
   * read from the store after this call is at least as new as these versions. Never rejects.
   */
  current(subjects: readonly Subject[]): Promise<string[] | null>;
  /**
   * Gives each subject a new version. Call it after the change is in the store and before it is acknowledged. Resolves when
   * the shared state has it, or when it has been out of reach for so long that every process must have noticed; the raise is
   * then repeated when the shared state is back. Never rejects.
   */
  raise(subjects: readonly Subject[]): Promise<void>;
  /**
   * The same, but waits only while this process has the shared state within reach, however slowly that answers; otherwise the raise is
   * repeated when it is back. For a change of which others may learn late where this process alone is cut off. Never rejects.
   */
  raiseWithinReach(subjects: readonly Subject[]): Promise<void>;
  /**
   * Called when the connection to the shared state was lost or the shared state refused its service: a raise may have been
   * missed, so nothing held under a version may be trusted. A moment without an answer is no loss, because nobody acts on
   * held data meanwhile.
   */
  onLost(listener: () => void): void;
}
