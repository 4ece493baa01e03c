import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../tests/support/manual-clock.js';
import type { Bucket } from './buckets.js';
import { MemoryBuckets } from './memory-buckets.js';

const three = { name: 'three', capacity: 3, refillMs: 10_000 };
const two = { name: 'two', capacity: 2, refillMs: 60_000 };

let clock: ManualClock;
let buckets: MemoryBuckets;
beforeEach(() => {
  clock = new ManualClock();
  buckets = new MemoryBuckets(clock);
});

/** Seconds to wait; 0 = taken. */
const take = (...wanted: Bucket[]) => buckets.take(wanted) / 1000;

describe('buckets in memory (H14)', () => {
  it('admit as many at once as they hold, then one for each refill', () => {
    expect([take(three), take(three), take(three), take(three)]).toEqual([0, 0, 0, 10]);
    clock.advance(4_000);
    expect(take(three)).toBeCloseTo(6);
    clock.advance(6_000);
    expect([take(three), take(three)]).toEqual([0, 10]);
  });

  it('never hold more than their capacity, however long they wait', () => {
    take(three);
    clock.advance(86_400_000);
    expect([take(three), take(three), take(three), take(three)]).toEqual([0, 0, 0, 10]);
  });

  it('tell the longest wait of all, and a refused attempt takes from none of them', () => {
    expect([take(three, two), take(three, two)]).toEqual([0, 0]);
    expect(take(three, two)).toBe(60);
    expect(take(three), 'the third is still there').toBe(0);
  });

  it('take back what was no guess, and no more than that', () => {
    take(two);
    buckets.giveBack([two]);
    buckets.giveBack([two]);
    expect([take(two), take(two), take(two)]).toEqual([0, 0, 60]);
  });

  it('forget names that are long full, and stay few whoever asks', () => {
    for (let i = 0; i < 60_000; i++) buckets.take([{ ...two, name: `address ${i}` }]);
    expect(buckets.size).toBeLessThanOrEqual(50_000);
    expect(take({ ...two, name: 'address 59999' }), 'the newest are kept').toBe(0);
    expect(take({ ...two, name: 'address 59999' })).toBe(60);
  });
});
