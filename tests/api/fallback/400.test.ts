import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { ask, badRequest, expectError, expectRefused, llama, useGateway } from '../harness.js';

const bench = useGateway();
const put = (body: unknown) => bench.gateway.call('PUT', '/v1/fallback', body);

const notServed: [string, string, string | RegExp][] = [
  ['an unknown model', 'auto/meta/unknown', 'the catalogue has no model "meta/unknown"'],
  ['an unknown provider', 'nobody/meta/llama/defra', 'the catalogue has no provider "nobody"'],
  ['a region where it is not served', 'acme/meta/llama/usnyc', /usnyc.*It is served in: frpar, defra/],
  ['a region-less endpoint that there is not', 'acme/meta/llama/global', 'only in specific regions'],
  ['no model id', 'llama', 'has 1 segment, but needs 3 or 4'],
  ['nothing', '', 'has 0 segments'],
  ['auto with a region', 'auto/meta/llama/defra', 'exactly 3'],
  ['an unknown alias', 'alias/nothing', 'no alias "nothing"'],
  ['an impossible alias', 'alias/No Such', 'not allowed'],
  ['a provider without credentials', 'keyless/meta/llama/defra', 'no credentials configured'],
  ['a route without a price', 'acme/meta/unpriced/defra', 'no published price'],
  ['auto with no route that can be priced', 'auto/meta/unpriced', 'no published price'],
];
const invalid = (entry: string, says: string | RegExp) => ({
  ...{ status: 400, type: 'invalid_request_error', code: 'invalid_fallback_model', param: 'fallback.models' },
  says: [`"${entry}"`, says],
});

describe('400 invalid_fallback_model', () => {
  it.each(notServed)('on saving: %s (%s), with the router’s own explanation', async (_what, entry, says) => {
    expectError(await put({ fallback: { models: [llama, entry] } }), invalid(entry, says));
    expect((await bench.gateway.call('GET', '/v1/fallback')).json.fallback.models).toEqual([]);
  });

  it.each(notServed)('on a chat request: %s (%s); no upstream is called', async (_what, entry, says) => {
    await expectRefused(bench, ask({ fallback: { models: [llama, entry] } }), invalid(entry, says));
  });

  it('for a model that is disabled at that time, on both', async () => {
    const state = (state: string) => bench.gateway.admin('PUT', '/models/meta/other/availability', { state });
    const entry = 'auto/meta/other';
    expect((await put({ fallback: { models: [entry] } })).status).toBe(200);
    await state('disabled');
    expectError(await put({ fallback: { models: [entry] } }), invalid(entry, 'is disabled'));
    await expectRefused(bench, ask({ fallback: { models: [entry] } }), invalid(entry, 'is disabled'));
    await state('available');
    expect((await put({ fallback: { models: [] } })).status).toBe(200);
  });

  it('for the alias of another account', async () => {
    const { key } = await bench.gateway.createAccount();
    await bench.gateway.call('POST', '/v1/aliases', { name: 'theirs', target: 'auto/meta/llama' }, { key });
    expectError(await put({ fallback: { models: ['alias/theirs'] } }), invalid('alias/theirs', 'no alias "theirs"'));
  });
});

describe('400 invalid_request_error on PUT /v1/fallback', () => {
  it.each<[string, Json, string]>([
    ['fallback.models', {}, 'missing'],
    ['fallback.models', { fallback: {} }, 'missing'],
    ['fallback.models', { fallback: { models: null } }, 'missing'],
    ['fallback', { fallback: [llama] }, 'an array'],
    ['fallback', { fallback: llama }, llama],
    ['fallback.models', { fallback: { models: llama } }, llama],
    ['fallback.models', { fallback: { models: [llama, null] } }, 'entry 1 is null'],
    ['fallback.models', { fallback: { models: Array(11).fill(llama) } }, '11'],
  ])('param %s for %j', async (param, body, says) => {
    expectError(await put(body), badRequest(param, says));
  });

  it.each(['', '[]', 'null', '{', '"x"'])('without param for the body %j', async (body) => {
    expectError(await put(body), badRequest());
  });
});
