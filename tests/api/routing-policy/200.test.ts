import { afterAll, describe, expect, it } from 'vitest';
import { startGateway } from '../../support/gateway.js';
import { expectError, useGateway } from '../harness.js';

const bench = useGateway();

const defaults = {
  object: 'routing_policy',
  deny_cloud_act: false,
  max_carbon: null,
  max_price: null,
  providers: { allow: [], deny: [] },
  creators: { allow: [], deny: [] },
  regions: { allow: [], deny: [] },
  deny_training: false,
  max_retention_days: null,
  require_in_region: false,
  require_eu_owned: false,
  certifications: [],
  quantizations: [],
  prefer: 'balanced',
};

async function owner() {
  const account = await bench.gateway.createAccount();
  const call = (method: string, body?: unknown) =>
    bench.gateway.call(method, '/v1/routing-policy', body, { key: account.key });
  return { ...account, call };
}

describe('GET, PUT and DELETE /v1/routing-policy', () => {
  it('200 with the defaults where nothing was set', async () => {
    const reply = await (await owner()).call('GET');
    expect([reply.status, reply.json]).toEqual([200, defaults]);
    expect(Object.keys(reply.json)).toEqual(Object.keys(defaults));
  });

  it('200 with the whole policy, which replaces the old one: an absent field is its default', async () => {
    const { call } = await owner();
    const first = await call('PUT', { deny_cloud_act: true, max_carbon: 62.5, prefer: 'carbon' });
    expect([first.status, first.json]).toEqual([
      200,
      { ...defaults, deny_cloud_act: true, max_carbon: 62.5, prefer: 'carbon' },
    ]);
    const second = await call('PUT', { max_price: 0.29, providers: { allow: ['acme'] }, creators: { deny: ['qwen'] } });
    const expected = {
      ...defaults,
      max_price: 0.29,
      providers: { allow: ['acme'], deny: [] },
      creators: { allow: [], deny: ['qwen'] },
    };
    expect([second.status, second.json]).toEqual([200, expected]);
    expect((await call('GET')).json).toEqual(expected);
  });

  it('takes its own answer back, and null for a default', async () => {
    const { call } = await owner();
    const { json } = await call('PUT', { max_carbon: 0, regions: { allow: ['DEFRA', 'fr'], deny: ['Deber'] } });
    expect(json.regions).toEqual({ allow: ['defra', 'FR'], deny: ['deber'] });
    expect((await call('PUT', json)).json).toEqual(json);
    const nulls = Object.fromEntries(Object.keys(defaults).map((name) => [name, null]));
    expect((await call('PUT', nulls)).json).toEqual(defaults);
  });

  it('204 without a body on DELETE, and the defaults are back', async () => {
    const { call } = await owner();
    await call('PUT', { max_carbon: 5 });
    for (let i = 0; i < 2; i++) {
      const reply = await call('DELETE');
      expect([reply.status, reply.text]).toEqual([204, '']);
    }
    expect((await call('GET')).json).toEqual(defaults);
  });

  it('is the account’s own, for all of its keys', async () => {
    const [mine, theirs] = [await owner(), await owner()];
    await mine.call('PUT', { max_carbon: 5 });
    expect((await theirs.call('GET')).json).toEqual(defaults);
    const second = await bench.gateway.admin('POST', `/accounts/${mine.accountId}/keys`, { name: 'second' });
    const reply = await bench.gateway.call('GET', '/v1/routing-policy', undefined, { key: second.json.token });
    expect(reply.json.max_carbon).toBe(5);
  });

  it('is in the audit, with who and what', async () => {
    const { call, accountId } = await owner();
    await call('PUT', { max_carbon: 5 });
    await call('DELETE');
    const { json } = await bench.gateway.admin('GET', '/audit');
    const mine = json.data.filter(({ subject }: { subject: string }) => subject === accountId);
    expect(mine.slice(0, 2)).toMatchObject([
      { actor: `account:${accountId}`, action: 'policy.delete' },
      { actor: `account:${accountId}`, action: 'policy.set', details: { max_carbon: 5 } },
    ]);
  });

  it('401 without a key, 405 with allow for another method', async () => {
    const { gateway } = bench;
    expect((await gateway.call('GET', '/v1/routing-policy', undefined, { key: null })).status).toBe(401);
    const reply = await (await owner()).call('POST', {});
    expectError(reply, { status: 405, type: 'invalid_request_error', code: 'method_not_allowed' });
    expect(reply.headers.allow).toMatch(/GET.*PUT.*DELETE/);
  });
});

describe('a policy and a chain', () => {
  const started = startGateway();
  afterAll(async () => (await started).stop());

  it('outlive the process', async () => {
    const gateway = await started;
    const { key } = await gateway.createAccount();
    const models = ['auto/lodestone/echo', 'sandbox/lodestone/echo/global'];
    const policy = { max_price: 0.29, regions: { allow: ['DE'] }, prefer: 'latency' };
    const set = await gateway.call('PUT', '/v1/routing-policy', policy, { key });
    const saved = await gateway.call('PUT', '/v1/fallback', { fallback: { models } }, { key });
    expect([set.status, saved.status], saved.text).toEqual([200, 200]);
    await gateway.restart();
    expect((await gateway.call('GET', '/v1/routing-policy', undefined, { key })).json).toEqual(set.json);
    expect((await gateway.call('GET', '/v1/fallback', undefined, { key })).json).toEqual(saved.json);
  });
});
