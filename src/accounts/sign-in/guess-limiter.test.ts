import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../tests/support/manual-clock.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { GuessLimiter } from './guess-limiter.js';

const three = { name: 'three', capacity: 3, refillMs: 10_000 };
const two = { name: 'two', capacity: 2, refillMs: 60_000 };

let clock: ManualClock;
let limiter: GuessLimiter;
beforeEach(() => {
  clock = new ManualClock();
  limiter = new GuessLimiter(clock);
});

/** Seconds to wait; 0 = admitted. */
function take(...buckets: (typeof three)[]): number {
  try {
    limiter.take(buckets);
    return 0;
  } catch (error) {
    if (error instanceof GatewayError) return error.extras.retryAfterSeconds!;
    throw error;
  }
}

describe('GuessLimiter (H14)', () => {
  it('admits as many at once as the bucket holds, then one for each refill', () => {
    expect([take(three), take(three), take(three), take(three)]).toEqual([0, 0, 0, 10]);
    clock.advance(4_000);
    expect(take(three)).toBe(6);
    clock.advance(6_000);
    expect([take(three), take(three)]).toEqual([0, 10]);
  });

  it('never holds more than its capacity, however long it waits', () => {
    take(three);
    clock.advance(86_400_000);
    expect([take(three), take(three), take(three), take(three)]).toEqual([0, 0, 0, 10]);
  });

  it('tells the longest wait of all buckets, and a refused attempt takes from none of them', () => {
    expect([take(three, two), take(three, two)]).toEqual([0, 0]);
    expect(take(three, two)).toBe(60);
    expect(take(three), 'the third is still there').toBe(0);
  });

  it('gives back what was no guess, and no more than that', () => {
    take(two);
    limiter.giveBack([two]);
    limiter.giveBack([two]);
    expect([take(two), take(two), take(two)]).toEqual([0, 0, 60]);
  });

  it('forgets names that are long full, and stays small whoever asks', () => {
    for (let i = 0; i < 60_000; i++) limiter.take([{ ...two, name: `address ${i}` }]);
    expect((limiter as unknown as { levels: Map<string, unknown> }).levels.size).toBeLessThanOrEqual(50_000);
    expect(take({ ...two, name: 'address 59999' }), 'the newest are kept').toBe(0);
    expect(take({ ...two, name: 'address 59999' })).toBe(60);
  });
});
