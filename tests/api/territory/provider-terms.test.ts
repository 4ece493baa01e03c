/** Providers whose terms exclude the caller's territory are no candidates; if none is left, the response is 451 with `param`. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { startGateway } from '../../support/gateway.js';
import type { YamlObject } from '../../support/gateway-files.js';
import { json, startUpstream } from '../../support/scripted-upstream.js';
import { chatCatalogue, model, route } from '../catalogue.js';
import { type Bench, expectError, messages } from '../harness.js';

/** acme excludes Russia, beta Russia's Moscow and Crimea, open nobody. */
function catalogue(url: string): YamlObject {
  const provider = (id: string, excluded: string[]) => ({
    ...{
      id,
      name: id,
      dialect: 'openai',
      base_url: `${url}/${id}/v1`,
      auth: 'none',
      headquarters: 'DE',
      cloud_act: false,
    },
    excluded_territories: excluded,
  });
  const priced = (id: string, input: number) => route({ provider: id, price: { input, output: input } });
  return {
    ...chatCatalogue(url),
    providers: [provider('acme', ['RU']), provider('beta', ['RU-MOW', 'BY']), provider('open', [])],
    models: [
      model('both', [priced('acme', 0.1), priced('open', 9)]),
      model('acme-only', [priced('acme', 0.1)]),
      model('two-excluding', [priced('acme', 0.1), priced('beta', 0.2)]),
      model('open-only', [priced('open', 1)]),
    ],
  };
}

const bench = {} as Bench;
let key: string;
beforeAll(async () => {
  bench.upstream = await startUpstream();
  bench.gateway = await startGateway({
    catalogue: catalogue(bench.upstream.url),
    config: { server: { trusted_proxies: ['127.0.0.1/32'], country_header: 'cf-ipcountry' } },
  });
});
beforeEach(async () => {
  bench.upstream.reset();
  ({ key } = await bench.gateway.createAccount());
});
afterAll(async () => {
  await bench.gateway?.stop();
  await bench.upstream?.stop();
});

const from = (country: string) => ({ key, headers: { 'cf-ipcountry': country } });
const chat = (id: string, country: string, more: Json = {}) =>
  bench.gateway.chat({ model: id, messages, ...more }, from(country));
const excluded = (...says: (string | RegExp)[]) => ({
  status: 451,
  type: 'permission_error',
  code: 'unavailable_for_legal_reasons',
  param: 'model',
  says,
});
const callers = () => bench.upstream.calls.map(({ path }) => path.split('/')[1]);

describe('an `auto/` id', () => {
  it('is served by a provider that may, although the excluded one is cheaper; the receipt has no trace of that one', async () => {
    const reply = await chat('auto/meta/both', 'RU');
    expect(reply.json.router_metadata).toMatchObject({
      provider: 'open',
      providers_attempted: ['open'],
      fallback_occurred: false,
    });
    expect(callers()).toEqual(['open']);
  });

  it('is served by the cheaper one elsewhere, and where the territory is not known', async () => {
    for (const country of ['DE', 'XX'])
      expect((await chat('auto/meta/both', country)).json.router_metadata.provider).toBe('acme');
  });

  it('451, param model, that names the providers and the territory when every candidate is excluded', async () => {
    expectError(
      await chat('auto/meta/two-excluding', 'RU-MOW'),
      excluded('acme and beta', /RU-MOW/, 'auto/meta/two-excluding'),
    );
    expectError(await chat('auto/meta/acme-only', 'RU'), excluded('acme', 'Russia (RU)'));
    expect(callers()).toEqual([]);
  });

  it('a subdivision’s code excludes that subdivision alone, a country’s code all of its own', async () => {
    expect((await chat('auto/meta/two-excluding', 'RU')).json.router_metadata.provider).toBe('beta');
    expect((await chat('auto/meta/two-excluding', 'RU-SPE')).json.router_metadata.provider).toBe('beta');
    expect((await chat('auto/meta/two-excluding', 'BY')).json.router_metadata.provider).toBe('acme');
  });

  it('a walk never comes to an excluded provider, also when all others fail', async () => {
    bench.upstream.reply(json({ error: { message: 'out of order' } }, { status: 500 }));
    const reply = await chat('auto/meta/both', 'RU');
    expect(reply.status).toBe(503);
    expect(reply.json.error.providers_attempted).toEqual(['open']);
    expect(reply.json.error.candidates_remaining).toBe(0);
    expect(callers()).toEqual(['open']);
  });
});

describe('a pin', () => {
  it('451, param model, of an excluded provider, and the message tells of `auto/`', async () => {
    for (const id of ['acme/meta/both', 'acme/meta/both/defra']) {
      expectError(await chat(id, 'RU'), excluded(id, 'acme', 'Russia (RU)', '"auto/meta/both"'));
    }
    expect(callers()).toEqual([]);
  });

  it('of a provider that excludes nobody is served, and of an excluding one elsewhere', async () => {
    expect((await chat('open/meta/both', 'RU')).status).toBe(200);
    expect((await chat('acme/meta/both', 'DE')).status).toBe(200);
  });

  it('through an alias is the same', async () => {
    const target = { provider: 'acme', canonical_id: 'meta/both', locode: 'defra' };
    expect((await bench.gateway.call('POST', '/v1/aliases', { name: 'pinned', target }, from('RU'))).status).toBe(201);
    expectError(await chat('alias/pinned', 'RU'), excluded('alias/pinned', 'acme'));
    expect((await chat('alias/pinned', 'DE')).status).toBe(200);
  });
});

describe('a fallback chain', () => {
  it('passes over an entry that is excluded', async () => {
    bench.upstream.enqueue(json({ error: { message: 'out of order' } }, { status: 500 }));
    const fallback = { models: ['acme/meta/both', 'auto/meta/acme-only', 'open/meta/both'] };
    const reply = await chat('open/meta/open-only', 'RU', { fallback });
    expect(reply.status).toBe(200);
    expect(reply.json.router_metadata).toMatchObject({
      provider: 'open',
      model: 'both',
      providers_attempted: ['open', 'open'],
    });
  });

  it('is not walked after the 451 of the primary id', async () => {
    const reply = await chat('acme/meta/both', 'RU', { fallback: { models: ['open/meta/both'] } });
    expectError(reply, excluded('acme'));
    expect(callers()).toEqual([]);
  });

  it('of excluded entries alone answers with the primary’s own failure', async () => {
    bench.upstream.reply(json({ error: { message: 'out of order' } }, { status: 500 }));
    const reply = await chat('open/meta/open-only', 'RU', { fallback: { models: ['acme/meta/both'] } });
    expect([reply.status, reply.json.error.code]).toEqual([503, 'provider_error']);
    expect(reply.json.error.message).toContain('open');
  });
});

describe('GET /v1/models and explain', () => {
  const listed = async (country: string) =>
    ((await bench.gateway.call('GET', '/v1/models', undefined, from(country))).json.data as Json[]).map(({ id }) => id);

  it('the list leaves out what the caller’s territory may not use, `auto/` and aliases included', async () => {
    await bench.gateway.call('POST', '/v1/aliases', { name: 'a', target: 'acme/meta/both/defra' }, from('DE'));
    await bench.gateway.call('POST', '/v1/aliases', { name: 'b', target: 'auto/meta/acme-only' }, from('DE'));
    expect((await listed('RU')).sort()).toEqual([
      ...['auto/meta/both', 'auto/meta/open-only', 'auto/meta/two-excluding'],
      ...['beta/meta/two-excluding/defra', 'open/meta/both/defra', 'open/meta/open-only/defra'],
    ]);
    expect(await listed('DE')).toHaveLength(6 + 4 + 2);
    const one = await bench.gateway.call('GET', '/v1/models/acme/meta/both/defra', undefined, from('RU'));
    expect(one.status).toBe(404);
  });

  it('the explanation says `territory` of an excluded candidate, and has the 451 that the chat would have', async () => {
    const explain = async (id: string) =>
      (await bench.gateway.call('POST', '/v1/routes/explain', { model: id, messages }, from('RU'))).json;
    const left = await explain('auto/meta/both');
    expect(left.would_serve).toBe('open/meta/both/defra');
    expect(left.candidates.map(({ id, verdict, rank }: Json) => [id, verdict, rank])).toEqual([
      ['open/meta/both/defra', 'eligible', 1],
      ['acme/meta/both/defra', 'territory', null],
    ]);
    const none = await explain('acme/meta/both');
    expect([none.would_serve, none.error.error.code, none.error.error.param]).toEqual([
      null,
      'unavailable_for_legal_reasons',
      'model',
    ]);
    expect(none.counterfactuals).toEqual([]);
  });
});

describe('policy and terms together: the policy is checked first', () => {
  it('403 where the policy alone leaves nothing, 451 where the terms exclude what it leaves', async () => {
    const set = (policy: Json) => bench.gateway.call('PUT', '/v1/routing-policy', policy, from('DE'));
    await set({ providers: { deny: ['acme', 'open'] } });
    expect((await chat('auto/meta/both', 'RU')).json.error.code).toBe('routing_policy_exhausted');
    await set({ providers: { deny: ['open'] } });
    expectError(await chat('auto/meta/both', 'RU'), excluded('acme'));
    expect((await chat('auto/meta/both', 'DE')).status).toBe(200);
  });
});
