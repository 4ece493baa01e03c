/** Attempts with their times, for metrics and traces. */
import type { Clock } from '../base/time.js';
import type { Route } from '../catalogue/route.js';
import type { AttemptRecord } from '../domain/generation.js';

/** One attempt of a walk; monotonic milliseconds. */
export interface Leg {
  readonly route: Route;
  readonly record: AttemptRecord;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

interface Attempted {
  readonly trail: { readonly attempts: readonly AttemptRecord[]; readonly legs: Leg[] };
}

/** Notes the attempt that is over: the last one that has begun. */
export function addLeg(
  { trail: { attempts, legs } }: Attempted,
  route: Route,
  startedAtMs: number,
  clock: Pick<Clock, 'monotonicMs'>,
): void {
  const record = attempts.at(-1);
  if (record) legs.push({ route, record, startedAtMs, endedAtMs: clock.monotonicMs() });
}
