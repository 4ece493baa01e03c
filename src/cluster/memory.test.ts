import { beforeEach, describe, expect, it } from 'vitest';
import { describeCounters } from '../../tests/support/counters-suite.js';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { forSeeds, type SeededRandom } from '../../tests/support/seeded-random.js';
import { MemoryBuckets, MemoryCounters } from './memory.js';
import type { Bucket, Take } from './ports.js';

const minuteMs = 60_000;

function counted(namesMax?: number) {
  const clock = new ManualClock();
  return { clock, counters: new MemoryCounters(clock, namesMax === undefined ? {} : { namesMax }) };
}

describeCounters('counters in memory', () => {
  const { clock, counters } = counted();
  return { counters, windowMs: minuteMs, pass: (ms) => clock.advance(ms) };
});

describe('counters in memory, in their own right', () => {
  it('answer at once', () => {
    expect(counted().counters.take('k', 1, 1)).not.toBeInstanceOf(Promise);
  });

  it('let a wall clock that steps back or forward change nothing', () => {
    const { clock, counters } = counted();
    counters.take('k', 1, 1);
    for (const step of [-3_600_000, 7_200_000]) {
      clock.setWall(clock.now() + step);
      expect(counters.take('k', 1, 1)).toMatchObject({ admitted: false, resetMs: minuteMs });
    }
  });

  it('never say more than a minute, whatever fraction of a millisecond the clock shows', () => {
    const { clock, counters } = counted();
    for (const fraction of [0.1, 1 / 3, 12_345.678_9, 1e9 + 0.7]) {
      clock.advance(fraction);
      counters.take(String(fraction), 1, 1);
      expect(counters.take(String(fraction), 1, 1).resetMs).toBe(minuteMs);
    }
  });

  it('begin a window with the first take, not at a full minute', () => {
    const { clock, counters } = counted();
    counters.take('other', 1, 1);
    clock.advance(59_000);
    counters.take('k', 1, 1);
    clock.advance(59_999);
    expect(counters.take('k', 1, 1)).toMatchObject({ admitted: false, resetMs: 1 });
    clock.advance(1);
    expect(counters.take('k', 1, 1).admitted).toBe(true);
  });

  it('do what a plain model does, over any order of takes, corrections and pauses', () => {
    forSeeds(30, (random) => {
      const { clock, counters } = counted();
      const model = new Model();
      const open: { take: Take; amount: Amount }[] = [];
      for (let step = 0; step < 400; step++) {
        const act = random.below(10);
        if (act < 2) clock.advance(pause(random));
        else if (act < 4 && open.length > 0) {
          const [{ take, amount }] = open.splice(random.below(open.length), 1) as [(typeof open)[number]];
          const tokens = random.below(40);
          take.adjust(tokens - amount.value);
          amount.value = tokens;
        } else {
          const name = random.pick(['a', 'b', 'c']);
          const value = 1 + random.below(30);
          const limit = random.pick([20, 50]);
          const expected = model.take(name, value, limit, clock.monotonicMs());
          const take = counters.take(name, value, limit);
          expect({ admitted: take.admitted, used: take.used, resetMs: take.resetMs }).toEqual(expected.reading);
          if (expected.amount) open.push({ take, amount: expected.amount });
        }
        const looked = random.pick(['a', 'b', 'c']);
        expect(counters.peek(looked)).toEqual(model.peek(looked, clock.monotonicMs()));
      }
    });
  });
});

describe('names without number', () => {
  const flood = (counters: MemoryCounters, from: number, to: number) => {
    let admitted = 0;
    for (let i = from; i < to; i++)
      if (counters.take(`2001:db8:${i >> 16}:${i & 65535}::/64`, 1, 20).admitted) admitted++;
    return admitted;
  };

  it('are held up to the bound, whatever comes', () => {
    const { clock, counters } = counted(1000);
    for (let minute = 0; minute < 5; minute++) {
      flood(counters, minute * 20_000, minute * 20_000 + 20_000);
      expect(counters.size).toBeLessThanOrEqual(2000);
      clock.advance(minuteMs);
    }
  });

  it('are all forgotten by the first take after two idle minutes', () => {
    const { clock, counters } = counted();
    flood(counters, 0, 5000);
    expect(counters.size).toBe(5000);
    clock.advance(2 * minuteMs);
    counters.take('k', 1, 1);
    expect(counters.size).toBe(1);
  });

  it('block nobody who is new and honest', () => {
    const { counters } = counted(1000);
    expect(flood(counters, 0, 300_000)).toBe(300_000);
    for (let i = 0; i < 200; i++) {
      for (let request = 0; request < 10; request++) {
        expect(counters.take(`198.51.100.${i}`, 1, 20).admitted).toBe(true);
      }
    }
  });

  it('do not free one who has used up its limit before the flood, nor one who does during it', () => {
    const { clock, counters } = counted(1000);
    for (let i = 0; i < 20; i++) counters.take('early', 1, 20);
    flood(counters, 0, 20_000);
    const late = Array.from({ length: 100 }, () => counters.take('late', 1, 20));
    expect(late.filter(({ admitted }) => admitted).length).toBeGreaterThan(10);
    expect(late.filter(({ admitted }) => admitted).length).toBeLessThanOrEqual(20);
    clock.advance(30_000);
    flood(counters, 20_000, 60_000);
    expect(counters.take('early', 1, 20)).toMatchObject({ admitted: false, resetMs: 30_000 });
    const refused = counters.take('late', 1, 20);
    expect(refused).toMatchObject({ admitted: false, resetMs: 30_000 });
    clock.advance(refused.resetMs);
    expect(counters.take('late', 1, 20).admitted).toBe(true);
  });

  it('keep the window of one who came late in the minute, across the turn to the next', () => {
    const { clock, counters } = counted(1000);
    counters.take('first', 1, 1);
    clock.advance(59_999);
    counters.take('late', 1, 1);
    clock.advance(1);
    flood(counters, 0, 20_000);
    clock.advance(59_998);
    expect(counters.take('late', 1, 1)).toMatchObject({ admitted: false, resetMs: 1 });
  });

  it('are taken back from and added to like others', () => {
    const { counters } = counted(0);
    const first = counters.take('k', 5, 10);
    expect(counters.peek('k').used).toBe(5);
    first.adjust(-5);
    expect(counters.peek('k').used).toBe(0);
    counters.take('k', 5, 10).adjust(20);
    expect(counters.peek('k').used).toBe(25);
    expect(counters.take('k', 1, 10).admitted).toBe(false);
  });
});

function pause(random: SeededRandom): number {
  return random.pick([1, 999, 30_000, 59_999, 60_000, 60_001, 150_000]);
}

interface Amount {
  value: number;
}

interface ModelWindow {
  name: string;
  startMs: number;
  amounts: Amount[];
}

/** A model that keeps every window and amount and adds them up each time. */
class Model {
  private readonly windows: ModelWindow[] = [];

  take(name: string, value: number, limit: number, nowMs: number) {
    const window = this.windowAt(name, nowMs) ?? { name, startMs: nowMs, amounts: [] };
    if (window.startMs === nowMs && !this.windows.includes(window)) this.windows.push(window);
    const used = sum(window);
    const resetMs = window.startMs + minuteMs - nowMs;
    if (used > 0 && used + value > limit) return { reading: { admitted: false, used, resetMs }, amount: null };
    const amount = { value };
    window.amounts.push(amount);
    return { reading: { admitted: true, used: used + value, resetMs }, amount };
  }

  peek(name: string, nowMs: number) {
    const window = this.windowAt(name, nowMs);
    return window ? { used: sum(window), resetMs: window.startMs + minuteMs - nowMs } : { used: 0, resetMs: 0 };
  }

  private windowAt(name: string, nowMs: number): ModelWindow | undefined {
    return this.windows.find((window) => window.name === name && nowMs < window.startMs + minuteMs);
  }
}

function sum({ amounts }: ModelWindow): number {
  return amounts.reduce((total, { value }) => total + value, 0);
}

const three = { name: 'three', capacity: 3, refillMs: 10_000 };
const two = { name: 'two', capacity: 2, refillMs: 60_000 };

let clock: ManualClock;
let buckets: MemoryBuckets;
beforeEach(() => {
  clock = new ManualClock();
  buckets = new MemoryBuckets(clock);
});

/** Seconds to wait; 0 where one was taken. */
const take = (...wanted: Bucket[]) => buckets.take(wanted) / 1000;

describe('buckets in memory', () => {
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
