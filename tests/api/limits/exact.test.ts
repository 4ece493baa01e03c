/** Exactly the limit is admitted in a window, whatever comes at once, for keys and for addresses, on all paths together. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../support/manual-clock.js';
import { ask, type Bench, useGateway } from '../harness.js';
import { Burst, type BurstReply, burstRequest } from './burst.js';

const limit = 100;
const together = 1_000;
/** `LODESTONE_FULL=1` plays twenty. */
const windows = process.env.LODESTONE_FULL ? 20 : 4;
const windowMs = 60_000;
const timeout = 120_000;

/** Sends the kinds in turns, all at once, and holds the replies against the limit. */
async function expectExactly(burst: Burst, kinds: readonly Buffer[], type: string): Promise<BurstReply[]> {
  const replies = await burst.send(Array.from({ length: together }, (_, index) => kinds[index % kinds.length]!));
  const refused = replies.filter(({ status }) => status === 429);
  const admitted = replies.filter(({ status }) => status !== 429);
  expect([admitted.length, refused.length]).toEqual([limit, together - limit]);
  const rows = refused.map(({ text }) => [
    /retry-after: (.*)\r/i.exec(text)?.[1],
    /"type":"(.*?)"/.exec(text)?.[1],
    /"code":"(.*?)"/.exec(text)?.[1],
  ]);
  expect([...new Set(rows.map(String))]).toEqual([`60,${type},rate_limit_exceeded`]);
  return admitted;
}

function useBurst(bench: Bench): { burst: Burst } {
  const held = {} as { burst: Burst };
  beforeAll(async () => {
    held.burst = await Burst.open(bench.gateway.url);
  });
  afterAll(() => held.burst?.close());
  return held;
}

describe('1,000 requests at once against a limit of 100 of a key', () => {
  const clock = new ManualClock();
  const bench = useGateway({ clock, config: { limits: { key_requests_per_minute: limit } } });
  const held = useBurst(bench);

  it(`exactly 100 are admitted and 900 refused with Retry-After, in each of ${windows} windows, chats, bad chats and resources mixed`, {
    timeout,
  }, async () => {
    const { gateway, upstream } = bench;
    const { key } = await gateway.createAccount();
    const kinds = [
      burstRequest('POST', '/v1/chat/completions', { key, body: ask() }),
      burstRequest('GET', '/v1/credits', { key }),
      burstRequest('POST', '/v1/chat/completions', { key, body: ask({ temperature: 9 }) }),
    ];
    for (let window = 0; window < windows; window++) {
      upstream.reset();
      const admitted = await expectExactly(held.burst, kinds, 'rate_limit_error');
      const served = admitted.filter(({ text }) => text.includes('"object":"chat.completion"'));
      expect(upstream.calls).toHaveLength(served.length);
      expect(new Set(admitted.map(({ status }) => status))).toEqual(new Set([200, 400]));
      clock.advance(windowMs);
    }
  });
});

describe('1,000 requests at once against a limit of 100 of an address', () => {
  const clock = new ManualClock();
  const config = { limits: { ip_requests_per_minute: limit }, server: { trusted_proxies: ['127.0.0.1/32'] } };
  const held = useBurst(useGateway({ clock, config }));

  it(`exactly 100 are admitted and 900 refused with Retry-After, in each of ${windows} windows, on every kind of path`, {
    timeout,
  }, async () => {
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    const kinds = [
      burstRequest('POST', '/v1/chat/completions', { headers, body: ask() }),
      burstRequest('GET', '/v1/key', { headers }),
      burstRequest('GET', '/nothing', { headers }),
      burstRequest('DELETE', '/v1/chat/completions', { headers }),
      burstRequest('GET', '/admin/v1/accounts', { headers }),
    ];
    for (let window = 0; window < windows; window++) {
      const admitted = await expectExactly(held.burst, kinds, 'invalid_request_error');
      expect(new Set(admitted.map(({ status }) => status))).toEqual(new Set([401, 404, 405]));
      clock.advance(windowMs);
    }
  });
});
