import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { DashboardClient } from '../../support/dashboard-client.js';
import { ask, badRequest, expectError, useGateway } from '../harness.js';

const bench = useGateway();
let count = 0;
const email = () => `operator-${++count}@example.test`;
const admin = (method: string, path: string, body?: unknown) => bench.gateway.admin(method, path, body);
const fields = ['id', 'email', 'name', 'status', 'billing_country', 'balance_usd', 'created_at'];

describe('POST /admin/v1/accounts', () => {
  it('201 with the account: active, without credit', async () => {
    const address = email();
    const { status, json } = await admin('POST', '/accounts', { email: address, name: 'Ada', billing_country: 'de' });
    expect(status).toBe(201);
    expect(Object.keys(json)).toEqual(expect.arrayContaining(fields));
    expect(json).toMatchObject({
      email: address,
      name: 'Ada',
      status: 'active',
      billing_country: 'DE',
      balance_usd: '0',
    });
    expect(json.created_at).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect((await admin('GET', `/accounts/${json.id}`)).json).toEqual(json);
  });

  it('needs no more than an address', async () => {
    expect((await admin('POST', '/accounts', { email: email() })).json).toMatchObject({
      name: null,
      billing_country: null,
    });
  });

  it('takes a password and never shows it', async () => {
    const reply = await admin('POST', '/accounts', { email: email(), password: 'correct horse 77' });
    expect(reply.status).toBe(201);
    expect(reply.text + (await admin('GET', '/audit')).text).not.toContain('correct horse');
  });

  it('409 for an address that is taken, whatever its case', async () => {
    const address = email();
    await admin('POST', '/accounts', { email: address });
    const reply = await admin('POST', '/accounts', { email: address.toUpperCase() });
    expectError(reply, {
      status: 409,
      type: 'invalid_request_error',
      code: 'account_exists',
      param: 'email',
      says: [address],
    });
  });

  it.each<[Json, string]>([
    [{}, 'email'],
    [{ email: 'nonsense' }, 'email'],
    [{ email: 5 }, 'email'],
    [{ email: 'a@example.test', name: '' }, 'name'],
    [{ email: 'a@example.test', billing_country: 'Germany' }, 'billing_country'],
    [{ email: 'a@example.test', password: 'short' }, 'password'],
    [{ email: 'a@example.test', balance_usd: '100' }, 'balance_usd'],
  ])('400 for %j, naming %s', async (body, param) =>
    expectError(await admin('POST', '/accounts', body), badRequest(param)),
  );
});

describe('GET /admin/v1/accounts', () => {
  it('lists every account', async () => {
    const made = (await admin('POST', '/accounts', { email: email() })).json;
    const { json } = await admin('GET', '/accounts');
    expect(json.object).toBe('list');
    expect(json.data).toContainEqual(made);
  });

  it('404 for one that does not exist, on every path under it', async () => {
    for (const [method, path, body] of [
      ['GET', ''],
      ['PATCH', '', { status: 'active' }],
      ['POST', '/credits', { amount_usd: '1' }],
      ['GET', '/ledger'],
      ['POST', '/keys', { name: 'k' }],
      ['GET', '/keys'],
      ['DELETE', '/keys/x'],
    ] as [string, string, unknown?][]) {
      const reply = await admin(method, `/accounts/nobody${path}`, body);
      expect([reply.status, reply.json.error.type, reply.json.error.code], path).toEqual([
        404,
        'not_found',
        'not_found',
      ]);
    }
  });
});

describe('PATCH /admin/v1/accounts/{id}', () => {
  it('sets status, country and limits, and leaves what is not sent', async () => {
    const { id } = (await admin('POST', '/accounts', { email: email(), billing_country: 'FR' })).json;
    const limits = { requests_per_minute: 10, tokens_per_minute: 2_000 };
    const changed = await admin('PATCH', `/accounts/${id}`, { status: 'suspended', limits });
    expect([changed.status, changed.json]).toEqual([
      200,
      expect.objectContaining({ status: 'suspended', billing_country: 'FR', limits }),
    ]);
    const back = await admin('PATCH', `/accounts/${id}`, {
      status: 'active',
      billing_country: null,
      limits: { requests_per_minute: null },
    });
    expect(back.json).toMatchObject({
      status: 'active',
      billing_country: null,
      limits: { requests_per_minute: null, tokens_per_minute: 2_000 },
    });
  });

  it('a suspension holds on the next request, and so does its end', async () => {
    const { gateway } = bench;
    const { key, accountId } = await gateway.createAccount();
    for (const [status, expected] of [
      ['suspended', 403],
      ['active', 200],
      ['suspended', 403],
    ] as const) {
      await admin('PATCH', `/accounts/${accountId}`, { status });
      expect((await gateway.chat(ask(), { key })).status).toBe(expected);
    }
  });

  it.each<[Json, string]>([
    [{ status: 'gone' }, 'status'],
    [{ billing_country: 'DEU' }, 'billing_country'],
    [{ limits: { requests_per_minute: 0 } }, 'limits.requests_per_minute'],
    [{ limits: { tokens_per_minute: 'many' } }, 'limits.tokens_per_minute'],
    [{ email: 'other@example.test' }, 'email'],
  ])('400 for %j, naming %s', async (body, param) => {
    const { id } = (await admin('POST', '/accounts', { email: email() })).json;
    expectError(await admin('PATCH', `/accounts/${id}`, body), badRequest(param));
  });
});

describe('the admin token', () => {
  const paths: [string, string][] = [
    ['GET', '/accounts'],
    ['POST', '/accounts'],
    ['GET', '/accounts/x'],
    ['PATCH', '/accounts/x'],
    ['POST', '/accounts/x/credits'],
    ['GET', '/accounts/x/ledger'],
    ['POST', '/accounts/x/keys'],
    ['GET', '/accounts/x/keys'],
    ['DELETE', '/accounts/x/keys/y'],
    ['GET', '/routes'],
    ['PUT', '/models/meta/llama/availability'],
    ['DELETE', '/routes/acme/meta/llama/defra/hold'],
    ['POST', '/catalogue/reload'],
    ['GET', '/audit'],
  ];

  it.each(paths)(
    '%s %s: 401 authentication_error without it, with a wrong one, and with a caller’s key',
    async (method, path) => {
      const { key } = await bench.gateway.account();
      for (const wrong of [null, key, 'test-admin-token-of-no-valuE', '']) {
        const reply = await bench.gateway.call(method, `/admin/v1${path}`, method === 'GET' ? undefined : {}, {
          key: wrong,
        });
        expectError(reply, {
          status: 401,
          type: 'authentication_error',
          code: 'authentication_error',
          says: ['admin token'],
        });
      }
    },
  );

  it('is no key for the API', async () => {
    const reply = await bench.gateway.call('GET', '/v1/models', undefined, { key: 'test-admin-token-of-no-value' });
    expect([reply.status, reply.json.error.code]).toEqual([401, 'api_key_malformed']);
  });
});

describe('PUT /admin/v1/accounts/{id}/password', () => {
  it('204 for each of several first passwords that are set at the same time, and one of them signs in', async () => {
    const address = email();
    const { id } = (await admin('POST', '/accounts', { email: address })).json;
    const passwords = Array.from({ length: 6 }, (_, number) => `correct horse ${number}`);
    const replies = await Promise.all(
      passwords.map((password) => admin('PUT', `/accounts/${id}/password`, { password })),
    );
    expect(replies.map(({ status }) => status)).toEqual(passwords.map(() => 204));
    const signIn = (password: string) =>
      new DashboardClient(bench.gateway.url).call('POST', 'sign-in', { email: address, password });
    const outcomes = await Promise.all(passwords.map(async (password) => (await signIn(password)).status));
    expect(outcomes.filter((status) => status === 200)).toHaveLength(1);
  });
});
