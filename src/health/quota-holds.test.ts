import { afterEach, describe, expect, it, vi } from 'vitest';
import { aGeneration } from '../../tests/support/generation.js';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { MemoryStore } from '../../tests/support/memory-store.js';
import { silentLogger as logger } from '../base/logger.js';
import { QuotaHolds } from './quota-holds.js';

const route = 'acme/meta/llama/defra';
const noon = Date.parse('2026-03-01T12:00:00Z');
const midnight = Date.parse('2026-03-02T00:00:00Z');
const limited = { id: route, dailyTokenQuota: 100 };

function fresh(store = new MemoryStore(), clock = new ManualClock(noon)) {
  return { store, clock, holds: new QuotaHolds({ store: store.holds, clock, logger }) };
}

async function restarted({ store, clock }: { store: MemoryStore; clock: ManualClock }): Promise<QuotaHolds> {
  const { holds } = fresh(store, clock);
  await holds.load();
  return holds;
}

afterEach(() => void vi.useRealTimers());

describe('a quota hold', () => {
  it('is in force at once, on that route only, until midnight UTC', () => {
    const { clock, holds } = fresh();
    expect(holds.isHeld(route)).toBe(false);
    holds.hold(route, 'upstream');
    expect(holds.isHeld(route)).toBe(true);
    expect(holds.view(route)).toEqual({ until: midnight, reason: 'upstream' });
    expect(holds.heldUntil(route)).toBe(midnight);
    expect(holds.isHeld('acme/meta/llama/usnyc')).toBe(false);
    clock.setWall(midnight - 1);
    expect(holds.isHeld(route)).toBe(true);
    clock.setWall(midnight);
    expect(holds.isHeld(route)).toBe(false);
    expect(holds.heldUntil(route)).toBeNull();
  });

  it('keeps its first reason', () => {
    const { holds } = fresh();
    holds.hold(route, 'daily_token_quota');
    holds.hold(route, 'upstream');
    expect(holds.view(route)?.reason).toBe('daily_token_quota');
  });

  it('outlives a restart, but not its day', async () => {
    const parts = fresh();
    parts.holds.hold(route, 'upstream');
    await parts.holds.close();
    expect((await restarted(parts)).view(route)).toEqual({ until: midnight, reason: 'upstream' });
    parts.clock.setWall(midnight);
    expect((await restarted(parts)).isHeld(route)).toBe(false);
  });

  it('comes into force while the store is away, and is there when it is back', async () => {
    vi.useFakeTimers();
    const { store, holds } = fresh();
    const put = vi.spyOn(store.holds, 'put');
    store.away = true;
    holds.hold(route, 'upstream');
    holds.hold('zeta/meta/llama/global', 'daily_token_quota');
    expect(holds.isHeld(route)).toBe(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(store.holdRows.size).toBe(0);
    store.away = false;
    await vi.advanceTimersByTimeAsync(1000);
    expect([...store.holdRows.values()].map(({ routeId, reason }) => [routeId, reason])).toEqual([
      [route, 'upstream'],
      ['zeta/meta/llama/global', 'daily_token_quota'],
    ]);
    // Other suites of the process may have timers, so it is not their number that tells whether it goes on.
    const { length: written } = put.mock.calls;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(put).toHaveBeenCalledTimes(written);
  });

  it('is stored in whichever turn it comes, also just as the write before it ends', async () => {
    for (let turns = 0; turns < 12; turns++) {
      const { store, holds } = fresh();
      holds.hold(route, 'upstream');
      for (let i = 0; i < turns; i++) await null;
      holds.hold('zeta/meta/llama/global', 'upstream');
      await expect.poll(() => store.holdRows.size, { interval: 1 }).toBe(2);
    }
  });

  it('one record that cannot be written keeps no other waiting', async () => {
    const { store, clock } = fresh();
    const put = (record: Parameters<typeof store.holds.put>[0]) =>
      record.routeId === 'poison' ? Promise.reject(new Error('no')) : store.holds.put(record);
    const holds = new QuotaHolds({ store: { ...store.holds, put }, clock, logger });
    holds.hold('poison', 'upstream');
    holds.hold(route, 'upstream');
    await holds.close();
    expect([...store.holdRows.values()].map(({ routeId }) => routeId)).toEqual([route]);
  });
});

describe('closing', () => {
  it('tries the last writes once more, at once', async () => {
    vi.useFakeTimers();
    const { store, holds } = fresh();
    store.away = true;
    holds.hold(route, 'upstream');
    await vi.advanceTimersByTimeAsync(0);
    store.away = false;
    await holds.close();
    expect(store.holdRows.size).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('gives up on a store that is away or hangs', async () => {
    vi.useFakeTimers();
    const away = fresh();
    away.store.away = true;
    away.holds.hold(route, 'upstream');
    await away.holds.close();
    const hanging = fresh();
    hanging.store.hold = new Promise(() => {});
    hanging.holds.hold(route, 'upstream');
    const closed = hanging.holds.close();
    await vi.advanceTimersByTimeAsync(2000);
    await closed;
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a route’s own daily_token_quota', () => {
  it('holds when prompt and completion tokens have used it up, and begins anew at midnight', () => {
    const { clock, holds } = fresh();
    holds.used(limited, 99, noon);
    expect(holds.isHeld(route)).toBe(false);
    holds.used(limited, 1, noon);
    expect(holds.view(route)).toEqual({ until: midnight, reason: 'daily_token_quota' });
    clock.setWall(midnight);
    expect(holds.isHeld(route)).toBe(false);
    holds.used(limited, 99, midnight);
    expect(holds.isHeld(route)).toBe(false);
  });

  it('an answer that began before midnight counts for the day before, as after a restart', () => {
    const { clock, holds } = fresh();
    clock.setWall(midnight + 1000);
    holds.used(limited, 500, midnight - 1);
    expect(holds.isHeld(route)).toBe(false);
    holds.used(limited, 99, midnight);
    expect(holds.isHeld(route)).toBe(false);
  });

  it('never holds a route without one', () => {
    const { holds } = fresh();
    holds.used({ id: route, dailyTokenQuota: null }, 1e12, noon);
    expect(holds.isHeld(route)).toBe(false);
  });

  it('counts what was used before a restart, billed and today only', async () => {
    const parts = fresh();
    const rows = [
      aGeneration({ servedModel: route, createdAt: noon - 1, promptTokens: 30, completionTokens: 20 }),
      aGeneration({ servedModel: route, createdAt: noon - 1, promptTokens: 40, completionTokens: 9 }),
      aGeneration({ servedModel: route, createdAt: noon - 86_400_000, promptTokens: 5000 }),
      aGeneration({ servedModel: route, createdAt: noon - 1, promptTokens: 5000, billed: false }),
    ];
    for (const row of rows) parts.store.generationRows.set(row.id, row);
    const holds = await restarted(parts);
    await holds.enforce([limited]);
    expect(holds.isHeld(route)).toBe(false);
    holds.used(limited, 1, noon);
    expect(holds.isHeld(route)).toBe(true);
  });

  it('waits for the sum only where a route has a quota; what is used meanwhile is added to it', async () => {
    const parts = fresh();
    const row = aGeneration({ servedModel: route, createdAt: noon - 1, promptTokens: 60, completionTokens: 0 });
    parts.store.generationRows.set(row.id, row);
    let release = () => {};
    const tokensBetween = async (fromMs: number, toMs: number) => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return parts.store.holds.tokensBetween(fromMs, toMs);
    };
    const store = { ...parts.store.holds, tokensBetween };
    const holds = new QuotaHolds({ store, clock: parts.clock, logger });
    await holds.load();
    await holds.enforce([{ id: route, dailyTokenQuota: null }]);
    const enforced = holds.enforce([limited]);
    holds.used(limited, 40, noon);
    expect(holds.isHeld(route)).toBe(false);
    release();
    await enforced;
    expect(holds.isHeld(route)).toBe(true);
  });

  it('sums up again and again until the store answers; closing ends it', async () => {
    vi.useFakeTimers();
    const { clock, store } = fresh();
    let [tries, answersFrom] = [0, 4];
    const tokensBetween = async () => {
      if (++tries < answersFrom) throw new Error('away');
      return new Map([[route, 100]]);
    };
    const holds = new QuotaHolds({ store: { ...store.holds, tokensBetween }, clock, logger });
    await holds.load();
    const enforced = holds.enforce([limited]);
    for (let seconds = 0; tries < 4 && seconds < 60; seconds++) await vi.advanceTimersByTimeAsync(1000);
    await enforced;
    expect([tries, holds.isHeld(route)]).toEqual([4, true]);
    answersFrom = Number.POSITIVE_INFINITY;
    await holds.load();
    await vi.advanceTimersByTimeAsync(2000);
    await holds.close();
    const stopped = tries;
    await vi.advanceTimersByTimeAsync(10_000);
    expect([tries > 5, tries]).toEqual([true, stopped]);
  });

  it('holds at once where an earlier process used it up and died before it wrote the hold', async () => {
    const parts = fresh();
    const row = aGeneration({ servedModel: route, createdAt: noon - 1, promptTokens: 60, completionTokens: 40 });
    parts.store.generationRows.set(row.id, row);
    const holds = await restarted(parts);
    await holds.enforce([{ id: 'zeta/meta/llama/global', dailyTokenQuota: 1 }, limited]);
    expect(holds.isHeld(route)).toBe(true);
    expect(holds.isHeld('zeta/meta/llama/global')).toBe(false);
  });

  it('a quota that a reload of the catalogue has brought counts what was used before it', async () => {
    const { holds } = fresh();
    holds.used({ id: route, dailyTokenQuota: null }, 150, noon);
    await holds.enforce([limited]);
    expect(holds.isHeld(route)).toBe(true);
  });
});

describe('lifting', () => {
  it('is false where the route is not held', async () => {
    const { store, holds } = fresh();
    expect(await holds.lift(route)).toBe(false);
    expect(store.holdRows.size).toBe(0);
  });

  it('frees the route, also after a restart; the upstream may hold it again', async () => {
    const parts = fresh();
    parts.holds.hold(route, 'upstream');
    expect(await parts.holds.lift(route)).toBe(true);
    expect(parts.holds.isHeld(route)).toBe(false);
    expect((await restarted(parts)).isHeld(route)).toBe(false);
    parts.holds.hold(route, 'upstream');
    await parts.holds.close();
    expect(parts.holds.isHeld(route)).toBe(true);
    expect((await restarted(parts)).isHeld(route)).toBe(true);
  });

  it('a lifted quota of the route itself binds again only after midnight, also across a restart', async () => {
    const parts = fresh();
    parts.holds.used(limited, 100, noon);
    await parts.holds.lift(route);
    parts.holds.used(limited, 100, noon);
    expect(parts.holds.isHeld(route)).toBe(false);
    parts.holds.hold(route, 'upstream');
    await parts.holds.lift(route);
    const row = aGeneration({ servedModel: route, createdAt: noon - 1, promptTokens: 200, completionTokens: 0 });
    parts.store.generationRows.set(row.id, row);
    const holds = await restarted(parts);
    await holds.enforce([limited]);
    expect(holds.isHeld(route)).toBe(false);
    parts.clock.setWall(midnight);
    holds.used(limited, 100, midnight);
    expect(holds.isHeld(route)).toBe(true);
  });

  it('needs the store: the hold stays where it is away, there and here', async () => {
    const parts = fresh();
    parts.holds.hold(route, 'upstream');
    parts.store.away = true;
    await expect(parts.holds.lift(route)).rejects.toThrow();
    expect(parts.holds.isHeld(route)).toBe(true);
    parts.store.away = false;
    await parts.holds.close();
    expect((await restarted(parts)).isHeld(route)).toBe(true);
  });

  it('overtakes a write of the hold that is still under way', async () => {
    const parts = fresh();
    let release = () => {};
    parts.store.hold = new Promise((resolve) => {
      release = resolve;
    });
    parts.holds.hold(route, 'upstream');
    const lifted = [parts.holds.lift(route), parts.holds.lift(route)];
    release();
    expect(await Promise.all(lifted)).toEqual([true, true]);
    expect((await restarted(parts)).isHeld(route)).toBe(false);
  });
});
