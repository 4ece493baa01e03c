/** What is known of a chat request when it is over: filled on its way, read once at its end by metrics, traces and the log. */
import type { Exchange, Settlement, Trail } from './handover.js';

/** The trail of a request before its first attempt. */
export function newTrail(): Trail {
  return {
    attempts: [],
    providersAttempted: [],
    breakerSkipped: [],
    legs: [],
    upstreamMs: 0,
    dispatchedAtMs: 0,
    reservedBytes: 0,
  };
}

export class ChatNotes {
  bodyBytes = 0;
  /** null until the request has been admitted, checked and resolved. */
  exchange: Exchange | null = null;
  readonly trail: Trail = newTrail();
  /** null where it did not come to the walk. */
  settlement: Settlement | null = null;
  /** When the 200 began, monotonic milliseconds. */
  answeredAtMs: number | null = null;
  /** Time that was spent in Lodestone itself until then. */
  overheadMs = 0;

  answering(nowMs: number, overheadMs: number): void {
    this.answeredAtMs = nowMs;
    this.overheadMs = Math.max(0, overheadMs);
  }
}
