import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DashboardClient } from '../../support/dashboard-client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';

const person = { email: 'ada@example.test', password: 'correct horse 77' };

describe('behind an https address of its own', () => {
  let gateway: TestGateway;
  let client: DashboardClient;
  beforeAll(async () => {
    const server = { base_url: 'https://ai.example.test', dashboard_url: 'https://console.example.test/dashboard' };
    gateway = await startGateway({ config: { server, registration: 'open' } });
    client = new DashboardClient(gateway.url, 'https://console.example.test');
  });
  afterAll(() => gateway?.stop());

  it('cookies are __Host- and Secure, whatever Host and X-Forwarded-Proto say', async () => {
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' };
    const reply = await client.call('POST', 'sign-up', person, { headers });
    expect(reply.status, reply.text).toBe(201);
    expect(client.setCookies.length).toBeGreaterThan(0);
    for (const line of client.setCookies) {
      expect(line).toMatch(/^__Host-lodestone_(session|device)=/);
      for (const attribute of ['Secure', 'HttpOnly', 'SameSite=Strict', 'Path=/']) expect(line).toContain(attribute);
      expect(line).not.toMatch(/domain=|evil/i);
    }
    expect(reply.json.base_url).toBe('https://ai.example.test');
    expect(reply.text).not.toContain('evil');
  });

  it('takes calls from both of its addresses and from no other', async () => {
    const create = (origin: string) => client.call('POST', 'keys', { name: 'k' }, { headers: { origin } });
    expect((await create('https://console.example.test')).status).toBe(201);
    expect((await create('https://ai.example.test')).status).toBe(201);
    expect((await create(gateway.url)).status).toBe(403);
  });
});

describe('with a database of its own', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway?.stop());

  it('sign-up is closed unless the configuration opens it', async () => {
    const client = new DashboardClient(gateway.url);
    expect((await client.call('GET', 'session')).json).toMatchObject({ signed_in: false, registration: 'closed' });
    const reply = await client.call('POST', 'sign-up', person);
    expect([reply.status, reply.json.error.code]).toEqual([403, 'registration_closed']);
    expect((await gateway.admin('GET', '/accounts')).json.data).toEqual([]);
  });
});

describe('the pages', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway?.stop());
  const get = (path: string, headers: Record<string, string> = {}) =>
    gateway.call('GET', path, undefined, { key: null, headers });

  it('/ leads to the dashboard, and a page of the guide with a slash too many to the page', async () => {
    const places: [string, string][] = [
      ['/', '/dashboard'],
      ['/docs/', '/docs'],
      ['/docs/errors/', '/docs/errors'],
    ];
    for (const [path, place] of places) {
      const { status, headers } = await get(path, { accept: '*/*' });
      expect([path, status, headers.location]).toEqual([path, 302, place]);
    }
    expect((await get('/docs/nothing/')).status).toBe(404);
    expect((await gateway.call('POST', '/', {}, { key: null })).status).toBe(404);
  });

  it('every path under /dashboard is the application, never kept, with a policy that runs nothing inline', async () => {
    const index = await get('/dashboard');
    expect(index.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(index.headers['cache-control']).toBe('no-store');
    const policy = String(index.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    for (const path of [
      '/dashboard/',
      '/dashboard/keys',
      '/dashboard/usage/gen-1',
      '/dashboard/..%2f..%2fpackage.json',
    ]) {
      expect((await get(path)).text, path).toBe(index.text);
    }
    expect(index.text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/i);
  });

  it('its files are kept for ever, compressed where that is asked for; a missing one is a 404', async () => {
    const [script = ''] = /\/dashboard\/assets\/[\w.-]+\.js/.exec((await get('/dashboard')).text) ?? [];
    const plain = await get(script);
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(plain.headers['content-type']).toBe('text/javascript; charset=utf-8');
    for (const encoding of ['br', 'gzip']) {
      const { headers } = await get(script, { 'accept-encoding': encoding });
      expect(headers['content-encoding']).toBe(encoding);
      expect(headers.vary).toContain('accept-encoding');
      expect(Number(headers['content-length'])).toBeLessThan(Number(plain.headers['content-length']) / 2);
    }
    expect((await get(script, { 'accept-encoding': 'br;q=0, gzip;q=0' })).headers['content-encoding']).toBeUndefined();
    for (const path of ['/dashboard/assets/none-abc.js', '/dashboard/api/none', '/dashboard/api']) {
      expect((await get(path)).json.error?.code, path).toBe('not_found');
    }
  });
});
