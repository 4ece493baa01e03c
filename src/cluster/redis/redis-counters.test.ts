import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { describeCounters } from '../../../tests/support/counters-suite.js';
import { until, useRedis, withinReach } from '../../../tests/support/redis-shared-state.js';
import type { Take } from '../ports.js';
import type { RedisCounters } from './redis-counters.js';

const windowMs = 400;
/** A timer may be a little early. */
const slackMs = 5;

const redis = useRedis({ shared: true });

describeCounters(
  'counters in Redis',
  async () => {
    const state = await redis.open();
    return { counters: state.counters('k', { windowMs }), windowMs, pass: (ms) => pause(ms + slackMs) };
  },
  { retry: 3 },
);

describe('counters that processes share', () => {
  const admitted = (takes: Take[]) => takes.filter((take) => take.admitted).length;
  const takeMany = (counters: RedisCounters, name: string, times: number, limit: number) =>
    Array.from({ length: times }, async () => counters.take(name, 1, limit));

  it('admit exactly 100 of 1,000 takes that three processes make at once', async () => {
    const states = [await redis.open(), await redis.open(), await redis.open()];
    await withinReach(states, async (attempt) => {
      const shares = states.map((state, i) =>
        takeMany(state.counters('requests'), `k${attempt}`, 333 + (i === 0 ? 1 : 0), 100),
      );
      expect(admitted(await Promise.all(shares.flat()))).toBe(100);
    });
  });

  it('see at once what another process has taken and given back', async () => {
    const states = [await redis.open(), await redis.open()];
    const [one, other] = states.map((state) => state.counters('tokens'));
    await withinReach(states, async (attempt) => {
      const name = `k${attempt}`;
      const taken = await one!.take(name, 60, 100);
      expect(await other!.take(name, 60, 100)).toMatchObject({ admitted: false, used: 60 });
      await taken.adjust(-50);
      expect(await other!.take(name, 60, 100)).toMatchObject({ admitted: true, used: 70 });
      expect(other!.peek(name).used).toBe(70);
    });
  });

  it('know a correction of their own at once, before Redis has answered', async () => {
    const state = await redis.open();
    const counters = state.counters('tokens');
    await withinReach([state], async (attempt) => {
      const name = `own${attempt}`;
      const taken = await counters.take(name, 60, 100);
      const adjusted = taken.adjust(-50);
      expect(counters.peek(name).used).toBe(10);
      await adjusted;
      expect(counters.peek(name).used).toBe(10);
    });
  });

  it('keep families and fleets apart', async () => {
    const ours = await redis.open();
    const theirs = await redis.open({ namespace: 'another' });
    await withinReach([ours, theirs], async (attempt) => {
      const name = `${Date.now()}-${attempt}`;
      for (const counters of [ours.counters('a'), ours.counters('b'), theirs.counters('a')]) {
        expect((await counters.take(name, 1, 1)).admitted).toBe(true);
        expect((await counters.take(name, 1, 1)).admitted).toBe(false);
      }
    });
  });

  it('leave nothing in Redis that does not end by itself, also where a take or a correction comes late', async () => {
    const state = await redis.open();
    const counters = state.counters('k', { windowMs: 100 });
    const client = new Redis(redis.server.url);
    await withinReach([state], async (attempt) => {
      const takes = [await counters.take(`a${attempt}`, 1, 1), await counters.take(`b${attempt}`, 5, 1)];
      await pause(120);
      for (const take of takes) await take.adjust(-1);
      await state.versions.current(['states', 'key:abc']);
      const keys = await client.keys(`${state.link.prefix}*`);
      expect(keys.length).toBeGreaterThan(1);
      for (const key of keys) expect(await client.pttl(key), key).toBeGreaterThan(0);
      expect(keys.filter((key) => key.includes(':c:k:'))).toEqual([]);
    });
    client.disconnect();
  });

  it('give a counter that has lost its end a new one', async () => {
    const state = await redis.open();
    const counters = state.counters('k');
    const client = new Redis(redis.server.url);
    await withinReach([state], async (attempt) => {
      const name = `a${attempt}`;
      await counters.take(name, 1, 1);
      expect(await client.persist(counters.keyOf(name))).toBe(1);
      expect((await counters.take(name, 1, 1)).admitted).toBe(false);
      expect(await client.pttl(counters.keyOf(name))).toBeGreaterThan(0);
    });
    client.disconnect();
  });

  it('take whatever name they are given, and short keys only reach Redis', async () => {
    const state = await redis.open();
    const counters = state.counters('ip');
    const hostile = [
      '',
      '*',
      'a\r\nFLUSHALL\r\n',
      '\0\u{1f4a3}\u202e',
      '__proto__',
      'constructor',
      '{a}{b}',
      'x'.repeat(5_000_000),
      `${'x'.repeat(4_999_999)}y`,
    ];
    await withinReach([state], async (attempt) => {
      for (const name of hostile.map((text) => (attempt === 1 ? text : `${text}${attempt}`))) {
        const other = counters.keyOf(name);
        expect(other.length).toBeLessThan(200);
        expect((await counters.take(name, 1, 1)).admitted).toBe(true);
        expect((await counters.take(name, 1, 1)).admitted).toBe(false);
        expect(counters.peek(name).used).toBe(1);
      }
    });
  });

  it('bear figures that are none, or too big, beside good ones', async () => {
    const state = await redis.open();
    const counters = state.counters('tokens');
    const limits = [Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY];
    const amounts = [Number.NaN, 1.5, 1e300, Number.POSITIVE_INFINITY, 3];
    await withinReach([state], async (attempt) => {
      const takes = await Promise.all(
        limits.flatMap((limit) => amounts.map((amount) => counters.take(`${attempt}${limit}${amount}`, amount, limit))),
      );
      for (const take of takes) expect(take.admitted).toBe(true);
      for (const take of takes) await take.adjust(Number.NaN);
      expect(takes.map(({ used }) => used)).toEqual([0, 2, 1e12, 1e12, 3, 0, 2, 1e12, 1e12, 3]);
      expect(state.link.up).toBe(true);
    });
  });

  it('remember a bounded number of names here, and count all of them in Redis', async () => {
    const state = await redis.open();
    const counters = state.counters('ip', { namesMax: 100 });
    expect(counters).toBe(state.counters('ip'));
    const bounded = state.counters('peers', { namesMax: 100 });
    await withinReach([state], async (attempt) => {
      const names = Array.from({ length: 2_000 }, (_, i) => `2001:db8:${attempt}:${i}::/64`);
      await Promise.all(names.map((name) => bounded.take(name, 1, 1)));
      expect(bounded.size).toBeLessThanOrEqual(200);
      const again = await Promise.all(names.map((name) => bounded.take(name, 1, 1)));
      expect(admitted(again)).toBe(0);
    });
  });
});

describe('counters that have lost Redis', () => {
  const own = useRedis();

  it('go on counting from the last known sum, refuse what it refuses, and begin nothing anew', async () => {
    const state = await own.open();
    const counters = state.counters('requests');
    await withinReach([state], async () => {
      await Promise.all(Array.from({ length: 60 }, () => counters.take('k', 1, 100)));
    });
    await own.server.kill();
    await until(() => !state.link.up);
    const takes = Array.from({ length: 100 }, () => counters.take('k', 1, 100) as Take);
    expect(takes.filter((take) => take.admitted)).toHaveLength(40);
    expect(takes[99]!.resetMs).toBeGreaterThan(0);
    expect(takes[99]!.resetMs).toBeLessThanOrEqual(60_000);
    expect(counters.peek('k').used).toBe(100);
    takes[0]!.adjust(-1);
    expect(counters.peek('k').used).toBe(99);
    await own.server.restart();
  });

  it('tell Redis when it is back what they have counted meanwhile, so that nobody has a limit once more', async () => {
    const states = [await own.open(), await own.open()];
    const [one, other] = states.map((state) => state.counters('requests'));
    await withinReach(states, () => Promise.all(Array.from({ length: 10 }, () => one!.take('again', 1, 100))));
    await own.server.kill();
    await until(() => states.every(({ link }) => !link.up));
    for (let i = 0; i < 100; i++) one!.take('again', 1, 100);
    for (let i = 0; i < 30; i++) other!.take('again', 1, 100);
    await own.server.restart();
    await until(() => states.every(({ link }) => link.up));
    for (const counters of [other, one]) {
      const take = await counters!.take('again', 1, 100);
      expect(take).toMatchObject({ admitted: false, used: 100 });
      expect(take.resetMs).toBeLessThanOrEqual(60_000);
    }
  });

  it('put a correction that Redis did not get on the window that they know', async () => {
    const state = await own.open();
    const counters = state.counters('tokens');
    const take = await withinReach([state], (attempt) => Promise.resolve(counters.take(`k${attempt}`, 50, 100)));
    const name = (take as Take & { name: string }).name;
    await own.server.kill();
    await until(() => !state.link.up);
    await take.adjust(20);
    expect(counters.peek(name).used).toBe(70);
    await own.server.restart();
    await until(() => state.link.up);
    expect(await counters.take(name, 1, 100)).toMatchObject({ admitted: true, used: 71 });
  });
});
