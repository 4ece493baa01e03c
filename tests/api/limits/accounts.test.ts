/** Each key has its own counters. An account's limits take precedence over those of the service. */
import { describe, expect, it } from 'vitest';
import type { Json, TestAccount } from '../../support/client.js';
import { ManualClock } from '../../support/manual-clock.js';
import { ask, expectError, useGateway } from '../harness.js';
import { remainingRequests } from './expect-headers.js';

const clock = new ManualClock();
const bench = useGateway({ clock, config: { limits: { key_requests_per_minute: 5, key_tokens_per_minute: 100_000 } } });

const change = ({ accountId }: TestAccount, limits: Json) =>
  bench.gateway.admin('PATCH', `/accounts/${accountId}`, { limits });
const ping = (key: string) => bench.gateway.call('GET', '/v1/credits', undefined, { key });
const statuses = async (key: string, count: number) => {
  const found: number[] = [];
  for (let i = 0; i < count; i++) found.push((await ping(key)).status);
  return found;
};
const overRequests = (limit: number) => ({
  status: 429,
  type: 'rate_limit_error',
  code: 'rate_limit_exceeded',
  says: [/\brequests\b/, String(limit)],
  retryAfter: '60',
});

describe('limits set on an account (PATCH /admin/v1/accounts/{id})', () => {
  it('win over the service’s, higher or lower, from the next request on, without a new window', async () => {
    const account = await bench.gateway.createAccount();
    expect(await statuses(account.key, 6)).toEqual([200, 200, 200, 200, 200, 429]);
    await change(account, { requests_per_minute: 7 });
    expect(await statuses(account.key, 3)).toEqual([200, 200, 429]);
    await change(account, { requests_per_minute: 2 });
    const refused = await ping(account.key);
    expectError(refused, overRequests(2));
    expect(remainingRequests(refused.headers)).toBe(0);
    clock.advance(60_000);
    expect(await statuses(account.key, 3)).toEqual([200, 200, 429]);
  });

  it('null gives the service’s back, and GET /v1/key tells what applies', async () => {
    const account = await bench.gateway.createAccount();
    await change(account, { requests_per_minute: 50, tokens_per_minute: 70 });
    const told = async () => (await ping(account.key).then(() => keyOf(account))).rate_limit;
    expect(await told()).toEqual({ requests_per_minute: 50, tokens_per_minute: 70 });
    await change(account, { requests_per_minute: null });
    expect(await told()).toEqual({ requests_per_minute: 5, tokens_per_minute: 70 });
  });

  const keyOf = async ({ key }: TestAccount) =>
    (await bench.gateway.call('GET', '/v1/key', undefined, { key })).json.data;

  it('hold for each key by itself: one that has used its own up leaves the other keys of the account alone', async () => {
    const account = await bench.gateway.createAccount();
    await change(account, { requests_per_minute: 2 });
    const made = await bench.gateway.admin('POST', `/accounts/${account.accountId}/keys`, { name: 'second' });
    expect(await statuses(account.key, 3)).toEqual([200, 200, 429]);
    expect(await statuses(made.json.token, 3)).toEqual([200, 200, 429]);
  });

  it('of tokens hold for each key by itself, too', async () => {
    const account = await bench.gateway.createAccount();
    await change(account, { tokens_per_minute: 10 });
    const made = await bench.gateway.admin('POST', `/accounts/${account.accountId}/keys`, { name: 'second' });
    const chats = async (key: string) => [
      (await bench.gateway.chat(ask(), { key })).status,
      (await bench.gateway.chat(ask(), { key })).status,
    ];
    expect(await chats(account.key)).toEqual([200, 429]);
    expect(await chats(made.json.token)).toEqual([200, 429]);
  });

  it('leave other accounts alone', async () => {
    const [busy, other] = [await bench.gateway.createAccount(), await bench.gateway.createAccount()];
    await change(busy, { requests_per_minute: 1 });
    expect(await statuses(busy.key, 3)).toEqual([200, 429, 429]);
    expect(await statuses(other.key, 5)).toEqual([200, 200, 200, 200, 200]);
  });
});

describe('what counts: every request whose key is accepted', () => {
  it('requests that a later check refuses count; those without a good key do not', async () => {
    const account = await bench.gateway.createAccount({ credit: null });
    const { key } = account;
    expect((await bench.gateway.chat(ask(), { key })).status).toBe(402);
    expect((await bench.gateway.call('POST', '/v1/aliases', '{', { key })).status).toBe(400);
    expect((await bench.gateway.call('GET', '/v1/nothing', undefined, { key })).status).toBe(404);
    const forged = `${key.slice(0, 20)}${'A'.repeat(key.length - 20)}`;
    for (let i = 0; i < 10; i++) expect((await ping(forged)).status).toBe(401);
    // An unknown path is refused before its key is looked at.
    expect(remainingRequests((await ping(key)).headers)).toBe(2);
  });

  it('a refusal adds nothing and moves no window: after Retry-After the whole allowance is there', async () => {
    const { key } = await bench.gateway.createAccount();
    expect(await statuses(key, 5)).toEqual([200, 200, 200, 200, 200]);
    for (let second = 0; second < 60; second += 10) {
      const refused = await ping(key);
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, String(60 - second)]);
      clock.advance(10_000);
    }
    expect(await statuses(key, 6)).toEqual([200, 200, 200, 200, 200, 429]);
  });
});
