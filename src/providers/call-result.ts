/** What the upstream did with a call, as a value. */
import type { TimeBudget } from './classify/failure.js';
import type { ResponseHead } from './transport/response.js';

/** `excess`: the answer is larger, or holds more, than is read. */
export type CallResult =
  | { kind: 'answer'; status: number; body: Buffer }
  /** The stream is over; `cleanly` = the consumer returned `done`, or the upstream closed it properly. */
  | { kind: 'stream'; status: number; cleanly: boolean; reason: string; excess?: true }
  /** The consumer found a failure in a frame. */
  | { kind: 'frame_failed'; status: number }
  | { kind: 'refused'; status: number; head: ResponseHead; body: Buffer }
  | { kind: 'malformed'; status: number; reason: string; body: Buffer; excess?: true }
  | { kind: 'timeout'; status: number | null; budget: TimeBudget; budgetMs: number }
  | { kind: 'connection'; status: number | null; reason: string; code: string }
  | { kind: 'gone' };
