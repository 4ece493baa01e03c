import { beforeAll, describe, expect, it } from 'vitest';
import { type HttpFixture, httpFixture } from '../../tests/support/http-fixture.js';

/** For tests that change nothing of it. */
let unchanged: HttpFixture;
beforeAll(async () => {
  unchanged = await httpFixture();
});

describe('paths and methods', () => {
  it.each([
    ['PUT', '/v1/models', 'GET, HEAD, OPTIONS'],
    ['GET', '/v1/chat/completions', 'POST, OPTIONS'],
    ['TRACE', '/v1/aliases', 'GET, HEAD, POST, OPTIONS'],
    ['PROPFIND', '/v1/aliases/x', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
    ['POST', '/healthz', 'GET, HEAD, OPTIONS'],
    ['PUT', '/admin/v1/accounts', 'POST, GET, HEAD, OPTIONS'],
    ['POST', '/v1/models/a/b/c', 'GET, HEAD, OPTIONS'],
  ])('405 with allow for %s %s', async (method, url, allow) => {
    const { app } = unchanged;
    const answer = await app.inject({ method: method as 'GET', url });
    expect(answer.statusCode).toBe(405);
    expect(answer.headers.allow).toBe(allow);
    expect(answer.json().error).toMatchObject({ type: 'invalid_request_error', code: 'method_not_allowed' });
  });

  it.each([
    ...['/', '/v1', '/v1/', '//v1/models', '/v1//models', '/v1/%2e%2e/models', '/V1/models'],
    ...[
      '/v1/models;x',
      '/v1/models%00',
      '/v1/%',
      '/v1/%zz',
      '/v1/%c3',
      '/v1/nothing',
      '/admin/v1/',
      '/admin/v1/nothing',
      '/v1/models%3f',
    ],
  ])('404 with the envelope for %s, with and without a key', async (url) => {
    const { app, asKey } = unchanged;
    for (const headers of [{}, asKey]) {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS'] as const) {
        const answer = await app.inject({ method, url, headers, ...(method === 'POST' && { payload: { a: 1 } }) });
        expect(answer.statusCode, method).toBe(404);
        expect(answer.json().error).toMatchObject({ type: 'not_found', code: 'not_found' });
        expect(answer.headers['x-request-id']).toMatch(/^req-[0-9a-z]{26}$/);
      }
    }
  });

  it('never repeats a query string in a message: it may hold a secret', async () => {
    const { app } = unchanged;
    expect((await app.inject('/nothing?key=sk-lr-secret')).body).not.toContain('secret');
  });

  it('HEAD where GET is, without a body', async () => {
    const { app, asKey } = unchanged;
    const answer = await app.inject({ method: 'HEAD', url: '/v1/credits', headers: asKey });
    expect([answer.statusCode, answer.body]).toEqual([200, '']);
  });
});

describe('headers of every answer', () => {
  it('answers a preflight under /v1 with 204, without a key', async () => {
    const { app } = unchanged;
    for (const url of ['/v1/chat/completions', '/v1/aliases/x']) {
      const answer = await app.inject({ method: 'OPTIONS', url, headers: { origin: 'https://example.com' } });
      expect(answer.statusCode).toBe(204);
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect(answer.headers['access-control-allow-methods']).toContain(url.endsWith('x') ? 'DELETE' : 'POST');
      expect(answer.headers['access-control-allow-headers']).toContain('authorization');
      expect(answer.headers['access-control-max-age']).toBe('86400');
      expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
    }
  });

  it('is open under /v1 for errors too, and closed for the rest', async () => {
    const { app, asKey, asAdmin } = unchanged;
    for (const answer of [await app.inject('/v1/models'), await app.inject({ url: '/v1/models', headers: asKey })]) {
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect(answer.headers['access-control-expose-headers']).toContain('x-ratelimit-remaining-tokens');
    }
    for (const url of ['/admin/v1/accounts', '/healthz', '/nothing']) {
      expect((await app.inject({ url, headers: asAdmin })).headers).not.toHaveProperty('access-control-allow-origin');
    }
    expect((await app.inject({ method: 'OPTIONS', url: '/admin/v1/accounts' })).headers).not.toHaveProperty(
      'access-control-allow-origin',
    );
  });

  it('forbids sniffing and referrers, and names no server', async () => {
    const { app } = unchanged;
    for (const url of ['/healthz', '/v1/models', '/nothing']) {
      const { headers } = await app.inject(url);
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
      expect(headers).not.toHaveProperty('server');
      expect(headers).not.toHaveProperty('x-powered-by');
    }
  });
});

describe('health and readiness', () => {
  it('is ready with a snapshot and a store', async () => {
    const { app } = unchanged;
    expect((await app.inject('/readyz')).json()).toEqual({ status: 'ready' });
    expect((await app.inject('/healthz')).json()).toEqual({ status: 'ok' });
  });

  it('503 that names what is missing; the process is still alive', async () => {
    const fixture = await httpFixture({
      catalogue: { current: null, reload: async () => ({ ok: false, faults: [] }) },
    });
    fixture.store.away = true;
    fixture.lifecycle.draining = true;
    const answer = await fixture.app.inject('/readyz');
    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toEqual({ status: 'not_ready', missing: ['draining', 'snapshot', 'store'] });
    expect((await fixture.app.inject('/healthz')).statusCode).toBe(200);
  });

  it('does not wait longer than a second for a store that hangs', async () => {
    const fixture = await httpFixture();
    fixture.store.hold = new Promise(() => {});
    const answer = await fixture.app.inject('/readyz');
    expect(answer.json().missing).toEqual(['store']);
  });

  it('503 service_unavailable for new work while draining', async () => {
    const fixture = await httpFixture();
    fixture.lifecycle.draining = true;
    const answer = await fixture.app.inject({ url: '/v1/models', headers: fixture.asKey });
    expect([answer.statusCode, answer.json().error.code, answer.headers.connection]).toEqual([
      503,
      'service_unavailable',
      'close',
    ]);
  });
});

describe('failures of our own', () => {
  it('500 internal_server_error that tells nothing about the inside', async () => {
    const fixture = await httpFixture({
      originOf: () => {
        throw new Error('secret detail');
      },
    });
    const answer = await fixture.app.inject('/v1/models');
    expect(answer.statusCode).toBe(500);
    expect(answer.json().error).toMatchObject({ type: 'internal_server_error', code: 'internal_server_error' });
    expect(answer.body).not.toContain('secret detail');
  });
});
