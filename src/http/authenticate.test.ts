import { beforeAll, describe, expect, it } from 'vitest';
import { type HttpFixture, httpFixture } from '../../tests/support/http-fixture.js';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { makeToken } from '../accounts/keys/token.js';
import { MemoryCounters } from '../cluster/memory.js';
import { IpLimiter } from '../limits/rate-limits.js';

const paths = [
  '/v1/models',
  '/v1/models/a/b/c',
  '/v1/aliases',
  '/v1/aliases/x',
  '/v1/generations',
  '/v1/generation',
  '/v1/credits',
  '/v1/key',
];

describe('the key check on every resource of /v1', () => {
  let unchanged: HttpFixture;
  beforeAll(async () => {
    unchanged = await httpFixture();
  });

  it.each(paths)('401 without a key on %s', async (url) => {
    const answer = await unchanged.app.inject(url);
    expect([answer.statusCode, answer.json().error.code]).toEqual([401, 'authentication_error']);
    expect(answer.headers['x-request-id']).toMatch(/^req-/);
  });

  it('401 api_key_not_registered for a key of nobody, and on the very next request after deletion', async () => {
    const { app, directory, account, key, asKey } = await httpFixture();
    const unknown = await app.inject({ url: '/v1/credits', headers: { authorization: `Bearer ${makeToken().token}` } });
    expect(unknown.json().error.code).toBe('api_key_not_registered');
    expect((await app.inject({ url: '/v1/credits', headers: asKey })).statusCode).toBe(200);
    await directory.deleteKey('operator', account.id, key.id);
    expect((await app.inject({ url: '/v1/credits', headers: asKey })).json().error.code).toBe('api_key_not_registered');
  });

  it('401 api_key_expired, and the sweeper hears of it once the hash is still there', async () => {
    const { app, directory, account, clock, expiry } = await httpFixture();
    const { token } = await directory.createKey('operator', {
      accountId: account.id,
      name: 'short',
      expiresAt: clock.now() + 1000,
    });
    clock.advance(1000);
    const headers = { authorization: `Bearer ${token}` };
    expect((await app.inject({ url: '/v1/credits', headers })).json().error.code).toBe('api_key_expired');
    expect(expiry.seenCount).toBe(1);
    await directory.eraseExpired(clock.now());
    expect((await app.inject({ url: '/v1/credits', headers })).json().error.code).toBe('api_key_expired');
    expect(expiry.seenCount).toBe(1);
  });

  it('malformed stays 401 with the store away; an unknown key is then 500, a cached one served', async () => {
    const { app, store, asKey } = await httpFixture();
    store.away = true;
    const send = async (authorization: string) =>
      (await app.inject({ url: '/v1/credits', headers: { authorization } })).statusCode;
    expect(await send('bearer x')).toBe(401);
    expect(await send(`Bearer ${makeToken().token}`)).toBe(500);
    expect(await send(asKey.authorization)).toBe(200);
  });

  it('403 account_suspended, at once', async () => {
    const { app, directory, account, asKey } = await httpFixture();
    await directory.updateAccount('operator', account.id, { status: 'suspended' });
    const answer = await app.inject({ url: '/v1/models', headers: asKey });
    expect([answer.statusCode, answer.json().error]).toEqual([
      403,
      expect.objectContaining({ type: 'permission_error', code: 'account_suspended' }),
    ]);
  });
});

describe('the order of checks', () => {
  it('451 comes first, on unknown paths, wrong methods and admin too, but never on health', async () => {
    const { app, place } = await httpFixture();
    place.code = 'CU';
    for (const url of ['/nothing', '/v1/models', '/admin/v1/accounts', '/v1/%zz', '/v1/chat/completions']) {
      expect((await app.inject(url)).statusCode, url).toBe(451);
    }
    expect((await app.inject('/healthz')).statusCode).toBe(200);
    expect((await app.inject('/readyz')).statusCode).toBe(200);
  });

  it('404 and 405 before 401', async () => {
    const { app } = await httpFixture();
    expect((await app.inject('/v1/nothing')).statusCode).toBe(404);
    expect((await app.inject({ method: 'PUT', url: '/v1/models' })).statusCode).toBe(405);
  });

  it('429 by address comes before 404 and 401, and after 451', async () => {
    const { app, place } = await httpFixture({ ipLimiter: new IpLimiter(1, new MemoryCounters(new ManualClock())) });
    expect((await app.inject('/nothing')).statusCode).toBe(404);
    const answer = await app.inject('/v1/models');
    expect([answer.statusCode, answer.json().error.type, answer.headers['retry-after']]).toEqual([
      429,
      'invalid_request_error',
      '60',
    ]);
    place.code = 'CU';
    expect((await app.inject('/v1/models')).statusCode).toBe(451);
  });

  it('401, then the billing country, then the suspension, then 413, then the key’s limit, then the body', async () => {
    const fixture = await httpFixture();
    const { directory, account, asKey, app } = fixture;
    const post = async (headers: Record<string, string>) => {
      const url = '/v1/aliases';
      const json = { 'content-type': 'application/json', ...headers };
      return (await app.inject({ method: 'POST', url, headers: json, payload: '{' })).statusCode;
    };
    const large = { 'content-length': '40000000' };
    const change = (fields: object) => directory.updateAccount('operator', account.id, fields);
    expect(await post(large)).toBe(401);
    expect(await post({ ...asKey, ...large })).toBe(413);
    expect(await post(asKey)).toBe(400);
    await change({ limits: { requestsPerMinute: 1 } });
    expect(await post(asKey)).toBe(429);
    expect(await post({ ...asKey, ...large })).toBe(413);
    await change({ status: 'suspended' });
    expect(await post({ ...asKey, ...large })).toBe(403);
    await change({ billingCountry: 'CU' });
    expect(await post({ ...asKey, ...large })).toBe(451);
  });

  it('every answer after the key check tells the six limits, errors too', async () => {
    const { app, asKey } = await httpFixture();
    for (const url of ['/v1/models', '/v1/models/nothing/at/all', '/v1/aliases/none']) {
      const { headers } = await app.inject({ url, headers: asKey });
      const names = Object.keys(headers).filter((name) => name.startsWith('x-ratelimit-'));
      expect(names.sort(), url).toEqual(
        ['limit', 'remaining', 'reset'].flatMap((what) => [
          `x-ratelimit-${what}-requests`,
          `x-ratelimit-${what}-tokens`,
        ]),
      );
    }
    const { headers } = await app.inject('/v1/models');
    expect(Object.keys(headers).some((name) => name.startsWith('x-ratelimit-'))).toBe(false);
  });
});
