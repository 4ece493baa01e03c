/** Counts by subject in windows of an hour, so that what many requests have in common is logged once. */
import { RecentMap } from '../../base/collections.js';
import type { Clock } from '../../base/time.js';

interface Window {
  readonly startedAtMs: number;
  count: number;
}

const hourMs = 3_600_000;
/** Of subjects that are counted; where more occur, a few are counted anew. */
const subjectsMax = 4096;

export class HourlyCounts {
  private readonly windows = new RecentMap<Window>(subjectsMax);

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {}

  /** Counts one more, and returns how many there are in the subject's hour, which begins with its first. */
  add(subject: string): number {
    const nowMs = this.clock.monotonicMs();
    const window = this.windows.get(subject);
    if (window && nowMs - window.startedAtMs < hourMs) return ++window.count;
    this.windows.set(subject, { startedAtMs: nowMs, count: 1 });
    return 1;
  }
}
