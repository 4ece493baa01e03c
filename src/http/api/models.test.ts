import { beforeAll, describe, expect, it } from 'vitest';
import { type HttpFixture, httpFixture } from '../../../tests/support/http-fixture.js';

async function ids(fixture: HttpFixture): Promise<string[]> {
  const answer = await fixture.app.inject({ url: '/v1/models', headers: fixture.asKey });
  expect(answer.statusCode).toBe(200);
  return answer.json().data.map(({ id }: { id: string }) => id);
}

const alias = {
  name: 'fast',
  provider: 'acme',
  canonicalId: 'meta/llama',
  locode: 'defra',
  createdAt: 0,
  updatedAt: 0,
};

describe('GET /v1/models', () => {
  it('lists servable routes, one auto id a model and the aliases; nothing unconfigured or unpriced', async () => {
    const fixture = await httpFixture();
    fixture.account.aliases.set('fast', alias);
    expect(await ids(fixture)).toEqual([
      'acme/meta/llama/defra',
      'acme/meta/llama/usnyc',
      'zeta/meta/llama/global',
      'auto/meta/llama',
      'alias/fast',
    ]);
  });

  it.each(['disabled', 'soft_disabled'] as const)(
    'lists nothing of a model that is %s, an alias of it neither',
    async (state) => {
      const fixture = await httpFixture();
      fixture.account.aliases.set('fast', alias);
      await fixture.deps.modelStates.set('meta/llama', { state, reason: null });
      expect(await ids(fixture)).toEqual([]);
    },
  );

  it('leaves out a held route at once, and lists it again at midnight UTC or when the hold is lifted', async () => {
    const fixture = await httpFixture();
    fixture.account.aliases.set('fast', alias);
    const everything = await ids(fixture);
    fixture.holds.hold('acme/meta/llama/defra', 'upstream');
    expect(await ids(fixture)).toEqual(['acme/meta/llama/usnyc', 'zeta/meta/llama/global', 'auto/meta/llama']);
    fixture.holds.hold('acme/meta/llama/usnyc', 'upstream');
    fixture.holds.hold('zeta/meta/llama/global', 'daily_token_quota');
    expect(await ids(fixture)).toEqual([]);
    await fixture.holds.lift('zeta/meta/llama/global');
    expect(await ids(fixture)).toEqual(['zeta/meta/llama/global', 'auto/meta/llama']);
    fixture.clock.setWall('2026-01-16T00:00:00Z');
    expect(await ids(fixture)).toEqual(everything);
  });

  it('leaves out the routes of providers whose terms exclude the caller’s territory', async () => {
    const fixture = await httpFixture();
    const { providers } = fixture.deps.catalogue.current!;
    Object.assign(providers.get('acme')!, { excludedTerritories: ['RU'] });
    expect(await ids(fixture)).toContain('acme/meta/llama/defra');
    fixture.place.code = 'RU';
    expect(await ids(fixture)).toEqual(['zeta/meta/llama/global', 'auto/meta/llama']);
  });

  it('400 for a kind that does not exist, also an empty one', async () => {
    const { app, asKey } = await httpFixture();
    for (const kind of ['', 'picture']) {
      const answer = await app.inject({ url: `/v1/models?kind=${kind}`, headers: asKey });
      expect([answer.statusCode, answer.json().error.param]).toEqual([400, 'kind']);
    }
  });

  it('401 without a key, 503 without a snapshot', async () => {
    const fixture = await httpFixture({
      catalogue: { current: null, reload: async () => ({ ok: false, faults: [] }) },
    });
    expect((await fixture.app.inject('/v1/models')).statusCode).toBe(401);
    const answer = await fixture.app.inject({ url: '/v1/models', headers: fixture.asKey });
    expect([answer.statusCode, answer.json().error.code]).toEqual([503, 'service_unavailable']);
  });
});

describe('GET /v1/models/{id}', () => {
  let fixture: HttpFixture;
  beforeAll(async () => {
    fixture = await httpFixture();
    fixture.account.aliases.set('fast', alias);
  });
  const get = (id: string) => fixture.app.inject({ url: `/v1/models/${id}`, headers: fixture.asKey });

  it('gives a route with price, place and supported parameters; the case of the locode does not matter', async () => {
    const answer = await get('acme/meta/llama/DEFRA');
    expect(answer.json()).toMatchObject({
      ...{ id: 'acme/meta/llama/defra', object: 'model', created: 1_735_689_600, owned_by: 'meta', name: 'llama' },
      ...{
        context_length: 8192,
        max_output_tokens: 1024,
        provider: 'acme',
        locode: 'defra',
        country: 'DE',
        carbon: 344,
        cloud_act: true,
      },
      pricing: { prompt: '0.0000006', completion: '0.0000008', input_cache_read: null },
    });
    const { supported_parameters } = answer.json();
    expect(supported_parameters).toEqual(expect.arrayContaining(['temperature', 'tools', 'tool_choice', 'n']));
    expect(supported_parameters).not.toContain('response_format');
    expect(supported_parameters).not.toContain('vision');
  });

  it('gives the default region for three segments, and escaped slashes are slashes', async () => {
    expect((await get('acme/meta/llama')).json().id).toBe('acme/meta/llama/defra');
    expect((await get('acme%2Fmeta%2Fllama%2Fusnyc')).json().id).toBe('acme/meta/llama/usnyc');
  });

  it('gives an auto id what its routes agree on, and what any of them can apply', async () => {
    const entry = (await get('auto/meta/llama')).json();
    expect(entry).toMatchObject({
      id: 'auto/meta/llama',
      provider: 'auto',
      locode: null,
      country: null,
      cloud_act: null,
    });
    expect(entry.pricing.prompt).toBe('0.0000006');
    expect(entry.supported_parameters).toEqual(expect.arrayContaining(['n', 'response_format']));
  });

  it('gives an alias by its own id', async () => {
    expect((await get('alias/fast')).json()).toMatchObject({ id: 'alias/fast', provider: 'acme', locode: 'defra' });
  });

  it.each([
    ['acme/meta/unpriced/global', 'cannot be served: its price is not published.'],
    ['bare/meta/llama/global', 'cannot be served: the provider bare is not configured.'],
    ['auto/meta/nothing', 'cannot be served: the catalogue has no model "meta/nothing".'],
  ])('says why %s cannot be served', async (id, says) => {
    expect((await get(id)).json().error.message).toContain(says);
  });

  it.each([
    ['acme/meta/nothing', 'not_found'],
    ['nobody/meta/llama', 'not_found'],
    ['acme/meta/llama/global', 'not_found'],
    ['acme/meta/llama/jptyo', 'not_found'],
    ['acme/meta/unpriced/global', 'not_found'],
    ['bare/meta/llama/global', 'not_found'],
    ['auto/meta/unpriced', 'not_found'],
    ['auto/meta/nothing', 'not_found'],
    ['alias/nothing', 'alias_not_found'],
    ['__proto__/a/b', 'not_found'],
    ['gpt-4', 'not_found'],
    ['a/b/c/d/e/f', 'not_found'],
    ['', 'not_found'],
  ])('404 for %j', async (id, code) => {
    const answer = await get(id);
    expect([answer.statusCode, answer.json().error.code]).toEqual([404, code]);
  });
});
