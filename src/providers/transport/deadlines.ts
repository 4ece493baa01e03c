/**
 * One coarse timer for all time budgets. A call stores its own deadline and moves it by assigning a number, so no timer is set or
 * cleared per chunk. The timer stops while nothing is watched.
 */
import type { Clock } from '../../base/time.js';

export interface Watched {
  /** Monotonic milliseconds; Infinity = no deadline for now. */
  deadlineMs: number;
  /** Where the item is in the list of all; -1 where it is not watched. Only `Deadlines` sets it. */
  watchIndex?: number;
  expire(nowMs: number): void;
}

export const tickMs = 20;

export class Deadlines {
  /** The time of the last tick, precise to `tickMs`: cheap enough to read for every chunk. */
  coarseNowMs: number;
  /**
   * An array, because a Set that is added to and deleted from makes a new table every few dozen requests, and a table that reached the
   * old part of the heap keeps all later ones alive until a full collection, with every request that was in them.
   */
  private readonly watched: Watched[] = [];
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly clock: Clock) {
    this.coarseNowMs = clock.monotonicMs();
  }

  watch(item: Watched): void {
    item.watchIndex = this.watched.push(item) - 1;
    if (!this.timer) {
      this.coarseNowMs = this.clock.monotonicMs();
      this.timer = setInterval(() => this.tick(), tickMs);
    }
  }

  unwatch(item: Watched): void {
    const { watchIndex = -1 } = item;
    if (watchIndex === -1) return;
    item.watchIndex = -1;
    const last = this.watched.pop()!;
    if (last === item) return;
    this.watched[watchIndex] = last;
    last.watchIndex = watchIndex;
  }

  get size(): number {
    return this.watched.length;
  }

  private tick(): void {
    const now = this.clock.monotonicMs();
    this.coarseNowMs = now;
    let due = false;
    for (const item of this.watched) due ||= item.deadlineMs <= now;
    // Runs after the sockets have been read: bytes that arrived in time while the loop was busy still count.
    if (due) setImmediate(() => this.expire(now));
    if (this.watched.length === 0 && this.timer) {
      clearInterval(this.timer);
      this.timer = null;
    }
  }

  private expire(now: number): void {
    for (const item of this.watched.filter(({ deadlineMs }) => deadlineMs <= now)) {
      // One that expires may take others with it, or move them.
      if (item.watchIndex !== -1 && item.deadlineMs <= now) item.expire(now);
    }
  }
}
