/** An account whose billing country is sanctioned is refused on every request, wherever the request comes from. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { ask, expectError, expectNothingSpent, useGateway } from '../harness.js';

const bench = useGateway();
const suspended = {
  status: 451,
  type: 'permission_error',
  code: 'unavailable_for_legal_reasons',
  says: ['North Korea (KP)', 'billing country', 'suspended'],
};

async function billedIn(country: string | null) {
  const account = await bench.gateway.createAccount();
  const change = (fields: Json) => bench.gateway.admin('PATCH', `/accounts/${account.accountId}`, fields);
  expect((await change({ billing_country: country })).status).toBe(200);
  return { account, change };
}

describe('an account billed in a sanctioned territory', () => {
  it.each([
    ['GET', '/v1/models'],
    ['GET', '/v1/credits'],
    ['GET', '/v1/key'],
    ['GET', '/v1/generations'],
    ['POST', '/v1/aliases'],
    ['PUT', '/v1/routing-policy'],
    ['DELETE', '/v1/fallback'],
    ['POST', '/v1/routes/explain'],
  ])('451 on %s %s, by name of the territory, without a param', async (method, path) => {
    const { account } = await billedIn('KP');
    const body = method === 'POST' || method === 'PUT' ? ask() : undefined;
    expectError(await bench.gateway.call(method, path, body, { key: account.key }), suspended);
  });

  it('451 on a chat, whole or streamed: no upstream is called, nothing is spent', async () => {
    const { account } = await billedIn('KP');
    for (const stream of [false, true]) {
      const act = () => bench.gateway.chat(ask({ stream }), { key: account.key });
      expectError(await expectNothingSpent(bench, account, act), suspended);
    }
  });

  it('follows a change at once, both ways', async () => {
    const { account, change } = await billedIn('DE');
    const status = async () => (await bench.gateway.chat(ask(), { key: account.key })).status;
    expect(await status()).toBe(200);
    await change({ billing_country: 'CU' });
    expect(await status()).toBe(451);
    await change({ billing_country: null });
    expect(await status()).toBe(200);
  });

  it.each(['UA', 'RU', 'DE'])('%s is served: regions of a country say nothing about the whole', async (country) => {
    const { account } = await billedIn(country);
    expect((await bench.gateway.chat(ask(), { key: account.key })).status).toBe(200);
  });

  it('leaves the operator’s own view of the account alone', async () => {
    const { account } = await billedIn('KP');
    expect((await bench.gateway.admin('GET', `/accounts/${account.accountId}`)).json.billing_country).toBe('KP');
  });
});
