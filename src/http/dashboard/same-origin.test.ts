import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BrowserSession } from '../../../tests/support/browser-session.js';
import { dashboardOrigin, type HttpFixture, httpFixture } from '../../../tests/support/http-fixture.js';

let fixture: HttpFixture;
let browser: BrowserSession;
beforeAll(async () => {
  fixture = await httpFixture();
  browser = new BrowserSession(fixture.app);
  await browser.call('POST', 'sign-up', { email: 'ada@example.com', password: 'correct horse 77' });
});
let keysBefore: number;
beforeEach(async () => {
  keysBefore = await keyCount();
});

const keyCount = async () => (await browser.call('GET', 'keys')).json().data.length as number;
const createKey = (headers: Record<string, string | undefined>, body: unknown = { name: 'forged' }) =>
  browser.call('POST', 'keys', body, { headers });

describe('a call that changes something', () => {
  it.each<[string, Record<string, string | undefined>]>([
    ['from another origin', { origin: 'https://evil.example' }],
    ['from a page without an origin (a sandboxed frame)', { origin: 'null' }],
    ['from the same host on another port', { origin: `${dashboardOrigin}:8443` }],
    ['from the same host over http', { origin: 'http://ai.example.com' }],
    ['from an origin that only begins like ours', { origin: `${dashboardOrigin}.evil.example` }],
    ['that the browser says another site made', { 'sec-fetch-site': 'cross-site' }],
    ['that a page of the same site, but another origin, made', { 'sec-fetch-site': 'same-site' }],
    ['without the header that only a script of ours sends', { 'x-lodestone-dashboard': undefined }],
    ['of a form', { 'x-lodestone-dashboard': undefined, 'content-type': 'application/x-www-form-urlencoded' }],
    ['whose Host was made to fit its origin', { origin: 'https://evil.example', host: 'evil.example' }],
    ['whose forwarded host was made to fit', { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' }],
  ])('%s is refused with 403 and changes nothing', async (_, headers) => {
    const answer = await createKey(headers);
    expect([answer.statusCode, answer.json().error.code]).toEqual([403, 'csrf_refused']);
    expect(await keyCount()).toBe(keysBefore);
  });

  it.each(['sign-up', 'sign-in', 'sign-out', 'claim', 'operator', 'v1/aliases', 'operator/catalogue/reload'])(
    'POST %s is refused too, signed in or not',
    async (path) => {
      const answer = await browser.call('POST', path, {}, { headers: { origin: 'https://evil.example' } });
      expect(answer.json().error.code).toBe('csrf_refused');
    },
  );

  it('is taken from our own page, and from a client that is no browser', async () => {
    expect((await createKey({})).statusCode).toBe(201);
    expect((await createKey({ origin: undefined, 'sec-fetch-site': undefined })).statusCode).toBe(201);
  });

  it('is refused as JSON in the guise of plain text, which needs no preflight', async () => {
    expect((await createKey({ 'content-type': 'text/plain' })).statusCode).toBe(400);
    expect(await keyCount()).toBe(keysBefore);
  });
});

describe('every answer of the dashboard’s API', () => {
  it('is for its own origin alone and kept by nobody', async () => {
    for (const path of ['session', 'keys', 'v1/models', 'nothing']) {
      const { headers } = await browser.call('GET', path, undefined, { headers: { origin: 'https://evil.example' } });
      expect(headers['access-control-allow-origin'], path).toBeUndefined();
      if (path !== 'nothing') expect(headers['cache-control'], path).toBe('no-store');
    }
  });

  it('a preflight of another origin gets no permission', async () => {
    const answer = await browser.call('OPTIONS', 'keys', undefined, {
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('without a configured address', () => {
  it.each([
    ['http://localhost:80', true],
    ['http://127.0.0.1:80', true],
    ['http://[::1]:80', true],
    ['http://192.168.1.5', true],
    ['http://evil.example', false],
    ['https://localhost', false],
    ['http://localhost:81', false],
    ['nonsense', false],
  ])('%s is taken for the dashboard’s own origin: %s', async (origin, taken) => {
    const { checkSameOrigin } = await import('./same-origin.js');
    const request = {
      method: 'POST',
      headers: { origin, 'x-lodestone-dashboard': '1' },
      raw: { socket: { localPort: 80 } },
    };
    const check = () => checkSameOrigin(request as never, { configured: { baseUrl: null, dashboardUrl: null } });
    if (taken) expect(check).not.toThrow();
    else expect(check).toThrow('does not come from the dashboard itself');
  });
});

describe('every call that changes something', () => {
  const reading = ['GET', 'HEAD', 'OPTIONS'];
  const pathsOf = () => fixture.app.knownPaths.all().filter(({ pattern }) => pattern.startsWith('/dashboard/api/'));
  const call = (method: string, pattern: string, headers: Record<string, string | undefined>) =>
    browser.call(method, pattern.replace('/dashboard/api/', '').replace(/:\w+|\*/g, 'x'), undefined, { headers });

  it('is refused without the header, and where another site makes it', async () => {
    const calls = pathsOf().flatMap(({ pattern, methods }) =>
      methods.filter((method) => !reading.includes(method)).map((method) => [method, pattern] as const),
    );
    expect(calls.length).toBeGreaterThan(20);
    for (const [method, pattern] of calls) {
      // An identity provider calls it, and shows a signed token.
      if (pattern.endsWith('/backchannel-logout')) continue;
      for (const headers of [{ 'x-lodestone-dashboard': undefined }, { 'sec-fetch-site': 'cross-site' }]) {
        const answer = await call(method, pattern, headers);
        expect([answer.statusCode, answer.json().error.code], `${method} ${pattern}`).toEqual([403, 'csrf_refused']);
      }
    }
  });

  it('cannot be made with GET', async () => {
    const changing = pathsOf().filter(({ methods }) => !methods.includes('GET'));
    expect(changing.map(({ pattern }) => pattern)).toContain('/dashboard/api/sign-out');
    for (const { pattern } of changing)
      expect([404, 405], pattern).toContain((await call('GET', pattern, {})).statusCode);
  });
});
