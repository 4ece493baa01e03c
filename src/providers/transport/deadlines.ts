/**
 * One coarse timer for all time budgets. A call stores its own deadline and moves it by assigning a number, so no timer is set or
 * cleared per chunk. The timer stops while nothing is watched.
 */
import type { Clock } from '../../base/time.js';

export interface Watched {
  /** Monotonic milliseconds; Infinity = no deadline for now. */
  deadlineMs: number;
  expire(nowMs: number): void;
}

export const tickMs = 20;

export class Deadlines {
  /** The time of the last tick, precise to `tickMs`: cheap enough to read for every chunk. */
  coarseNowMs: number;
  private readonly watched = new Set<Watched>();
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly clock: Clock) {
    this.coarseNowMs = clock.monotonicMs();
  }

  watch(item: Watched): void {
    this.watched.add(item);
    if (!this.timer) {
      this.coarseNowMs = this.clock.monotonicMs();
      this.timer = setInterval(() => this.tick(), tickMs);
    }
  }

  unwatch(item: Watched): void {
    this.watched.delete(item);
  }

  get size(): number {
    return this.watched.size;
  }

  private tick(): void {
    const now = this.clock.monotonicMs();
    this.coarseNowMs = now;
    let due = false;
    for (const item of this.watched) due ||= item.deadlineMs <= now;
    // Runs after the sockets have been read: bytes that arrived in time while the loop was busy still count.
    if (due) setImmediate(() => this.expire(now));
    if (this.watched.size === 0 && this.timer) {
      clearInterval(this.timer);
      this.timer = null;
    }
  }

  private expire(now: number): void {
    for (const item of this.watched) if (item.deadlineMs <= now) item.expire(now);
  }
}
