import { afterEach, describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { model, route } from '../catalogue.js';
import { useGateway } from '../harness.js';

const bench = useGateway({
  models: [
    model('odd-price', [
      route({
        ...{ price: { input: 0.123457, output: 1.999999 }, capabilities: ['n', 'vision'], carbon: 12 },
        ...{ data_policy: { trains: false, certifications: ['soc2'] }, quantization: 'fp8' },
      }),
    ]),
    model('narrow', [route(), route({ locode: 'frpar', context_window: 32_768, max_output_tokens: null })]),
    model('two', [
      route({ price: { input: 1, output: 2 } }),
      route({ locode: 'frpar', price: { input: 1, output: 3 } }),
    ]),
  ],
});

async function listed(key?: string): Promise<Json[]> {
  const reply = await bench.gateway.call('GET', '/v1/models', undefined, key ? { key } : {});
  expect(reply.status).toBe(200);
  expect(Object.keys(reply.json)).toEqual(['object', 'data']);
  expect(reply.json.object).toBe('list');
  return reply.json.data;
}
const idsOf = (entries: Json[]) => entries.map(({ id }) => id as string);
const one = (id: string, key?: string) => bench.gateway.call('GET', `/v1/models/${id}`, undefined, key ? { key } : {});

describe('GET /v1/models', () => {
  it('lists every servable route as a four-segment id, one auto/ id a model, and nothing else', async () => {
    expect(idsOf(await listed()).sort()).toEqual(
      [
        ...['llama/frpar', 'llama/defra', 'everywhere/global', 'plain/defra', 'free/defra', 'other/defra'],
        ...['odd-price/defra', 'two/defra', 'two/frpar', 'narrow/defra', 'narrow/frpar'],
      ]
        .map((route) => `acme/meta/${route}`)
        .concat(
          ['llama', 'everywhere', 'plain', 'free', 'other', 'odd-price', 'two', 'narrow'].map(
            (name) => `auto/meta/${name}`,
          ),
        )
        .sort(),
    );
  });

  it('leaves out what is not configured or not priced', async () => {
    const ids = idsOf(await listed());
    expect(ids.filter((id) => id.startsWith('keyless/') || id.startsWith('keyed/'))).toEqual([]);
    expect(ids.filter((id) => id.includes('unpriced'))).toEqual([]);
  });

  it('has every field of an entry, with prices a token as decimal text', async () => {
    const entries = await listed();
    expect(entries.find(({ id }) => id === 'acme/meta/odd-price/defra')).toEqual({
      id: 'acme/meta/odd-price/defra',
      object: 'model',
      created: expect.any(Number),
      owned_by: 'meta',
      name: 'odd-price',
      kind: 'chat',
      architecture: {
        modality: 'text+image->text',
        input_modalities: ['text', 'image'],
        output_modalities: ['text'],
      },
      context_length: 131_072,
      max_output_tokens: 8_192,
      pricing: {
        ...{ prompt: '0.000000123457', completion: '0.000001999999', input_cache_read: null, input_cache_write: null },
        ...{ input_cache_write_1h: null, request: null, image: null, audio: null, internal_reasoning: null },
        web_search: null,
      },
      as_of: null,
      stale: false,
      pricing_until_changed: false,
      provider: 'acme',
      locode: 'defra',
      country: 'DE',
      carbon: 12,
      cloud_act: true,
      data_policy: { trains: false, certifications: ['soc2'], basis: 'published' },
      quantization: 'fp8',
      supported_parameters: expect.arrayContaining(['temperature', 'max_tokens', 'stop', 'n']),
      ...{ released: null, deprecated: null, retires: null },
    });
    const { supported_parameters } = entries.find(({ id }) => id === 'acme/meta/odd-price/defra')!;
    expect(supported_parameters).not.toContain('logprobs');
    expect(supported_parameters).not.toContain('vision');
  });

  it('gives a route its own limits, and an auto/ id what every one of its routes offers', async () => {
    const entries = await listed();
    const limits = (id: string) => {
      const { context_length, max_output_tokens } = entries.find((entry) => entry.id === id)!;
      return [context_length, max_output_tokens];
    };
    expect(limits('acme/meta/narrow/defra')).toEqual([131_072, 8_192]);
    expect(limits('acme/meta/narrow/frpar')).toEqual([32_768, null]);
    expect(limits('auto/meta/narrow')).toEqual([32_768, 8_192]);
  });

  it('gives a region-less route no country, and an auto/ id what its routes agree on', async () => {
    const entries = await listed();
    expect(entries.find(({ id }) => id === 'acme/meta/everywhere/global')).toMatchObject({
      locode: 'global',
      country: null,
      carbon: null,
    });
    expect(entries.find(({ id }) => id === 'auto/meta/two')).toMatchObject({
      provider: 'auto',
      locode: null,
      country: null,
      pricing: { prompt: '0.000001', completion: null },
    });
  });

  it('has the account’s own aliases and no one else’s', async () => {
    const { gateway } = bench;
    const [mine, theirs] = [await gateway.createAccount(), await gateway.createAccount()];
    const target = { provider: 'acme', canonical_id: 'meta/llama', locode: 'frpar' };
    await gateway.call('POST', '/v1/aliases', { name: 'mine', target }, { key: mine.key });
    const entry = (await listed(mine.key)).find(({ id }) => id === 'alias/mine');
    expect(entry).toMatchObject({ owned_by: 'meta', provider: 'acme', locode: 'frpar', country: 'FR' });
    expect(idsOf(await listed(theirs.key))).not.toContain('alias/mine');
    expect((await one('alias/mine', mine.key)).json).toEqual(entry);
    expect((await one('alias/mine', theirs.key)).json.error).toMatchObject({ code: 'alias_not_found', param: 'model' });
  });
});

describe('GET /v1/models/{id}', () => {
  it('takes the slashes of the id as they are, and gives the entry of the list', async () => {
    for (const entry of await listed()) {
      const reply = await one(entry.id as string);
      expect([reply.status, reply.json]).toEqual([200, entry]);
    }
  });

  it('takes escaped slashes, any case of a locode, and three segments for the default region', async () => {
    const wanted = (await one('acme/meta/llama/defra')).json;
    for (const id of ['acme%2Fmeta%2Fllama%2Fdefra', 'acme/meta/llama/DEFRA', 'acme/meta/llama']) {
      expect((await one(id)).json).toEqual(wanted);
    }
  });

  it.each([
    'acme/meta/unknown',
    'nobody/meta/llama',
    'acme/meta/llama/usnyc',
    'acme/meta/llama/global',
    'auto/meta/unknown',
    'x',
    'a/b/c/d/e',
    'keyless/meta/llama/defra',
    'acme/meta/unpriced/defra',
    '__proto__/a/b',
  ])('%s: 404 not_found, param model', async (id) => {
    const reply = await one(id);
    expect([reply.status, reply.json.error]).toEqual([
      404,
      expect.objectContaining({ type: 'not_found', code: 'not_found', param: 'model' }),
    ]);
  });

  it('an alias that the account does not have: 404 alias_not_found', async () => {
    expect((await one('alias/none')).json.error).toMatchObject({
      type: 'not_found',
      code: 'alias_not_found',
      param: 'model',
    });
  });
});

describe('the list follows the state of a model at once', () => {
  const setState = (state: string) =>
    bench.gateway.admin('PUT', '/models/meta/llama/availability', { state, reason: 'test' });
  afterEach(() => setState('available'));

  it.each(['disabled', 'soft_disabled'])(
    '%s: its routes, its auto/ id and aliases of it are gone, and come back',
    async (state) => {
      const { gateway } = bench;
      const { key } = await gateway.createAccount();
      await gateway.call('POST', '/v1/aliases', { name: 'a', target: 'acme/meta/llama/defra' }, { key });
      const before = idsOf(await listed(key));
      expect(before).toEqual(expect.arrayContaining(['acme/meta/llama/defra', 'auto/meta/llama', 'alias/a']));
      await setState(state);
      const during = idsOf(await listed(key));
      expect(during.filter((id) => id.includes('/llama') || id === 'alias/a')).toEqual([]);
      expect((await one('acme/meta/llama/defra', key)).status).toBe(404);
      expect((await one('alias/a', key)).status).toBe(404);
      await setState('available');
      expect(idsOf(await listed(key))).toEqual(before);
    },
  );
});
