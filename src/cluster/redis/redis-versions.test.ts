import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { until, useRedis, withinReach } from '../../../tests/support/redis-shared-state.js';
import type { Subject } from '../ports.js';

const redis = useRedis();
const subjects: Subject[] = ['key:a', 'account:a', 'states', 'catalogue'];

describe('versions in Redis', () => {
  it('are made where there are none, and are then the same for every process', async () => {
    const states = [await redis.open(), await redis.open()];
    await withinReach(states, async () => {
      const all = await Promise.all(
        [...states, ...states, ...states].map(({ versions }) => versions.current(subjects)),
      );
      expect(all[0]).toHaveLength(4);
      for (const versions of all) expect(versions).toEqual(all[0]);
    });
  });

  it('are new ones after a raise, for the subjects that were raised and no others, and never again what they were', async () => {
    const states = [await redis.open(), await redis.open()];
    await withinReach(states, async () => {
      const seen = new Set<string>();
      for (let i = 0; i < 50; i++) {
        await states[i % 2]!.versions.raise(['key:a', 'states']);
        const [key] = (await states[(i + 1) % 2]!.versions.current(['key:a']))!;
        expect(seen.has(key!)).toBe(false);
        seen.add(key!);
      }
      const before = await states[0]!.versions.current(subjects);
      await states[1]!.versions.raise(['key:a']);
      const after = await states[0]!.versions.current(subjects);
      expect(after!.map((version, i) => version === before![i])).toEqual([false, true, true, true]);
    });
  });

  it('end by themselves after days', async () => {
    const state = await redis.open();
    const client = new Redis(redis.server.url);
    await withinReach([state], async () => {
      await state.versions.raise(['states']);
      await state.versions.current(['catalogue']);
      for (const subject of ['states', 'catalogue'] as const) {
        const days = (await client.pttl(state.versions.keyOf(subject))) / 86_400_000;
        expect(days).toBeGreaterThan(1);
        expect(days).toBeLessThan(30);
      }
    });
    client.disconnect();
  });

  it('are raised by an empty list without anything', async () => {
    const state = await redis.open();
    await state.versions.raise([]);
  });
});

describe('a raise that Redis could not take', () => {
  it('waits for a Redis that comes back soon, and is then in it', async () => {
    const states = [await redis.open(), await redis.open()];
    const [before] = (await withinReach(states, () => states[1]!.versions.current(['key:a'])))!;
    redis.server.freeze();
    const raised = states[0]!.versions.raise(['key:a']);
    await until(() => states.every(({ link }) => !link.up));
    let done = false;
    void raised.then(() => {
      done = true;
    });
    await pause(100);
    expect(done).toBe(false);
    redis.server.thaw();
    await raised;
    await withinReach(states, async () => {
      expect(await states[1]!.versions.current(['key:a'])).not.toContain(before);
    });
  });

  it('is given up after three seconds, and made up for before the link is announced as back', async () => {
    const state = await redis.open();
    const client = new Redis(redis.server.url);
    const before = (await withinReach([state], () => state.versions.current(['key:a', 'key:b'])))!;
    const whenBack = new Promise<(string | null)[]>((resolve) => {
      // Sent on another connection at the moment of the announcement: what is in Redis by then was there before.
      state.link.onBack(() => resolve(client.mget(state.versions.keyOf('key:a'), state.versions.keyOf('key:b'))));
    });
    redis.server.freeze();
    const startMs = performance.now();
    await Promise.all([state.versions.raise(['key:a']), state.versions.raise(['key:b'])]);
    expect(performance.now() - startMs).toBeGreaterThan(2_900);
    expect(state.link.up).toBe(false);
    redis.server.thaw();
    const after = await whenBack;
    expect(after[0]).not.toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
    client.disconnect();
  });

  it('is not waited for where nobody has to: not at all once Redis is away, and then it is made up for all the same', async () => {
    const state = await redis.open();
    const [before] = (await withinReach([state], () => state.versions.current(['account:a'])))!;
    redis.server.freeze();
    // Sent while Redis is taken for live: over when it is known to be away.
    await state.versions.raiseWithinReach(['account:a']);
    expect(state.link.up).toBe(false);
    await state.versions.raiseWithinReach(['account:b']);
    expect(state.link.up).toBe(false);
    redis.server.thaw();
    await withinReach([state], async () => {
      expect(await state.versions.current(['account:a'])).not.toContain(before);
    });
  });

  it('is made up for in thousands, also by a Redis that was restarted empty', async () => {
    const state = await redis.open();
    await until(() => state.link.up);
    await redis.server.kill();
    await until(() => !state.link.up);
    const many = Array.from({ length: 2_500 }, (_, i): Subject => `key:${i}`);
    const raised = state.versions.raise(many);
    await redis.server.restart();
    await raised;
    await until(() => state.link.up);
    const client = new Redis(redis.server.url);
    expect(await client.keys(state.versions.keyOf('key:*' as Subject))).toHaveLength(2_500);
    client.disconnect();
  });
});
