import { beforeAll, describe, expect, it } from 'vitest';
import type { Json, TestAccount } from '../../support/client.js';
import { json } from '../../support/scripted-upstream.js';
import { ask, expectError, useGateway } from '../harness.js';

const bench = useGateway();
let account: TestAccount;
let second: string;
/** Newest first, as the list must be. */
const ids: string[] = [];

const list = (query = '', key = account.key) =>
  bench.gateway.call('GET', `/v1/generations${query}`, undefined, { key });
const idsOf = (reply: { json: { data: Json[] } }) => reply.json.data.map(({ id }) => id);

beforeAll(async () => {
  const { gateway } = bench;
  account = await gateway.createAccount({ name: 'first' });
  second = (await gateway.admin('POST', `/accounts/${account.accountId}/keys`, { name: 'second' })).json.token;
  for (let count = 0; count < 25; count++) {
    const key = count % 5 === 0 ? second : account.key;
    const model = count % 2 === 0 ? 'acme/meta/llama' : 'acme/meta/free/defra';
    ids.unshift((await gateway.chat(ask({ model }), { key })).json.id);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
});

describe('GET /v1/generations', () => {
  it('is newest first, 20 by default, and says whether there is more', async () => {
    const reply = await list();
    expect(Object.keys(reply.json)).toEqual(['object', 'data', 'has_more']);
    expect([reply.json.object, reply.json.has_more]).toEqual(['list', true]);
    expect(idsOf(reply)).toEqual(ids.slice(0, 20));
  });

  it('pages by `after` without a gap or a repetition', async () => {
    const seen: unknown[] = [];
    for (let after = '', more = true; more; ) {
      const reply = await list(`?limit=7${after && `&after=${after}`}`);
      expect(reply.status).toBe(200);
      seen.push(...idsOf(reply));
      after = String(seen.at(-1));
      more = reply.json.has_more;
    }
    expect(seen).toEqual(ids);
  });

  it('has_more is false on a page that ends exactly', async () => {
    expect((await list('?limit=25')).json.has_more).toBe(false);
    expect((await list('?limit=24')).json.has_more).toBe(true);
  });

  it('filters by key, by its name or its id', async () => {
    const expected = ids.filter((_, index) => (24 - index) % 5 === 0);
    expect(idsOf(await list('?key=second&limit=100'))).toEqual(expected);
    expect(idsOf(await list(`?key=${second.slice(6, 16)}&limit=100`))).toEqual(expected);
    expect(idsOf(await list('?key=none'))).toEqual([]);
  });

  it('filters by model, the one requested or the one that served', async () => {
    const llama = ids.filter((_, index) => (24 - index) % 2 === 0);
    expect(idsOf(await list('?model=acme/meta/llama&limit=100'))).toEqual(llama);
    expect(idsOf(await list('?model=acme/meta/llama/defra&limit=100'))).toEqual(llama);
    expect(idsOf(await list('?model=acme/meta/llama&key=second&limit=100'))).toEqual(
      llama.filter((id) => (24 - ids.indexOf(id)) % 5 === 0),
    );
  });

  it.each(['0', '101', '-1', '1.5', 'abc', '1e1', '99999999999'])('limit=%s: 400 that names it', async (limit) => {
    const says = [`"${limit}"`, '1 to 100'];
    expectError(await list(`?limit=${limit}`), {
      status: 400,
      type: 'invalid_request_error',
      code: 'invalid_request_error',
      param: 'limit',
      says,
    });
  });

  it.each(['1', '100'])('limit=%s is taken', async (limit) => {
    expect((await list(`?limit=${limit}`)).status).toBe(200);
  });

  it('an unknown `after` is a 400 that names it', async () => {
    for (const after of ['x', 'gen-', "gen-' or 1=1 --", '%00', 'gen-00000000000000000000000000']) {
      const { status, json } = await list(`?after=${after}`);
      expect([after, status, json.error.param]).toEqual([after, 400, 'after']);
    }
  });

  it('an empty history is an empty list', async () => {
    const { key } = await bench.gateway.createAccount();
    expect((await list('', key)).json).toEqual({ object: 'list', data: [], has_more: false });
  });

  it('has failures that reached the walk, with cost 0, and nothing that was refused before', async () => {
    const { gateway, upstream } = bench;
    const { key } = await gateway.createAccount();
    upstream.reply(json({ error: { message: 'boom' } }, { status: 500 }));
    expect((await gateway.chat(ask(), { key })).status).toBe(503);
    expect((await gateway.chat(ask({ temperature: 9 }), { key })).status).toBe(400);
    expect((await gateway.chat(ask({ model: 'acme/meta/none' }), { key })).status).toBe(404);
    const { data } = (await list('', key)).json;
    expect(data).toHaveLength(1);
    expect(data[0]).toMatchObject({
      key_name: 'test',
      status: 503,
      error_code: 'provider_error',
      served_model: null,
      provider: null,
      locode: null,
      cost_usd: '0',
      usage_source: null,
      attempts: [
        {
          provider: 'acme',
          locode: 'defra',
          outcome: 'server_error',
          status: 500,
          error: expect.stringContaining('boom'),
        },
      ],
    });
  });
});

describe('GET /v1/generation/{id} and ?id=', () => {
  const unknown = { status: 404, type: 'not_found', code: 'not_found', param: 'id', says: ['GET /v1/generations'] };

  it('are the entry of the list', async () => {
    const [entry] = (await list('?limit=1')).json.data;
    const options = { key: account.key };
    expect((await bench.gateway.call('GET', `/v1/generation/${entry.id}`, undefined, options)).json).toEqual({
      data: entry,
    });
    expect((await bench.gateway.call('GET', `/v1/generation?id=${entry.id}`, undefined, options)).json).toEqual({
      data: entry,
    });
  });

  it.each(['gen-00000000000000000000000000', 'x', 'gen-', '__proto__'])('%s: 404 not_found, param id', async (id) => {
    const options = { key: account.key };
    expectError(await bench.gateway.call('GET', `/v1/generation/${id}`, undefined, options), unknown);
    expectError(await bench.gateway.call('GET', `/v1/generation?id=${id}`, undefined, options), unknown);
  });

  it('another account’s record is not there: the same 404 as a missing one', async () => {
    const { key } = await bench.gateway.createAccount();
    expectError(await bench.gateway.call('GET', `/v1/generation/${ids[0]}`, undefined, { key }), unknown);
  });

  it('without an id: 400, param id', async () => {
    const reply = await bench.gateway.call('GET', '/v1/generation', undefined, { key: account.key });
    expect([reply.status, reply.json.error.param]).toEqual([400, 'id']);
  });
});
