/** Limits while the wall clock jumps, and with more peers than memory could hold. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Burst, burstRequest } from '../api/limits/burst.js';
import { catalogueOf, startGateway, type TestGateway } from '../support/gateway.js';
import { ManualClock } from '../support/manual-clock.js';
import { scaled } from './fixture.js';

const hourMs = 3_600_000;
const start = Date.parse('2026-03-01T12:00:00Z');
const limit = 10;
const addressLimit = scaled(200, 1_000);
const clock = new ManualClock(start);
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({
    clock,
    catalogue: catalogueOf({ acme: 'http://127.0.0.1:1' }),
    config: {
      server: { trusted_proxies: ['127.0.0.1/32'] },
      limits: { key_requests_per_minute: limit, ip_requests_per_minute: addressLimit },
    },
  });
});
afterAll(() => gateway?.stop());

describe('steps of the wall clock', () => {
  it.each([
    ['an hour back', -hourMs],
    ['an hour forward', hourMs],
    ['a year forward', 365 * 24 * hourMs],
  ])('%s neither empties nor refills a window, nor moves its end', async (_, stepMs) => {
    clock.setWall(start);
    const { key } = await gateway.createAccount();
    const ping = () => gateway.call('GET', '/v1/key', undefined, { key });
    for (let i = 0; i < limit / 2; i++) expect((await ping()).status).toBe(200);
    clock.setWall(start + stepMs);
    for (let i = 0; i < limit / 2; i++) expect((await ping()).status).toBe(200);
    const refused = await ping();
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
    clock.setWall(start);
    expect((await ping()).headers['retry-after']).toBe('60');
    clock.advance(60_000);
    expect((await ping()).status).toBe(200);
  });
});

/** What is held, without what has only not been collected yet. */
function heldMb(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

describe('a flood of peers', () => {
  const peers = scaled(2_000, 300_000);
  /** Each with a /64 of its own. */
  const address = (peer: number) => `2001:db8:${(peer >> 16).toString(16)}:${(peer & 0xffff).toString(16)}::1`;
  const from = (forwarded: string) => burstRequest('GET', '/v1/nothing', { headers: { 'x-forwarded-for': forwarded } });

  it(`${peers} peers in a minute: each is served, one that is over its limit stays refused, a new one is served`, {
    timeout: 300_000,
  }, async () => {
    const burst = await Burst.open(gateway.url);
    const statusesOf = async (requests: Buffer[]) => {
      const counts: Record<number, number> = {};
      for (const { status } of await burst.send(requests)) counts[status] = (counts[status] ?? 0) + 1;
      return counts;
    };
    const greedy = Array.from({ length: 1.5 * addressLimit }, () => from('198.51.100.1'));
    expect(await statusesOf(greedy)).toEqual({ 404: addressLimit, 429: addressLimit / 2 });
    const before = heldMb();
    for (let first = 0; first < peers; first += 2_000) {
      const flood = Array.from({ length: Math.min(2_000, peers - first) }, (_, i) => from(address(first + i)));
      expect(await statusesOf(flood)).toEqual({ 404: flood.length });
    }
    expect(await statusesOf([from('198.51.100.1')])).toEqual({ 429: 1 });
    expect(await statusesOf([from('203.0.113.200')])).toEqual({ 404: 1 });
    expect(heldMb() - before).toBeLessThan(scaled(50, 150));
    burst.close();
  });
});
