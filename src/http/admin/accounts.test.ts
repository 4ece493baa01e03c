import { beforeEach, describe, expect, it } from 'vitest';
import { type HttpFixture, httpFixture } from '../../../tests/support/http-fixture.js';

let fixture: HttpFixture;

beforeEach(async () => {
  fixture = await httpFixture();
});

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

function call(method: Method, path: string, payload?: object) {
  return fixture.app.inject({ method, url: `/admin/v1${path}`, headers: fixture.asAdmin, ...(payload && { payload }) });
}

const ofAccount = (path: string) => `/accounts/${fixture.account.id}${path}`;

describe('accounts', () => {
  it('201 with the account, which is then listed and shown', async () => {
    const answer = await call('POST', '/accounts', {
      email: ' New@Example.com ',
      name: 'New',
      password: 'correct horse',
      billing_country: 'de',
    });
    expect(answer.statusCode).toBe(201);
    const account = answer.json();
    expect(account).toMatchObject({
      email: 'new@example.com',
      name: 'New',
      status: 'active',
      billing_country: 'DE',
      balance_usd: '0',
    });
    expect(answer.body).not.toContain('correct horse');
    expect((await call('GET', `/accounts/${account.id}`)).json()).toEqual(account);
    const list = (await call('GET', '/accounts')).json();
    expect(list.object).toBe('list');
    expect(list.data.map(({ email }: { email: string }) => email)).toEqual(['owner@example.com', 'new@example.com']);
  });

  it('hands the password to the dashboard’s sign-in and keeps it nowhere', async () => {
    const given: string[] = [];
    fixture = await httpFixture({ createSignIn: async (_account, password) => void given.push(password) });
    await call('POST', '/accounts', { email: 'a@example.com', password: 'correct horse' });
    expect(given).toEqual(['correct horse']);
    expect(JSON.stringify(fixture.store.auditRows)).not.toContain('correct horse');
  });

  it('409 account_exists, whatever the case of the address', async () => {
    const answer = await call('POST', '/accounts', { email: 'OWNER@example.com' });
    expect([answer.statusCode, answer.json().error.code]).toEqual([409, 'account_exists']);
  });

  it.each([
    [{}, 'email'],
    [{ email: 'nonsense' }, 'email'],
    [{ email: 7 }, 'email'],
    [{ email: 'a@example.com', name: 'a\u0000b' }, 'name'],
    [{ email: 'a@example.com', billing_country: 'Germany' }, 'billing_country'],
    [{ email: 'a@example.com', password: 'tiny-7' }, 'password'],
    [{ email: 'a@example.com', nickname: 'x' }, 'nickname'],
  ])('400 for %j, naming %s', async (body, param) => {
    const answer = await call('POST', '/accounts', body);
    expect([answer.statusCode, answer.json().error.param]).toEqual([400, param]);
    expect(answer.body).not.toContain('tiny-7');
  });

  it('says what is missing or too short in plain words', async () => {
    const messageOf = async (body: object) => (await call('POST', '/accounts', body)).json().error.message;
    expect(await messageOf({})).toBe('`email` is missing.');
    expect(await messageOf({ email: 'a@example.com', password: 'tiny-7' })).toBe(
      '`password` is too short. Use at least 8 characters.',
    );
  });

  it('names the value that was refused', async () => {
    expect((await call('POST', '/accounts', { email: 'nonsense' })).json().error.message).toContain('"nonsense"');
  });

  it('PATCH suspends, sets country and limits, and gives the default back for null', async () => {
    const first = await call('PATCH', ofAccount(''), {
      status: 'suspended',
      billing_country: 'FR',
      limits: { requests_per_minute: 7 },
    });
    expect(first.statusCode).toBe(200);
    expect(first.json()).toMatchObject({
      status: 'suspended',
      billing_country: 'FR',
      limits: { requests_per_minute: 7, tokens_per_minute: null },
    });
    const second = await call('PATCH', ofAccount(''), {
      status: 'active',
      billing_country: null,
      limits: { requests_per_minute: null },
    });
    expect(second.json()).toMatchObject({
      status: 'active',
      billing_country: null,
      limits: { requests_per_minute: null },
    });
  });

  it.each([
    [{ status: 'gone' }, 'status'],
    [{ limits: { requests_per_minute: 0 } }, 'limits.requests_per_minute'],
    [{ limits: { tokens_per_minute: 1.5 } }, 'limits.tokens_per_minute'],
    [{ limits: { tokens: 1 } }, 'limits.tokens'],
    [{ email: 'x@example.com' }, 'email'],
  ])('PATCH 400 for %j, naming %s', async (body, param) => {
    const answer = await call('PATCH', ofAccount(''), body);
    expect([answer.statusCode, answer.json().error.param]).toEqual([400, param]);
  });

  it('404 for an unknown account on every path under it', async () => {
    const calls = [
      call('GET', '/accounts/nope'),
      call('PATCH', '/accounts/nope', {}),
      call('POST', '/accounts/nope/credits', { amount_usd: '1' }),
      call('GET', '/accounts/nope/ledger'),
      call('POST', '/accounts/nope/keys', { name: 'k' }),
      call('GET', '/accounts/nope/keys'),
      call('DELETE', '/accounts/nope/keys/k'),
    ];
    for (const answer of await Promise.all(calls)) {
      expect([answer.statusCode, answer.json().error.code]).toEqual([404, 'not_found']);
    }
  });

  it('500 when the store is away', async () => {
    fixture.store.away = true;
    expect((await call('GET', '/accounts')).statusCode).toBe(500);
    expect((await call('POST', '/accounts', { email: 'a@example.com' })).statusCode).toBe(500);
  });
});
