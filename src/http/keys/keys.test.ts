import { beforeEach, describe, expect, it } from 'vitest';
import { type HttpFixture, httpFixture } from '../../../tests/support/http-fixture.js';
import { unrestricted } from '../../../tests/support/key-terms.js';

let fixture: HttpFixture;

beforeEach(async () => {
  fixture = await httpFixture();
});

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

function call(method: Method, path: string, payload?: object) {
  return fixture.app.inject({ method, url: `/admin/v1${path}`, headers: fixture.asAdmin, ...(payload && { payload }) });
}

const ofAccount = (path: string) => `/accounts/${fixture.account.id}${path}`;

describe('keys', () => {
  it('201 with the token, once; the list has the prefix and the last four', async () => {
    const answer = await call('POST', ofAccount('/keys'), { name: 'deploy', expires: '12mo' });
    expect(answer.statusCode).toBe(201);
    const { token, ...shown } = answer.json();
    expect(token).toMatch(/^sk-lr-[A-Za-z0-9_-]{43}$/);
    expect(shown).toEqual({
      ...{
        id: token.slice(6, 16),
        name: 'deploy',
        prefix: 'sk-lr-',
        last_four: token.slice(-4),
        imported_from: null,
        state: 'active',
      },
      ...{ expires_at: '2027-01-15T12:00:00.000Z', created_at: '2026-01-15T12:00:00.000Z' },
      ...unrestricted,
    });
    const list = await call('GET', ofAccount('/keys'));
    expect(list.json().data).toContainEqual(shown);
    expect(list.body).not.toContain(token);
  });

  it('expires in exactly the time that was asked for, counted from its creation, also while time passes', async () => {
    const { clock } = fixture;
    const { now } = clock;
    clock.now = () => {
      clock.advance(1);
      return now.call(clock);
    };
    const { created_at, expires_at } = (await call('POST', ofAccount('/keys'), { name: 'a', expires: '7d' })).json();
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(7 * 86_400_000);
  });

  it('expires after 90 days when left out, never when asked so', async () => {
    expect((await call('POST', ofAccount('/keys'), { name: 'a' })).json().expires_at).toBe('2026-04-15T12:00:00.000Z');
    expect((await call('POST', ofAccount('/keys'), { name: 'b', expires: 'never' })).json().expires_at).toBeNull();
  });

  it('stays listed as expired', async () => {
    const { id } = (await call('POST', ofAccount('/keys'), { name: 'a', expires: '7d' })).json();
    fixture.clock.advance(7 * 86_400_000);
    const keys = (await call('GET', ofAccount('/keys'))).json().data;
    expect(keys.find((key: { id: string }) => key.id === id).state).toBe('expired');
  });

  it.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: 'k', expires: '13mo' }, 'expires'],
    [{ name: 'k', expires: '2001-01-01T00:00:00Z' }, 'expires'],
    [{ name: 'k', expires: 90 }, 'expires'],
  ])('400 for %j, naming %s', async (body, param) => {
    const answer = await call('POST', ofAccount('/keys'), body);
    expect([answer.statusCode, answer.json().error.param]).toEqual([400, param]);
  });

  it('DELETE 204, then the next request of the key is 401, then 404', async () => {
    const path = ofAccount(`/keys/${fixture.key.id}`);
    expect((await call('DELETE', path)).statusCode).toBe(204);
    const next = await fixture.app.inject({ url: '/v1/credits', headers: fixture.asKey });
    expect(next.json().error.code).toBe('api_key_not_registered');
    expect((await call('DELETE', path)).statusCode).toBe(404);
  });

  it('DELETE takes no notice of a JSON content type without a body', async () => {
    const headers = { ...fixture.asAdmin, 'content-type': 'application/json' };
    const url = `/admin/v1${ofAccount(`/keys/${fixture.key.id}`)}`;
    expect((await fixture.app.inject({ method: 'DELETE', url, headers })).statusCode).toBe(204);
  });
});
