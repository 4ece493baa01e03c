/** Attempts with their times, for metrics and traces. */
import type { Clock } from '../../base/time.js';
import type { Route } from '../../catalogue/route.js';
import type { Exchange } from '../handover.js';

/** Notes the attempt that is over: the last one that has begun. */
export function addLeg(
  { trail: { attempts, legs } }: Pick<Exchange, 'trail'>,
  route: Route,
  startedAtMs: number,
  clock: Pick<Clock, 'monotonicMs'>,
): void {
  const record = attempts.at(-1);
  if (record) legs.push({ route, record, startedAtMs, endedAtMs: clock.monotonicMs() });
}
