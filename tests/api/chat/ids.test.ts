import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { ask, generation, llama, useGateway } from '../harness.js';

const bench = useGateway();

async function served(id: string, key?: string): Promise<Json> {
  const reply = await bench.gateway.chat(ask({ model: id }), key ? { key } : {});
  expect(reply.status, reply.text).toBe(200);
  expect(reply.json.router_metadata.requested_model).toBe(id);
  expect(reply.json.router_metadata.served_model).toBe(reply.json.model);
  return reply.json;
}

const upstreamModel = () => (bench.upstream.calls.at(-1)!.json as Json).model;

describe('explicit ids', () => {
  it('four segments pin a region', async () => {
    expect((await served('acme/meta/llama/frpar')).model).toBe('acme/meta/llama/frpar');
    expect(upstreamModel()).toBe('upstream-paris');
  });

  it('three segments mean the default region, marked or not the first', async () => {
    const body = await served('acme/meta/llama');
    expect([body.model, upstreamModel()]).toEqual([llama, 'upstream-model']);
    expect(body.router_metadata).toMatchObject({ locode: 'defra', country: 'DE' });
  });

  it.each(['DEFRA', 'DeFra', 'deFRA'])(
    'the case of a locode does not matter: %s is reported in lower case',
    async (locode) => {
      const body = await served(`acme/meta/llama/${locode}`);
      expect(body.model).toBe(llama);
      expect(await generation(bench.gateway, body.id as string)).toMatchObject({
        requested_model: `acme/meta/llama/${locode}`,
        served_model: llama,
        locode: 'defra',
      });
    },
  );

  it.each(['acme/meta/everywhere/global', 'acme/meta/everywhere', 'acme/meta/everywhere/GLOBAL'])(
    '%s is the region-less endpoint, with no country and no carbon of a region',
    async (id) => {
      const body = await served(id);
      expect(body.model).toBe('acme/meta/everywhere/global');
      expect(body.router_metadata).toMatchObject({ locode: 'global', country: null, carbon: null });
    },
  );

  it('a free route (price 0) is served and costs 0', async () => {
    const body = await served('acme/meta/free');
    expect((body.usage as Json).cost).toBe(0);
  });
});

describe('aliases in a chat', () => {
  const targets: [string, Json][] = [
    ['flat fields', { provider: 'acme', canonical_id: 'meta/llama', locode: 'frpar' }],
    ['a nested target', { target: { provider: 'acme', canonical_id: 'meta/llama', locode: 'frpar' } }],
    ['a string', { target: 'acme/meta/llama/frpar' }],
  ];

  it.each(targets)('made with %s serve their route and are named in the receipt', async (_, target) => {
    const { gateway } = bench;
    const { key } = await gateway.createAccount();
    expect((await gateway.call('POST', '/v1/aliases', { name: 'fast', ...target }, { key })).status).toBe(201);
    const body = await served('alias/fast', key);
    expect(body.model).toBe('acme/meta/llama/frpar');
    expect(body.router_metadata).toMatchObject({
      alias: 'fast',
      requested_model: 'alias/fast',
      provider: 'acme',
      locode: 'frpar',
    });
    expect(await generation(gateway, body.id as string, key)).toMatchObject({
      requested_model: 'alias/fast',
      served_model: 'acme/meta/llama/frpar',
    });
  });

  it('made with an auto target resolve to a route of that model', async () => {
    const { gateway } = bench;
    const { key } = await gateway.createAccount();
    const target = 'auto/meta/everywhere';
    expect((await gateway.call('POST', '/v1/aliases', { name: 'any', target }, { key })).status).toBe(201);
    const body = await served('alias/any', key);
    expect(body.model).toBe('acme/meta/everywhere/global');
    expect(body.router_metadata).toMatchObject({ alias: 'any', requested_model: 'alias/any' });
  });

  it('without a locode mean global', async () => {
    const { gateway } = bench;
    const { key } = await gateway.createAccount();
    const body = { name: 'g', provider: 'acme', canonical_id: 'meta/everywhere' };
    expect((await gateway.call('POST', '/v1/aliases', body, { key })).status).toBe(201);
    expect((await served('alias/g', key)).model).toBe('acme/meta/everywhere/global');
  });

  it('follow a repoint and a deletion on the very next request', async () => {
    const { gateway } = bench;
    const { key } = await gateway.createAccount();
    await gateway.call('POST', '/v1/aliases', { name: 'a', target: 'acme/meta/llama/frpar' }, { key });
    expect((await served('alias/a', key)).model).toBe('acme/meta/llama/frpar');
    await gateway.call('PUT', '/v1/aliases/a', { target: 'acme/meta/llama/defra' }, { key });
    expect((await served('alias/a', key)).model).toBe(llama);
    await gateway.call('DELETE', '/v1/aliases/a', undefined, { key });
    expect((await gateway.chat(ask({ model: 'alias/a' }), { key })).json.error.code).toBe('alias_not_found');
  });

  it('belong to one account: the same name elsewhere is another alias, or none', async () => {
    const { gateway } = bench;
    const [mine, theirs] = [await gateway.createAccount(), await gateway.createAccount()];
    await gateway.call('POST', '/v1/aliases', { name: 'x', target: 'acme/meta/llama/frpar' }, { key: mine.key });
    expect((await gateway.chat(ask({ model: 'alias/x' }), { key: theirs.key })).json.error.code).toBe(
      'alias_not_found',
    );
    await gateway.call('POST', '/v1/aliases', { name: 'x', target: 'acme/meta/llama/defra' }, { key: theirs.key });
    expect((await served('alias/x', mine.key)).model).toBe('acme/meta/llama/frpar');
    expect((await served('alias/x', theirs.key)).model).toBe(llama);
  });
});
