/** One attempt of a walk with its times, for metrics and traces. */
import type { Route } from '../catalogue/route.js';
import type { AttemptRecord } from '../domain/generation.js';

/** One attempt of a walk; monotonic milliseconds. */
export interface Leg {
  readonly route: Route;
  readonly record: AttemptRecord;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}
