import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TestAccount } from '../../support/client.js';
import { completion, json, sse, streamOf, usage } from '../../support/scripted-upstream.js';
import { takeAway } from '../database.js';
import { ask, expectError, useGateway } from '../harness.js';

const bench = useGateway();
const internal = {
  status: 500,
  type: 'internal_server_error',
  code: 'internal_server_error',
  says: ['Nothing was billed', 'Retry once'],
};
const apiError = { ...internal, code: 'api_error' };
const unknownToken = `sk-lr-${'Q'.repeat(43)}`;

let known: TestAccount;
let bringBack = async () => {};

async function awayWithTheStore(): Promise<void> {
  const back = await takeAway(bench.gateway);
  bringBack = async () => {
    bringBack = async () => {};
    await back();
    await expect.poll(async () => (await bench.gateway.call('GET', '/readyz')).status, { timeout: 60_000 }).toBe(200);
  };
}

beforeAll(async () => {
  known = await bench.gateway.createAccount({ credit: '10', name: 'known' });
  expect((await bench.gateway.chat(ask({ model: 'acme/meta/free' }), { key: known.key })).status).toBe(200);
});
afterEach(() => bringBack());

describe('500 while the store is unreachable', () => {
  it('internal_server_error for a key that is not known yet: never 401 or 402, and no upstream is called', async () => {
    await awayWithTheStore();
    expectError(await bench.gateway.chat(ask(), { key: unknownToken }), internal);
    expectError(await bench.gateway.call('GET', '/v1/models', undefined, { key: unknownToken }), internal);
    expect(bench.upstream.calls).toHaveLength(0);
    await bringBack();
    expect((await bench.gateway.chat(ask(), { key: unknownToken })).json.error.code).toBe('api_key_not_registered');
  });

  it('a malformed or missing key is still told by its shape alone, without a lookup', async () => {
    await awayWithTheStore();
    for (const [key, code] of [
      ['sk-lr-short', 'api_key_malformed'],
      ['sk-bf-x', 'api_key_malformed'],
      [null, 'authentication_error'],
    ] as const) {
      const reply = await bench.gateway.chat(ask(), { key });
      expect([reply.status, reply.json.error.code]).toEqual([401, code]);
    }
  });

  it('api_error for generation records that cannot be read', async () => {
    await awayWithTheStore();
    for (const path of ['/v1/generations', `/v1/generation/gen-${'0'.repeat(26)}`, '/v1/generation?id=x']) {
      expectError(await bench.gateway.call('GET', path, undefined, { key: known.key }), apiError);
    }
  });

  it('internal_server_error for everything that would have to be written', async () => {
    await awayWithTheStore();
    const alias = { name: 'later', target: 'acme/meta/llama/defra' };
    expectError(await bench.gateway.call('POST', '/v1/aliases', alias, { key: known.key }), internal);
    expectError(await bench.gateway.admin('POST', '/accounts', { email: 'late@example.test' }), internal);
    expectError(
      await bench.gateway.admin('POST', `/accounts/${known.accountId}/credits`, { amount_usd: '5' }),
      internal,
    );
    await bringBack();
    expect(await bench.gateway.balance(known.accountId)).not.toContain('15');
    const { json: list } = await bench.gateway.call('GET', '/v1/aliases', undefined, { key: known.key });
    expect(list.data).toEqual([]);
  });

  it('healthz stays 200, readyz is 503', async () => {
    await awayWithTheStore();
    expect((await bench.gateway.call('GET', '/healthz', undefined, { key: null })).status).toBe(200);
    expect((await bench.gateway.call('GET', '/readyz', undefined, { key: null })).status).toBe(503);
  });

  it('a known key goes on being served, and each answer is settled exactly once when the store is back', async () => {
    const { gateway, upstream } = bench;
    const before = (await gateway.ledger(known.accountId)).length;
    const balance = await gateway.balance(known.accountId);
    await awayWithTheStore();
    upstream.onRequest(({ json: body }) =>
      (body as { stream: boolean }).stream
        ? sse(streamOf(['a'], { usage: usage(10, 10) }))
        : json(completion({ usage: usage(10, 10) })),
    );
    const ids: string[] = [];
    for (let count = 0; count < 10; count++) {
      ids.push((await gateway.chat(ask(), { key: known.key })).json.id);
      ids.push(String((await gateway.stream(ask(), { key: known.key })).headers['x-generation-id']));
    }
    expect(ids.every((id) => /^gen-/.test(id))).toBe(true);
    await bringBack();
    await expect
      .poll(async () => (await gateway.ledger(known.accountId)).length, { timeout: 60_000 })
      .toBe(before + 20);
    const entries = (await gateway.ledger(known.accountId)).slice(0, 20);
    expect(entries.map(({ generation_id }) => generation_id).sort()).toEqual([...ids].sort());
    for (const { amount_usd } of entries) expect(amount_usd).toBe('-0.000014');
    expect((Number(balance) - Number(await gateway.balance(known.accountId))).toFixed(9)).toBe('0.000280000');
  });

  it('the balance of a known account is checked from memory: 402 stays 402', async () => {
    const { gateway } = bench;
    const poor = await gateway.createAccount({ credit: null });
    await gateway.chat(ask(), { key: poor.key });
    await awayWithTheStore();
    expect((await gateway.chat(ask(), { key: poor.key })).status).toBe(402);
  });
});
