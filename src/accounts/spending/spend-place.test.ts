import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memorySpend } from '../../../tests/support/memory-budgets.js';
import { SeededRandom } from '../../../tests/support/seeded-random.js';
import { silentLogger as logger } from '../../base/logger.js';
import { StoreUnavailable } from '../../storage/store.js';
import { SpendPlace } from './spend-place.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
async function done<T>(work: Promise<T>): Promise<T> {
  await pass(10);
  return work;
}

function fleet(processes: number, random = new SeededRandom(1)) {
  const state = { away: false, slowMs: 0 };
  const later = () => new Promise<void>((resolve) => setTimeout(resolve, random.below(state.slowMs + 1)));
  const store = memorySpend(async (read) => {
    await later();
    if (state.away) throw new StoreUnavailable(new Error('away'));
    const value = read();
    await later();
    return value;
  });
  const all = Array.from({ length: processes }, (_, index) => {
    const redis = { isUp: true };
    const moves: string[] = [];
    const moved = async (where: string) => {
      await later();
      moves.push(where);
    };
    const place = new SpendPlace({
      ...{ store, process: `p${index}`, redisIsUp: () => redis.isUp, logger },
      enterStore: () => moved('store'),
      enterRedis: () => moved('redis'),
      catchUp: later,
    });
    return {
      place,
      redis,
      moves,
      lose() {
        redis.isUp = false;
        place.leaveRedis();
      },
    };
  });
  const places = () => all.map(({ place }) => place.now);
  return { all, store, state, places };
}

describe('the processes of a fleet', () => {
  it('begin in Redis, go to the store together when one of them loses Redis, and return together', async () => {
    const { all, places } = fleet(3);
    await pass(50);
    expect(places()).toEqual(['redis', 'redis', 'redis']);
    all[1]!.lose();
    expect(places()).toEqual(['redis', null, 'redis']);
    const asked = all[1]!.place.reached();
    // The others look once a second.
    await pass(1_200);
    expect(places()).toEqual(['store', 'store', 'store']);
    expect(await asked).toBe('store');
    all[1]!.redis.isUp = true;
    await pass(500);
    expect(places()).toEqual(['redis', 'redis', 'redis']);
    expect(all.map(({ moves }) => moves)).toEqual(Array(3).fill(['store', 'redis']));
  });

  it('stay where they are while one only blinks', async () => {
    const { all, places } = fleet(2);
    await pass(50);
    all[0]!.lose();
    all[0]!.redis.isUp = true;
    await pass(300);
    expect(places()).toEqual(['redis', 'redis']);
    expect(all[1]!.moves).toEqual([]);
  });

  it('never admit in two places, whenever who loses Redis', async () => {
    const random = new SeededRandom(35);
    const { all, state, places } = fleet(4, random);
    state.slowMs = 40;
    const seen = new Set<string>();
    await pass(500);
    for (let turn = 0; turn < 3_000; turn++) {
      const one = random.pick(all);
      if (random.chance(0.02)) one.redis.isUp = true;
      else if (random.chance(0.004)) one.lose();
      await pass(7);
      const now = new Set(places().filter((place) => place === 'redis' || place === 'store'));
      for (const place of now) seen.add(place!);
      expect(now.size, `turn ${turn}: ${places()}`).toBeLessThanOrEqual(1);
      for (const { place, redis } of all) expect(redis.isUp || place.now !== 'redis', `turn ${turn}`).toBe(true);
    }
    expect([...seen].sort()).toEqual(['redis', 'store']);
  });

  it('do not wait for a process that says nothing longer than two seconds, and take it along when it does', async () => {
    const { all, store, places } = fleet(1);
    await pass(50);
    await done(store.join({ process: 'stopped', wantsStore: false, inStore: false }));
    all[0]!.lose();
    await pass(1_900);
    expect(places()).toEqual([null]);
    await pass(200);
    expect(places()).toEqual(['alone']);
    await done(store.join({ process: 'stopped', wantsStore: false, inStore: true }));
    await pass(200);
    expect(places()).toEqual(['store']);
  });

  it('are each alone without Redis and the store, and in Redis without the store', async () => {
    const { all, state, places } = fleet(2);
    await pass(50);
    state.away = true;
    all[0]!.lose();
    await pass(2_000);
    expect(places()).toEqual(['alone', 'redis']);
    state.away = false;
    await pass(1_300);
    expect(places()).toEqual(['store', 'store']);
  });

  it('do not wait for one that has been closed', async () => {
    const { all, store, places } = fleet(2);
    await pass(50);
    await done(all[1]!.place.close());
    all[0]!.lose();
    await pass(100);
    expect(places()[0]).toBe('store');
    expect(await done(store.join({ process: 'x', wantsStore: false, inStore: false }))).toHaveLength(1);
  });
});
