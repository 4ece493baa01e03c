import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { measuredTime } from '../../../tests/support/measured-time.js';
import { until, useRedis, withinReach, withLag } from '../../../tests/support/redis-shared-state.js';
import { silentLogger } from '../../base/logger.js';
import { patientWaitMs, requestWaitMs } from './link-options.js';
import type { SharedState } from './open-shared-state.js';

const redis = useRedis();
const ask = (state: SharedState) =>
  state.admission.ask({
    peer: { name: '192.0.2.1', limit: 1e6 },
    key: { id: 'abcdefghij', accountId: 'acc', limit: 1e6, chat: null },
  });

/** The promised wait plus the process's own delay. A process that was late waits a second time. */
const allowedMs = (promisedMs: number, lagMs: number, waitMs: number) => promisedMs + lagMs + (lagMs > 4 ? waitMs : 0);

describe('a Redis that stands still', () => {
  it('costs no request more than 50 ms, and only the first ones anything', async () => {
    const state = await redis.open();
    await withinReach([state], async () => {
      for (let i = 0; i < 20; i++) expect(await ask(state)).not.toBe(null);
    });
    redis.server.freeze();
    try {
      const { result: slowestMs, lagMs } = await withLag(async () => {
        let slowest = 0;
        const asks = Array.from({ length: 200 }, async (_, i) => {
          await pause(i / 4);
          const startMs = performance.now();
          expect(await ask(state)).toBe(null);
          slowest = Math.max(slowest, performance.now() - startMs);
        });
        await Promise.all(asks);
        return slowest;
      });
      expect(slowestMs, measuredTime).toBeLessThanOrEqual(allowedMs(50, lagMs, requestWaitMs));
      expect(state.link.up).toBe(false);
      // Nothing but microtasks: none of them waits for a turn of the event loop.
      let turned = false;
      setImmediate(() => {
        turned = true;
      });
      for (let i = 0; i < 1000; i++) expect(await ask(state)).toBe(null);
      expect(turned).toBe(false);
    } finally {
      redis.server.thaw();
    }
    expect(await until(() => state.link.up), measuredTime).toBeLessThan(5_000);
    expect(await withinReach([state], () => ask(state))).not.toBe(null);
  });

  it('is noticed within a second by a process that has nothing to ask, and found again within one', async () => {
    const states = [await redis.open(), await redis.open()];
    for (const { link } of states) await until(() => link.up);
    for (const freezeMs of [0, 2_600]) {
      redis.server.freeze();
      const { result: noticedMs, lagMs } = await withLag(() => until(() => states.every(({ link }) => !link.up)));
      expect(noticedMs, measuredTime).toBeLessThan(allowedMs(1_000, lagMs, patientWaitMs));
      await pause(freezeMs);
      redis.server.thaw();
      const back = await withLag(() => until(() => states.every(({ link }) => link.up)));
      expect(back.result, measuredTime).toBeLessThan(allowedMs(1_000, back.lagMs, patientWaitMs));
    }
  });

  it('is not believed afterwards: answers that come late are dropped', async () => {
    const state = await redis.open();
    await until(() => state.link.up);
    redis.server.freeze();
    const late = ask(state);
    expect(await late).toBe(null);
    const used = state.counters('requests').peek('abcdefghij').used;
    redis.server.thaw();
    await until(() => state.link.up);
    // Redis did it after all, which nobody here notices until the next answer.
    expect(state.counters('requests').peek('abcdefghij').used).toBe(used);
    const next = await withinReach([state], () => ask(state));
    expect(next?.request?.used).toBeGreaterThan(used + 1);
  });

  it('has every listener told of each outage before anybody goes on without it', async () => {
    const state = await redis.open();
    await until(() => state.link.up);
    const events: string[] = [];
    state.link.onAway(() => {
      throw new Error('a listener that fails');
    });
    state.link.onAway(() => events.push('away'));
    state.link.onBack(() => events.push('back'));
    for (let outage = 0; outage < 2; outage++) {
      redis.server.freeze();
      await ask(state).then(() => events.push('went on'));
      redis.server.thaw();
      await until(() => state.link.up);
    }
    expect(events.slice(0, 3)).toEqual(['away', 'went on', 'back']);
    expect(events.filter((event) => event === 'away').length).toBeGreaterThanOrEqual(2);
  });
});

describe('a Redis that is gone', () => {
  it('is away at once, and back within five seconds after it was started again, empty', async () => {
    const state = await redis.open();
    const before = await withinReach([state], () => state.versions.current(['states', 'key:a']));
    for (let i = 0; i < 3; i++) await ask(state);
    await redis.server.kill();
    expect(await until(() => !state.link.up), measuredTime).toBeLessThan(5_000);
    expect(await ask(state)).toBe(null);
    await pause(300);
    await redis.server.restart();
    expect(await until(() => state.link.up), measuredTime).toBeLessThan(5_000);
    await withinReach([state], async () => {
      expect(await ask(state)).toMatchObject({ keyVersion: null, request: { admitted: true } });
      const after = await state.versions.current(['states', 'key:a']);
      expect(after).toHaveLength(2);
      for (const version of after!) expect(before).not.toContain(version);
    });
  });

  it('lets a process start without it, says so in the log without the password, and is used when it comes', async () => {
    const lines: object[] = [];
    const logger = { ...silentLogger, warn: (fields: object, message: string) => lines.push({ ...fields, message }) };
    await redis.server.kill();
    const state = await redis.open({ redisUrl: redis.server.url.replace('//', '//default:secret-word@'), logger });
    expect(state.link.up).toBe(false);
    expect(await state.versions.current(['states'])).toBe(null);
    expect(state.counters('requests').take('k', 1, 1)).toMatchObject({ admitted: true });
    expect(lines).toEqual([
      {
        redis: expect.stringMatching(/^redis:\/\/default:\*\*\*@127\.0\.0\.1:\d+$/),
        reason: expect.stringContaining('ECONNREFUSED'),
        message: 'shared state is out of reach',
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain('secret-word');
    await redis.server.restart();
  });

  it('may be closed at any time, and leaves nothing open', async () => {
    const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
    const socketsBefore = sockets();
    const up = await redis.open();
    await until(() => up.link.up);
    const asked = ask(up);
    await up.close();
    expect(await asked).toBe(null);
    expect(await ask(up)).toBe(null);
    await redis.server.kill();
    const away = await redis.open();
    await away.close();
    expect(away.link.up).toBe(false);
    await redis.server.restart();
    await until(() => sockets() <= socketsBefore, 1_000);
  });
});

describe('a Redis that refuses', () => {
  it('to take a change that is then acknowledged without it has every process told, also one that had nothing to ask', async () => {
    const [idle, changing] = [await redis.open(), await redis.open()];
    let lost = 0;
    idle.versions.onLost(() => lost++);
    const client = new Redis(redis.server.url);
    await until(() => idle.link.up && changing.link.up);
    const before = await withinReach([idle], () => idle.versions.current(['key:a']));
    await client.config('SET', 'maxmemory', '1');
    try {
      await changing.versions.raise(['key:a']);
      expect(lost).toBeGreaterThan(0);
      // It dies before it could repeat the raise, so what others hold still looks current.
      await changing.close();
    } finally {
      await client.config('SET', 'maxmemory', '0');
      client.disconnect();
    }
    await until(() => idle.link.up);
    expect(await withinReach([idle], () => idle.versions.current(['key:a']))).toEqual(before);
  });

  it('because it lost the scripts: is away until it has them again', async () => {
    const state = await redis.open();
    const client = new Redis(redis.server.url);
    await withinReach([state], () => ask(state));
    await client.script('FLUSH');
    expect(await ask(state)).toBe(null);
    expect(await until(() => state.link.up), measuredTime).toBeLessThan(5_000);
    expect(await withinReach([state], () => ask(state))).not.toBe(null);
    client.disconnect();
  });

  it('because it is full or only a replica: stays away for as long, and nothing fails', async () => {
    const state = await redis.open();
    const client = new Redis(redis.server.url);
    await until(() => state.link.up);
    for (const [refuse, allow] of [
      [() => client.config('SET', 'maxmemory', '1'), () => client.config('SET', 'maxmemory', '0')],
      [() => client.replicaof('127.0.0.1', '1'), () => client.replicaof('NO', 'ONE')],
    ] as const) {
      await refuse();
      expect(await ask(state)).toBe(null);
      await pause(600);
      expect(state.link.up).toBe(false);
      expect(await state.counters('requests').take('k', 1, 1e6)).toMatchObject({ admitted: true });
      await allow();
      expect(await until(() => state.link.up), measuredTime).toBeLessThan(5_000);
    }
    client.disconnect();
  });
});
