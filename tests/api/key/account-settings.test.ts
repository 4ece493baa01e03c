/** A key with a restriction reads the settings of its account, which hold for all of its keys, and cannot change them. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Json, TestAccount } from '../../support/client.js';
import { expectError, llama, useGateway } from '../harness.js';

const bench = useGateway({ config: { limits: { key_requests_per_minute: 10_000 } } });
let owner: TestAccount;

const readings = ['/v1/aliases', '/v1/aliases/fast', '/v1/fallback', '/v1/routing-policy'];
const changes: [method: string, path: string, body?: Json][] = [
  ['POST', '/v1/aliases', { name: 'dear', target: 'auto/meta/llama' }],
  ['PUT', '/v1/aliases/fast', { target: 'auto/meta/llama' }],
  ['PATCH', '/v1/aliases/fast', { target: 'auto/meta/llama' }],
  ['DELETE', '/v1/aliases/fast'],
  ['PUT', '/v1/fallback', { fallback: { models: ['auto/meta/llama'] } }],
  ['DELETE', '/v1/fallback'],
  ['PUT', '/v1/routing-policy', { deny_cloud_act: false }],
  ['DELETE', '/v1/routing-policy'],
];
const restrictions: Json[] = [
  { limit_usd: '0' },
  { limit_usd: '1000000' },
  { allowed_models: [llama] },
  { allowed_providers: ['acme'] },
  { allowed_ips: ['127.0.0.0/8', '::1'] },
  { requests_per_minute: 9_000 },
  { tokens_per_minute: 5_000 },
];

const call = (key: string, method: string, path: string, body?: unknown) =>
  bench.gateway.call(method, path, body, { key });

async function keyWith(fields: Json): Promise<{ id: string; token: string }> {
  const reply = await bench.gateway.admin('POST', `/accounts/${owner.accountId}/keys`, { name: 'k', ...fields });
  expect(reply.status, reply.text).toBe(201);
  return reply.json;
}

async function settings(key = owner.key): Promise<unknown[]> {
  const replies = await Promise.all(readings.map((path) => call(key, 'GET', path)));
  return replies.map(({ status, json }) => [status, json]);
}

/** The settings as every test finds and leaves them. */
async function saveSettings(key: string): Promise<void> {
  await call(key, 'DELETE', '/v1/aliases/dear');
  await call(key, 'POST', '/v1/aliases', { name: 'fast', target: llama });
  const saved = [
    await call(key, 'PUT', '/v1/aliases/fast', { target: llama }),
    await call(key, 'PUT', '/v1/fallback', { fallback: { models: [llama] } }),
    await call(key, 'PUT', '/v1/routing-policy', { deny_cloud_act: true }),
  ];
  expect(saved.map(({ status }) => status)).toEqual([200, 200, 200]);
}

/** Every change works, one after another. */
async function expectChanges(key: string): Promise<void> {
  const statuses: number[] = [];
  for (const [method, path, body] of changes) statuses.push((await call(key, method, path, body)).status);
  expect(statuses).toEqual([201, 200, 200, 204, 200, 204, 200, 204]);
  await saveSettings(key);
}

/** Every change is refused, also one with a body that is not valid, and the settings stay. */
async function expectRefused(key: string, fields: string[]): Promise<void> {
  const before = await settings();
  const row = { status: 403, type: 'permission_error', code: 'management_key_required', says: fields };
  for (const [method, path, body] of changes) {
    const reply = await call(key, method, path, body);
    expectError(reply, row);
    expect(reply.headers['x-ratelimit-limit-requests'], 'the request counts').toBeDefined();
    if (body) expectError(await call(key, method, path, '{'), row);
  }
  expectError(await call(key, 'DELETE', '/v1/aliases/unknown'), row);
  expect(await settings()).toEqual(before);
  expect(await settings(key)).toEqual(before);
}

beforeAll(async () => {
  owner = await bench.gateway.createAccount();
  await saveSettings(owner.key);
});

describe('a key with a restriction', () => {
  it.each(restrictions)(
    '403 management_key_required for every change with %j; nothing changes, reading works',
    async (fields) => {
      await expectRefused((await keyWith(fields)).token, Object.keys(fields));
    },
  );

  it('a restricted management key is refused too, and still manages keys', async () => {
    const { token, id } = await keyWith({ kind: 'management', allowed_ips: ['127.0.0.0/8', '::1'] });
    await expectRefused(token, ['allowed_ips']);
    expect((await call(token, 'PATCH', `/v1/keys/${id}`, { name: 'renamed' })).status).toBe(200);
  });

  it('is refused from the next request on that follows the restriction, and no longer than it holds', async () => {
    const { token, id } = await keyWith({});
    const path = `/accounts/${owner.accountId}/keys/${id}`;
    await expectChanges(token);
    await bench.gateway.admin('PATCH', path, { limit_usd: '1', allowed_models: [llama] });
    await expectRefused(token, ['limit_usd', 'allowed_models']);
    await bench.gateway.admin('PATCH', path, { limit_usd: null, allowed_models: null });
    await expectChanges(token);
  });

  it('gets its 401, its 403 for an address and its 429 first', async () => {
    const disabled = await keyWith({ limit_usd: '1', disabled: true });
    expect((await call(disabled.token, 'DELETE', '/v1/fallback')).json.error.code).toBe('api_key_disabled');
    const elsewhere = await keyWith({ allowed_ips: ['10.0.0.0/8'] });
    expect((await call(elsewhere.token, 'DELETE', '/v1/fallback')).json.error.code).toBe('key_scope');
    const slow = await keyWith({ requests_per_minute: 1 });
    const statuses = [1, 2].map(() => call(slow.token, 'DELETE', '/v1/fallback'));
    expect((await Promise.all(statuses)).map(({ status }) => status).sort()).toEqual([403, 429]);
  });
});

describe('a key without restrictions', () => {
  it.each([
    {},
    { kind: 'management' },
    { limit_reset: 'daily' },
    { expires: '7d' },
    { limit_usd: null, allowed_ips: null },
  ])('changes everything with %j', async (fields) => expectChanges((await keyWith(fields)).token));
});
