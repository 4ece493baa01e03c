import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, TestAccount } from '../../support/client.js';
import { catalogueOf, startGateway, type TestGateway } from '../../support/gateway.js';
import { json, type ScriptedUpstream, startUpstream } from '../../support/scripted-upstream.js';
import { makeSecretsKey } from '../../support/secrets-key.js';

const served = 'acme/meta/llama-3.3-70b/defra';
const failing = 'zeta/meta/llama-3.3-70b/defra';
const messages = [{ role: 'user', content: 'Hello.' }];
const waitMs = 60_000;

/** Answers are kept for 5 s, and for twenty times as long as reading them took. So ten minutes pass before each look. */
const passMs = 600_000;
let passedMs = 0;
const clock = { now: () => Date.now(), monotonicMs: () => performance.now() + passedMs };

let gateway: TestGateway;
let off: TestGateway;
let acme: ScriptedUpstream;
let zeta: ScriptedUpstream;
let accounts: TestAccount[];

beforeAll(async () => {
  [acme, zeta] = await Promise.all([startUpstream(), startUpstream()]);
  const catalogue = catalogueOf({ acme: acme.url, zeta: zeta.url, quiet: acme.url });
  // The one provider that customers can have credentials for.
  const quiet = (catalogue.providers as Json[]).find(({ id }) => id === 'quiet')!;
  Object.assign(quiet, { auth: 'key', api_key_env: 'QUIET_API_KEY' });
  const config = { breaker: { failures: 5, window: '60s', cooldown: '24h' } };
  const secrets = { key_file: makeSecretsKey() };
  const env = { QUIET_API_KEY: 'the-key-of-the-operator' };
  gateway = await startGateway({ catalogue, config: { ...config, secrets }, env, clock });
  off = await startGateway({ catalogue, config: { status: { public: false } } });
  accounts = [await gateway.createAccount(), await gateway.createAccount(), await gateway.createAccount()];
});
afterAll(async () => {
  await Promise.all([gateway?.stop(), off?.stop()]);
  await Promise.all([acme?.stop(), zeta?.stop()]);
});

async function status(): Promise<Json[]> {
  passedMs += passMs;
  return (await gateway.call('GET', '/v1/status', undefined, { key: null })).json.data;
}

async function history(): Promise<{ windows: Json }[]> {
  passedMs += passMs;
  return (await gateway.admin('GET', '/routes/history')).json.data;
}

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on shapes that only the answer itself knows.
const of = async (provider: string): Promise<any> => (await status()).find((row) => row.provider === provider);

describe('GET /v1/status', () => {
  it('lists every route that is offered, without figures where there is no traffic, and needs no key', async () => {
    const reply = await gateway.call('GET', '/v1/status', undefined, { key: null });
    const none = { windows: { '24h': null, '7d': null, '90d': null }, incidents: [] };
    expect([reply.status, reply.json]).toEqual([
      200,
      {
        object: 'list',
        data: ['acme', 'zeta', 'quiet'].map((provider) => ({
          ...{ provider, locode: 'defra', model: 'meta/llama-3.3-70b', ...none },
        })),
      },
    ]);
  });

  it('shows figures from 20 requests of 3 accounts on, and no count of them', async () => {
    for (let count = 0; count < 19; count++)
      await gateway.chat({ model: served, messages }, { key: accounts[count % 3]!.key });
    // A generation is counted when it is settled. The threshold is for the public only.
    await expect.poll(async () => (await history())[0]?.windows['24h'], { timeout: waitMs }).not.toBeNull();
    expect((await of('acme')).windows['24h']).toBeNull();
    await gateway.chat({ model: served, messages }, { key: accounts[0]!.key });
    await expect.poll(async () => (await of('acme')).windows['24h'], { timeout: waitMs }).not.toBeNull();
    const { windows } = await of('acme');
    expect(windows['24h']).toEqual({
      availability: 1,
      error_rate: 0,
      first_byte_ms: { p50: expect.any(Number), p95: expect.any(Number) },
      tokens_per_second: { p50: expect.any(Number) },
    });
    expect(windows['7d']).toEqual(windows['24h']);
    expect(windows['90d']).toEqual(windows['24h']);
  });

  it('counts nothing that a customer’s own credential served or did not serve', async () => {
    const before = (await of('quiet')).windows;
    for (const { accountId } of accounts) {
      const body = { provider: 'quiet', name: 'ours', secret: { api_key: 'own-key-of-a-customer' } };
      const made = await gateway.admin('POST', `/accounts/${accountId}/credentials`, body);
      expect(made.status, made.text).toBe(201);
    }
    const model = 'quiet/meta/llama-3.3-70b/defra';
    for (let count = 0; count < 24; count++) {
      if (count > 20) acme.enqueue(json({ error: { message: 'revoked' } }, { status: count === 21 ? 500 : 401 }));
      const { key } = accounts[count % 3]!;
      expect((await gateway.chat({ model, messages }, { key })).status).toBe(count > 20 ? 503 : 200);
    }
    for (const { key } of accounts)
      await expect
        .poll(
          async () => (await gateway.call('GET', '/v1/generations?limit=1', undefined, { key })).json.data[0].provider,
        )
        .not.toBe('acme');
    expect((await of('quiet')).windows).toEqual(before);
    expect((await history()).find(({ id }: Json) => id === model)?.windows['24h']).toBeNull();
  });

  it('counts attempts that no generation names, and shows the opening of a breaker as an incident', async () => {
    const fails = () => zeta.enqueue(json({ error: { message: 'down' } }, { status: 500 }));
    for (let count = 0; count < 20; count++) {
      fails();
      await gateway.chat({ model: failing, messages }, { key: accounts[count % 3]!.key });
    }
    await expect.poll(async () => (await of('zeta')).windows['24h'], { timeout: waitMs }).not.toBeNull();
    const { windows } = await of('zeta');
    expect(windows['24h']).toEqual({
      ...{ availability: 0, error_rate: 1 },
      first_byte_ms: { p50: null, p95: null },
      tokens_per_second: { p50: null },
    });
    // Failures are written before incidents.
    await expect
      .poll(async () => (await of('zeta')).incidents, { timeout: waitMs })
      .toEqual([{ kind: 'breaker', from: expect.stringMatching(/Z$/), to: null }]);
    expect((await of('acme')).incidents).toEqual([]);
    // A pinned request that is answered closes the breaker, and with it the incident.
    await gateway.chat({ model: failing, messages });
    await expect.poll(async () => (await of('zeta')).incidents[0]?.to, { timeout: waitMs }).toMatch(/Z$/);
  });

  it('shows a hold until an operator lifts it', async () => {
    zeta.enqueue(json({ error: { message: 'tokens per day (TPD) limit reached' } }, { status: 429 }));
    await gateway.chat({ model: failing, messages });
    const holds = async () => (await of('zeta')).incidents.filter(({ kind }: Json) => kind === 'hold');
    await expect.poll(holds, { timeout: waitMs }).toEqual([{ kind: 'hold', from: expect.any(String), to: null }]);
    expect((await gateway.admin('DELETE', `/routes/${failing}/hold`)).status).toBe(204);
    await expect.poll(async () => (await holds())[0]?.to, { timeout: waitMs }).toMatch(/Z$/);
  });

  it('names no account and no key', async () => {
    const { text } = await gateway.call('GET', '/v1/status', undefined, { key: null });
    for (const { accountId, keyId } of accounts)
      for (const name of [accountId, keyId]) expect(text).not.toContain(name);
    expect(text).not.toContain('requests');
  });
});

describe('/status', () => {
  it('shows the same as a page, without scripts and styles of its own', async () => {
    const { status: code, headers, text } = await gateway.call('GET', '/status', undefined, { key: null });
    expect([code, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(text).toMatch(/^<!doctype html>/);
    expect(text).not.toMatch(/<script(?! src="\/docs\/assets\/)|<style|style="/);
    expect(text).toContain('Too little traffic for a figure');
    expect(text).toContain('meta/llama-3.3-70b');
    expect(text).toContain('Not tried after failures');
    expect(text).toContain('Quota used up');
  });
});

describe('with status.public: false', () => {
  it.each(['/status', '/v1/status'])('%s answers 404', async (path) => {
    expect((await off.call('GET', path, undefined, { key: null })).status).toBe(404);
  });

  it.each([
    ['/docs', 200],
    ['/docs/reference', 200],
    ['/docs/nothing', 404],
  ])('%s has no link to it', async (path, code) => {
    const open = async (of: TestGateway, headers = {}) =>
      of.call('GET', path, undefined, { key: null, headers: { accept: 'text/html', ...headers } });
    expect((await open(gateway)).text).toContain('href="/status"');
    const { status, headers, text } = await open(off);
    expect([status, text.includes('href="/status"'), text.includes('href="/dashboard"')]).toEqual([code, false, true]);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    if (code === 404) return;
    expect(headers.etag).not.toBe((await open(gateway)).headers.etag);
    expect((await open(off, { 'if-none-match': headers.etag })).status).toBe(304);
    expect((await open(off, { 'accept-encoding': 'br' })).headers['content-encoding']).toBe('br');
  });

  it('shows the history of routes to operators', async () => {
    const { status: code, json: answer } = await off.admin('GET', '/routes/history');
    expect([code, answer.data[0].id]).toEqual([200, served]);
  });
});
