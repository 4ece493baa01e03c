/** What a key has used with own credentials, in OpenRouter's words: beside the usage of credits, and not in it. */
import { expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { ManualClock } from '../../support/manual-clock.js';
import { makeSecretsKey } from '../../support/secrets-key.js';
import { keyed, own } from '../credentials/customer.js';
import { ask, llama, useGateway } from '../harness.js';
import { managerOf } from '../projects/manager.js';

const bench = useGateway({
  // In the middle of a day, a week and a month.
  clock: new ManualClock(),
  env: { KEYED_API_KEY: 'the-key-of-the-operator' },
  config: {
    compat: { openrouter: true },
    secrets: { key_file: makeSecretsKey() },
    own_keys: { fee_percent: '10', fee_per_request_usd: '0.001' },
  },
});

it.each([true, false])('where limits count own credentials: %s', async (countsOwn) => {
  const { gateway } = bench;
  const { call, key, managerKey: managementKey, accountId } = await managerOf(bench);
  await gateway.admin('PATCH', `/accounts/${accountId}`, { budgets_count_own_keys: countsOwn });
  const secret = { provider: 'keyed', name: 'our key', secret: { api_key: own } };
  expect((await call('POST', '/credentials', secret)).status).toBe(201);
  const served = async (model: string) => (await gateway.chat(ask({ model }), { key })).json.usage;
  const [byOwn, again, byOperators] = [await served(keyed), await served(keyed), await served(llama)];
  expect([byOwn.is_byok, byOperators.is_byok]).toEqual([true, undefined]);
  const paid = expect.closeTo(byOwn.cost + again.cost + byOperators.cost, 12);
  const list = expect.closeTo(byOwn.notional_cost + again.notional_cost, 12);
  const figures = {
    ...{ usage: paid, usage_daily: paid, usage_weekly: paid, usage_monthly: paid },
    ...{ byok_usage: list, byok_usage_daily: list, byok_usage_weekly: list, byok_usage_monthly: list },
    include_byok_in_limit: countsOwn,
  };
  const api = (method: string, path: string, as: string, body?: Json) =>
    gateway.call(method, `/api/v1${path}`, body, { key: as });
  expect((await api('GET', '/key', key)).json.data).toMatchObject(figures);
  const { data } = (await api('GET', '/keys', managementKey)).json;
  const shown = data.find(({ usage }: Json) => usage !== 0);
  expect(shown).toMatchObject(figures);
  const limited = async (fields: Json) => {
    const { status, json } = await api('PATCH', `/keys/${shown.hash}`, managementKey, fields);
    return [status, json.data?.limit_remaining];
  };
  const counted = byOperators.cost + (countsOwn ? byOwn.notional_cost + again.notional_cost : byOwn.cost + again.cost);
  expect(await limited({ limit: 5, include_byok_in_limit: countsOwn })).toEqual([200, expect.closeTo(5 - counted, 12)]);
  expect((await limited({ limit: 5, include_byok_in_limit: true }))[0]).toBe(countsOwn ? 200 : 422);
});

it('a client that skips the keys that it has read comes to the end of the list', async () => {
  const { gateway } = bench;
  const { call, managerKey: key } = await managerOf(bench);
  for (const name of ['one', 'two']) await call('POST', '/keys', { name });
  const hashes = async (query = '') =>
    (await gateway.call('GET', `/api/v1/keys${query}`, undefined, { key })).json.data.map(({ hash }: Json) => hash);
  const all = await hashes();
  expect(all).toHaveLength(4);
  expect(await hashes('?offset=3')).toEqual(all.slice(3));
  expect(await hashes('?offset=4')).toEqual([]);
  expect(await hashes('?offset=0')).toEqual(all);
});
