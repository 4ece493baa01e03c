import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { useRedis, withinReach } from '../../../tests/support/redis-shared-state.js';

const redis = useRedis({ shared: true });

const refillMs = 60_000;
const of = (name: string, capacity: number, ownRefillMs = refillMs) => ({ name, capacity, refillMs: ownRefillMs });

describe('buckets that processes share', () => {
  it('admit no more guesses of three processes at once than of one, and tell the wait', async () => {
    const states = [await redis.open(), await redis.open(), await redis.open()];
    await withinReach(states, async (attempt) => {
      const bucket = of(`many${attempt}`, 10);
      const asks = states.flatMap(({ buckets }) => Array.from({ length: 8 }, () => buckets.take([bucket])));
      const waits = await Promise.all(asks);
      expect(waits.filter((waitMs) => waitMs === 0)).toHaveLength(10);
      for (const waitMs of waits.filter((ms) => ms > 0)) expect(waitMs).toBeGreaterThan(refillMs - 5_000);
    });
  });

  it('take of all or of none, in Redis and in the process', async () => {
    const states = [await redis.open(), await redis.open()];
    await withinReach(states, async (attempt) => {
      const [one, other] = states.map(({ buckets }) => buckets);
      const [small, large] = [of(`small${attempt}`, 1), of(`large${attempt}`, 2)];
      expect(await one!.take([small, large])).toBe(0);
      expect(await other!.take([small, large])).toBeGreaterThan(0);
      expect(await other!.take([large]), 'the second is still there').toBe(0);
      expect(await other!.take([large])).toBeGreaterThan(0);
    });
  });

  it('get back what was no guess, wherever it was taken, and refill by themselves', async () => {
    const states = [await redis.open(), await redis.open()];
    await withinReach(states, async (attempt) => {
      const [one, other] = states.map(({ buckets }) => buckets);
      const bucket = of(`back${attempt}`, 1, 100);
      expect(await one!.take([bucket])).toBe(0);
      await one!.giveBack([bucket]);
      expect(await other!.take([bucket])).toBe(0);
      const waitMs = await one!.take([bucket]);
      expect(waitMs).toBeGreaterThan(0);
      await pause(waitMs + 5);
      expect(await one!.take([bucket])).toBe(0);
    });
  });

  it('show Redis no email, and leave nothing behind in it', async () => {
    const state = await redis.open();
    const client = new Redis(redis.server.url);
    await withinReach([state], async () => {
      await state.buckets.take([of('account lovelace@example.com', 5)]);
      const keys = await client.keys(`${state.link.prefix}b:*`);
      expect(keys.length).toBeGreaterThan(0);
      // Three letters would be found by chance in the random name of the fleet.
      expect(keys.join()).not.toMatch(/lovelace|@/);
      for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(0);
    });
    client.disconnect();
  });
});

it('count within the process while Redis is away', async () => {
  const { buckets } = await redis.open({ redisUrl: 'redis://127.0.0.1:1' });
  const bucket = of('away', 1);
  expect(await buckets.take([bucket])).toBe(0);
  expect(await buckets.take([bucket])).toBeGreaterThan(0);
  await buckets.giveBack([bucket]);
  expect(await buckets.take([bucket])).toBe(0);
});
