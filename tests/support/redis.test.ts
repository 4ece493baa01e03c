import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startRedis, type TestRedis } from './redis.js';

async function started(kind?: 'wasm'): Promise<{ server: TestRedis; client: Redis }> {
  const server = await startRedis(kind ? { kind } : {});
  const client = new Redis(server.url, { retryStrategy: () => 20 });
  client.on('error', () => {});
  onTestFinished(async () => {
    client.disconnect();
    await server.stop();
  });
  return { server, client };
}

/** Whichever is found on this machine, and the one that a fresh clone always has. */
describe.each([undefined, 'wasm'] as const)('a Redis for tests (%s)', (kind) => {
  it('answers promptly, runs scripts, and keeps time', async () => {
    const { server, client } = await started(kind);
    if (kind) expect(server.kind).toBe(kind);
    const times: number[] = [];
    for (let i = 0; i < 50; i++) {
      const startMs = performance.now();
      await client.incr('k');
      times.push(performance.now() - startMs);
    }
    // One of the kinds needs a hint to answer before its next timer, which would be 100 ms a command. A busy machine delays some of them.
    expect(times.sort((a, b) => a - b)[10]).toBeLessThan(80);
    expect(
      await client.eval("return {redis.call('GET', KEYS[1]), redis.call('PEXPIRETIME', KEYS[1])}", 1, 'k'),
    ).toEqual(['50', -1]);
    await client.set('short', '1', 'PX', 20);
    await pause(60);
    expect(await client.exists('short')).toBe(0);
  });

  it('can be frozen and thawed, killed and restarted empty on its address', async () => {
    const { server, client } = await started(kind);
    await client.set('k', '1');
    server.freeze();
    const answer = client.get('k');
    expect(await Promise.race([answer, pause(200, 'nothing')])).toBe('nothing');
    server.thaw();
    expect(await answer).toBe('1');
    const { pid } = server;
    await server.kill();
    expect(server.pid).toBe(null);
    await server.restart();
    expect(server.pid).not.toBe(pid);
    expect(await client.get('k')).toBe(null);
  });
});

describe('a Redis that belongs to somebody else', () => {
  it('is used where that is enough, and never stopped', async () => {
    const before = process.env.REDIS_URL;
    process.env.REDIS_URL = 'redis://192.0.2.1:6379';
    try {
      const foreign = await startRedis({ shared: true });
      expect(foreign).toMatchObject({ url: 'redis://192.0.2.1:6379', kind: 'foreign', pid: null });
      for (const act of [foreign.kill, foreign.freeze, foreign.thaw, foreign.restart]) expect(act).toThrow('REDIS_URL');
      await foreign.stop();
    } finally {
      if (before === undefined) delete process.env.REDIS_URL;
      else process.env.REDIS_URL = before;
    }
  });
});
