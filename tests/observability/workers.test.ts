import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chatCatalogue } from '../api/catalogue.js';
import { ask, llama } from '../api/harness.js';
import { type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import { startRedis, type TestRedis } from '../support/redis.js';
import { type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { scrape, since } from './scrape.js';

let upstream: ScriptedUpstream;
let redis: TestRedis;
let gateway: SpawnedGateway;
beforeAll(async () => {
  upstream = await startUpstream();
  redis = await startRedis();
  gateway = await spawnGateway({
    catalogue: chatCatalogue(upstream.url),
    config: { workers: 2, storage: { redis_url: redis.url } },
  });
}, 180_000);
afterAll(async () => {
  await gateway?.stop();
  await redis?.stop();
  await upstream?.stop();
});

const served = `lodestone_served_total{route="${llama}",stream="false",end="complete"}`;

it('with two workers every scrape covers both, whichever answers it, and no counter ever falls', async () => {
  await gateway.account();
  const before = await scrape(gateway);
  const replies = await Promise.all(Array.from({ length: 60 }, () => gateway.chat(ask())));
  expect(replies.every(({ status }) => status === 200)).toBe(true);
  const after = await Promise.all(Array.from({ length: 8 }, () => scrape(gateway)));
  for (const series of after) {
    expect(since(before, series)[served]).toBe(60);
    expect(series.get('lodestone_workers')).toBe(2);
    expect(series.get('lodestone_workers_missing')).toBe(0);
    expect(series.get('lodestone_redis_up')).toBe(1);
  }
});

it('the reported counts of a killed worker stay in the sum', async () => {
  const before = await scrape(gateway);
  process.kill(workersOf(gateway.pid)[0]!, 'SIGKILL');
  const seen: number[] = [];
  let workers = 0;
  for (const end = performance.now() + 20_000; performance.now() < end && !(workers === 2 && seen.length > 5); ) {
    // A connection to the one that was killed is reset.
    const series = await scrape(gateway).catch(() => null);
    if (!series) continue;
    workers = series.get('lodestone_workers')!;
    seen.push(series.get(served)!);
  }
  expect(workers).toBe(2);
  expect(new Set(seen)).toEqual(new Set([before.get(served)]));
});

function workersOf(primary: number): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number));
  return pairs.filter(([, parent]) => parent === primary).map(([pid]) => pid!);
}
