/** F1: exactly the limit is admitted in a window, whatever comes at once, for keys and for addresses, on all paths together. */
import { describe, expect, it } from 'vitest';
import type { Reply } from '../../support/client.js';
import { ManualClock } from '../../support/manual-clock.js';
import { ask, expectError, useGateway } from '../harness.js';

const limit = 100;
const together = 1_000;
const windows = 20;
const windowMs = 60_000;

/** Every path counts: chats and resources in turns, and where the key is not looked at, unknown paths too. */
async function allAtOnce(send: (index: number) => Promise<Reply>): Promise<{ admitted: Reply[]; refused: Reply[] }> {
  const replies = await Promise.all(Array.from({ length: together }, (_, index) => send(index)));
  return {
    admitted: replies.filter(({ status }) => status !== 429),
    refused: replies.filter(({ status }) => status === 429),
  };
}

describe('1,000 requests at once against a limit of 100 (F1, ruling 11)', () => {
  describe('of a key', () => {
    const clock = new ManualClock();
    const bench = useGateway({ clock, config: { limits: { key_requests_per_minute: limit } } });

    it('exactly 100 are admitted and 900 refused with the row of §7.1, in each of 20 windows, chats and resources mixed', {
      timeout: 120_000,
    }, async () => {
      const { gateway, upstream } = bench;
      const { key } = await gateway.createAccount();
      for (let window = 0; window < windows; window++) {
        upstream.reset();
        const { admitted, refused } = await allAtOnce((index) =>
          index % 3 === 0
            ? gateway.call('GET', '/v1/credits', undefined, { key })
            : gateway.chat(ask(index % 3 === 1 ? {} : { temperature: 9 }), { key }),
        );
        expect([window, admitted.length, refused.length]).toEqual([window, limit, together - limit]);
        const served = admitted.filter(({ status, json }) => status === 200 && json.object === 'chat.completion');
        expect(upstream.calls).toHaveLength(served.length);
        expectRefusals(refused, 'rate_limit_error');
        expect(refused[0]!.json.error.message).toMatch(/\brequests\b.*\b100\b/);
        clock.advance(windowMs);
      }
    });
  });

  describe('of an address', () => {
    const clock = new ManualClock();
    const bench = useGateway({
      clock,
      config: { limits: { ip_requests_per_minute: limit }, server: { trusted_proxies: ['127.0.0.1/32'] } },
    });

    it('exactly 100 are admitted and 900 refused with the row of §7.1, in each of 20 windows, on every kind of path', {
      timeout: 120_000,
    }, async () => {
      const { gateway } = bench;
      const { key } = await gateway.createAccount();
      const headers = { 'x-forwarded-for': '203.0.113.7' };
      const kinds = [
        () => gateway.chat(ask(), { key, headers }),
        () => gateway.chat(ask(), { key: null, headers }),
        () => gateway.call('GET', '/v1/key', undefined, { key, headers }),
        () => gateway.call('GET', '/nothing', undefined, { key: null, headers }),
        () => gateway.call('GET', '/admin/v1/accounts', undefined, { key: 'wrong', headers }),
      ];
      for (let window = 0; window < windows; window++) {
        const { admitted, refused } = await allAtOnce((index) => kinds[index % kinds.length]!());
        expect([window, admitted.length, refused.length]).toEqual([window, limit, together - limit]);
        expect(new Set(admitted.map(({ status }) => status))).toEqual(new Set([200, 401, 404]));
        expectRefusals(refused, 'invalid_request_error');
        clock.advance(windowMs);
      }
    });
  });
});

/** All of them are the same row, which is looked at as a whole once. */
function expectRefusals(replies: readonly Reply[], type: string): void {
  const rows = replies.map(({ json, headers }) => `${json.error.type} ${json.error.code} ${headers['retry-after']}`);
  expect([...new Set(rows)]).toEqual([`${type} rate_limit_exceeded 60`]);
  expectError(replies[0]!, { status: 429, type, code: 'rate_limit_exceeded', retryAfter: '60' });
}
