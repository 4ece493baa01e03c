import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../../tests/support/manual-clock.js';
import { Deadlines, tickMs } from './deadlines.js';

const clock = new ManualClock();
let deadlines: Deadlines;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setImmediate'] });
  deadlines = new Deadlines(clock);
});
afterEach(() => void vi.useRealTimers());

function pass(ms: number): void {
  for (let left = ms; left > 0; left -= tickMs) {
    clock.advance(tickMs);
    vi.advanceTimersByTime(tickMs);
  }
}
const watched = (inMs: number) => ({
  deadlineMs: clock.monotonicMs() + inMs,
  expired: [] as number[],
  expire(now: number) {
    this.expired.push(now);
    deadlines.unwatch(this);
  },
});

describe('deadlines', () => {
  it('expire within a tick, each in its own time, once', () => {
    const [soon, later] = [watched(100), watched(200)];
    deadlines.watch(soon);
    deadlines.watch(later);
    pass(120);
    expect([soon.expired.length, later.expired.length]).toEqual([1, 0]);
    pass(200);
    expect([soon.expired.length, later.expired.length, deadlines.size]).toEqual([1, 1, 0]);
  });

  it('move by assigning a number, also to never', () => {
    const item = watched(100);
    deadlines.watch(item);
    pass(80);
    item.deadlineMs = Number.POSITIVE_INFINITY;
    pass(10_000);
    expect(item.expired).toEqual([]);
    item.deadlineMs = clock.monotonicMs() + 100;
    pass(120);
    expect(item.expired).toHaveLength(1);
  });

  it('let one that expires take others with it', () => {
    const second = watched(100);
    const first = {
      deadlineMs: clock.monotonicMs() + 100,
      expire: () => {
        deadlines.unwatch(first);
        deadlines.unwatch(second);
      },
    };
    deadlines.watch(first);
    deadlines.watch(second);
    pass(200);
    expect(second.expired).toEqual([]);
  });

  it('need no timer while nothing is watched, and know the time again when something is', () => {
    expect(vi.getTimerCount()).toBe(0);
    deadlines.watch(watched(50));
    expect(vi.getTimerCount()).toBe(1);
    pass(200);
    expect(vi.getTimerCount()).toBe(0);
    clock.advance(1_000_000);
    const item = watched(100);
    deadlines.watch(item);
    expect(deadlines.coarseNowMs).toBe(clock.monotonicMs());
    pass(60);
    expect(item.expired).toEqual([]);
  });
});
