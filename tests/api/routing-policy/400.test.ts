import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { badRequest, expectError, useGateway } from '../harness.js';

const bench = useGateway();
const put = async (body: unknown) => bench.gateway.call('PUT', '/v1/routing-policy', body);

describe('400 on PUT /v1/routing-policy', () => {
  it.each<[string, Json, string]>([
    ['deny_cloud_act', { deny_cloud_act: 'true' }, '"true"'],
    ['deny_cloud_act', { deny_cloud_act: 0 }, '0'],
    ['max_carbon', { max_carbon: '62' }, '"62"'],
    ['max_carbon', { max_carbon: -1 }, '-1'],
    ['max_carbon', { max_carbon: {} }, 'an object'],
    ['max_price', { max_price: false }, 'false'],
    ['max_price', { max_price: -0.5 }, '-0.5'],
    ['providers', { providers: [] }, 'an array'],
    ['providers.allow', { providers: { allow: 'acme' } }, '"acme"'],
    ['providers.deny', { providers: { deny: ['acme', 7] } }, 'entry 1 is 7'],
    ['providers.deny', { providers: { deny: ['acme/meta'] } }, '"acme/meta"'],
    ['providers.denny', { providers: { denny: [] } }, 'allow and deny'],
    ['creators.allow', { creators: { allow: [''] } }, 'entry 0 is ""'],
    ['regions.allow', { regions: { allow: ['Frankfurt'] } }, '"Frankfurt"'],
    ['regions.deny', { regions: { deny: ['global'] } }, '"global"'],
    ['prefer', { prefer: 'fastest' }, 'balanced, price, latency, carbon'],
    ['deny_cloudact', { deny_cloudact: true }, 'deny_cloud_act'],
    ['constructor', { constructor: {} }, 'not a field'],
  ])('param %s for %j, and the message names the value', async (param, body, says) => {
    expectError(await put(body), badRequest(param, `\`${param}\``, says));
  });

  it.each(['{"max_carbon":1e999}', '{"__proto__":{"max_carbon":1}}'])('for %s', async (body) => {
    expect((await put(body)).json.error).toMatchObject({ code: 'invalid_request_error', param: expect.any(String) });
  });

  it.each(['', '[]', 'null', '{', '"x"'])('without param for the body %j', async (body) => {
    expectError(await put(body), badRequest());
  });

  it('changes nothing: the gates that were set stay set', async () => {
    const { key } = await bench.gateway.createAccount();
    const call = (method: string, body?: unknown) => bench.gateway.call(method, '/v1/routing-policy', body, { key });
    const { json } = await call('PUT', { max_carbon: 62 });
    expect((await call('PUT', { deny_cloud_act: true, max_carbn: 5 })).status).toBe(400);
    expect((await call('GET')).json).toEqual(json);
  });
});
