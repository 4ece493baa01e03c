import { beforeEach, describe, expect, it } from 'vitest';
import { type HttpFixture, httpFixture, singleProcess } from '../../../tests/support/http-fixture.js';
import { findRepeatedly } from '../../app/deployment.js';
import { generationId } from '../../base/ids.js';
import type { Generation } from '../../domain/generation.js';
import { settlementRow } from '../../domain/settlement-row.js';

let fixture: HttpFixture;
let waits: number[];

function generation(id: string, change: Partial<Generation> = {}): Generation {
  return {
    ...{ id, requestId: 'req-1', accountId: fixture.account.id, keyId: fixture.key.id, keyName: 'first', createdAt: 0 },
    ...{ requestedModel: 'auto/meta/llama', servedModel: 'acme/meta/llama/defra', provider: 'acme', locode: 'defra' },
    ...{ streamed: false, status: 200, promptTokens: 3, completionTokens: 4, cachedTokens: 0, reasoningTokens: 0 },
    ...{ costPico: 1_269_000_000n, billed: true, latencyMs: 12, firstByteMs: 5, providersAttempted: ['acme'] },
    ...{ fallbackOccurred: false, finishReason: 'stop', streamEnd: null, usageSource: 'provider', errorCode: null },
    attempts: [{ provider: 'acme', locode: 'defra', outcome: 'served', status: 200, first_byte_ms: 5, error: null }],
    bill: null,
    ...change,
  };
}

const get = (path: string) => fixture.app.inject({ url: path, headers: fixture.asKey });

beforeEach(async () => {
  waits = [];
  fixture = await httpFixture({ journal: { settled: async (ms) => waits.push(ms) > 0 } });
  const own = ['gen-1', 'gen-2', 'gen-3'].map((id) => generation(id));
  await fixture.directory.postCredit('operator', fixture.account.id, 10_000_000_000_000n, null);
  const other = generation('gen-4', { keyName: 'other', requestedModel: 'zeta/meta/llama' });
  await fixture.store.ledger.settle([...own, other].map(settlementRow));
});

describe('GET /v1/generations', () => {
  it('is newest first, in pages, after what is still in the journal', async () => {
    const first = (await get('/v1/generations?limit=3')).json();
    expect(first.data.map(({ id }: Generation) => id)).toEqual(['gen-4', 'gen-3', 'gen-2']);
    expect(first).toMatchObject({ object: 'list', has_more: true });
    const second = (await get('/v1/generations?limit=3&after=gen-2')).json();
    expect(second).toMatchObject({ has_more: false, data: [{ id: 'gen-1' }] });
    expect(waits).toEqual([2000, 2000]);
  });

  it('filters by key and model', async () => {
    expect((await get('/v1/generations?key=other')).json().data).toHaveLength(1);
    expect((await get(`/v1/generations?model=${encodeURIComponent('auto/meta/llama')}`)).json().data).toHaveLength(3);
  });

  it.each(['0', '101', 'x', '-1', '1.5', '1e2', '99999999999'])('400, param limit, for limit=%s', async (limit) => {
    const answer = await get(`/v1/generations?limit=${limit}`);
    expect([answer.statusCode, answer.json().error.param]).toEqual([400, 'limit']);
  });

  it('400 for a parameter that is sent twice', async () => {
    expect((await get('/v1/generations?key=a&key=b')).statusCode).toBe(400);
  });

  it('500 api_error when the records cannot be read', async () => {
    fixture.store.away = true;
    for (const path of ['/v1/generations', '/v1/generation/gen-1']) {
      const answer = await get(path);
      expect([answer.statusCode, answer.json().error.code]).toEqual([500, 'api_error']);
    }
  });
});

describe('GET /v1/generation', () => {
  it('gives one record by path and by query, with the exact cost as text', async () => {
    const answer = (await get('/v1/generation/gen-1')).json();
    expect(answer.data).toMatchObject({
      ...{
        id: 'gen-1',
        created_at: '1970-01-01T00:00:00.000Z',
        key_name: 'first',
        cost_usd: '0.001269',
        usage_source: 'provider',
      },
      attempts: [{ provider: 'acme', outcome: 'served' }],
    });
    expect(answer.data).not.toHaveProperty('accountId');
    expect((await get('/v1/generation?id=gen-1')).json()).toEqual(answer);
  });

  it('says how the cost is made up, line by line and by class; null where nothing was kept', async () => {
    const lines = [
      { name: 'cache_write', count: 10, rate: 6_250_000n },
      { name: 'cache_write_1h', count: 5, rate: 10_000_000n },
      { name: 'input', count: 85, rate: 5_000_000n },
      { name: 'tools.web_search', count: 3, rate: 10_000_000_000n },
      { name: 'unpriced_tools', count: 2, rate: 0n },
    ];
    await fixture.store.ledger.settle([settlementRow(generation('gen-5', { bill: { lines, tier: 'flex' } }))]);
    const { data } = (await get('/v1/generation/gen-5')).json();
    expect(data.cost_details).toEqual({ input: '0.000425', cache_write: '0.0001125', tools: '0.03', tier: 'flex' });
    expect(data.cost_lines).toEqual([
      { name: 'cache_write', count: 10, unit: 'token', price_usd: '0.00000625', cost_usd: '0.0000625' },
      { name: 'cache_write_1h', count: 5, unit: 'token', price_usd: '0.00001', cost_usd: '0.00005' },
      { name: 'input', count: 85, unit: 'token', price_usd: '0.000005', cost_usd: '0.000425' },
      { name: 'tools.web_search', count: 3, unit: 'call', price_usd: '0.01', cost_usd: '0.03' },
      { name: 'unpriced_tools', count: 2, unit: 'call', price_usd: '0', cost_usd: '0' },
    ]);
    expect((await get('/v1/generation/gen-1')).json().data).toMatchObject({ cost_details: null, cost_lines: null });
  });

  it('404, param id, for an unknown id and for another account’s', async () => {
    await fixture.directory.createAccount('system', { email: 'b@example.com' });
    const other = (await fixture.directory.accounts()).find(({ email }) => email === 'b@example.com')!;
    await fixture.store.ledger.settle([settlementRow(generation('gen-9', { accountId: other.id }))]);
    for (const id of ['gen-0', 'gen-9']) {
      const answer = await get(`/v1/generation/${id}`);
      expect(answer.statusCode).toBe(404);
      expect(answer.json().error).toMatchObject({ code: 'not_found', param: 'id' });
    }
  });

  it('is found in the journal where the store does not have it yet, by its own account only', async () => {
    const waiting = generation('gen-7', { accountId: 'acct-other' });
    fixture = await httpFixture({
      journal: { settled: async () => false, unsettled: (id) => (id === 'gen-7' ? waiting : null) },
    });
    const { account } = fixture;
    expect((await get('/v1/generation/gen-7')).statusCode).toBe(404);
    waiting.accountId = account.id;
    expect((await get('/v1/generation/gen-7')).json()).toMatchObject({ data: { id: 'gen-7' } });
    expect((await get('/v1/generation/gen-8')).statusCode).toBe(404);
  });

  it('is found in a fleet before the process that answered has settled it, and an old id is not waited for', async () => {
    const [fresh, old] = [generationId(fixture.clock.now()), generationId(0)];
    const second = await httpFixture({ deployment: { ...singleProcess, findSettledElsewhere: findRepeatedly } });
    const { store, account, key } = second;
    const ids: string[] = [];
    const find = store.generations.find.bind(store.generations);
    store.generations.find = async (accountId, id) => {
      const found = await find(accountId, id);
      if (ids.push(id) === 1)
        await store.ledger.settle([settlementRow(generation(fresh, { accountId: account.id, keyId: key.id }))]);
      return found;
    };
    const ask = (id: string) => second.app.inject({ url: `/v1/generation/${id}`, headers: second.asKey });
    expect([(await ask(fresh)).statusCode, ids.length]).toEqual([200, 2]);
    expect([(await ask(old)).statusCode, ids.length]).toEqual([404, 3]);
  });

  it('400 without an id', async () => {
    expect((await get('/v1/generation')).json().error).toMatchObject({ code: 'invalid_request_error', param: 'id' });
  });
});

describe('GET /v1/credits and GET /v1/key', () => {
  it('gives the balance exactly and the sums as numbers', async () => {
    fixture.directory.identities.charge(fixture.account.id, 1_269_000_000n, 'gen-1', 0n);
    expect((await get('/v1/credits')).json()).toEqual({
      data: {
        ...{ balance_usd: '9.998731', held_usd: '0', requests_in_flight: 0 },
        ...{ total_credits: 10, total_usage: 0.001269, currency: 'USD' },
      },
    });
  });

  it('gives the key’s label, usage and limits, the account’s own where set', async () => {
    const data = (await get('/v1/key')).json().data;
    expect(data).toEqual({
      ...{ name: 'first', label: `sk-lr-…${fixture.key.lastFour}`, expires_at: null, usage: 0.005076 },
      rate_limit: { requests_per_minute: 600, tokens_per_minute: 1_000_000 },
    });
    await fixture.directory.updateAccount('operator', fixture.account.id, { limits: { requestsPerMinute: 5 } });
    expect((await get('/v1/key')).json().data.rate_limit).toEqual({
      requests_per_minute: 5,
      tokens_per_minute: 1_000_000,
    });
  });

  it('500 when the key’s usage cannot be read', async () => {
    fixture.store.away = true;
    expect((await get('/v1/key')).statusCode).toBe(500);
    expect((await get('/v1/credits')).statusCode).toBe(200);
  });
});
