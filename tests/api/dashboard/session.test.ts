import { beforeAll, describe, expect, it } from 'vitest';
import { DashboardClient } from '../../support/dashboard-client.js';
import { adminToken } from '../../support/gateway-files.js';
import { ask, expectError, useGateway } from '../harness.js';

const bench = useGateway({ config: { registration: 'open' } });
const password = 'correct horse 77';
let count = 0;
const email = () => `person-${++count}@example.test`;
const browser = () => new DashboardClient(bench.gateway.url);

async function signedUp(address = email()): Promise<DashboardClient> {
  const client = browser();
  const reply = await client.call('POST', 'sign-up', { email: address, password });
  expect(reply.status, reply.text).toBe(201);
  return client;
}

describe('from sign-up to the usage of a key', () => {
  it('sign up, create a key, use it, see the request and its cost, delete the key: the next request is 401', async () => {
    const client = await signedUp();
    const { account } = (await client.call('GET', 'session')).json;
    await bench.gateway.admin('POST', `/accounts/${account.id}/credits`, { amount_usd: '5' });
    const made = (await client.call('POST', 'keys', { name: 'first', expires: '7d' })).json;
    const chat = await bench.gateway.chat(ask(), { key: made.token });
    expect(chat.status).toBe(200);
    const [seen] = (await client.call('GET', 'v1/generations?key=first')).json.data;
    expect(seen).toMatchObject({ id: chat.json.id, key_name: 'first', status: 200 });
    expect(Number(seen.cost_usd)).toBe(chat.json.usage.cost);
    expect((await client.call('GET', 'keys')).json.data[0]).toMatchObject({ name: 'first', usage_usd: seen.cost_usd });
    const overview = (await client.call('GET', 'overview?range=24h')).json;
    expect(overview.totals).toMatchObject({ requests: 1, errors: 0, spend_usd: seen.cost_usd, carbon: 344 });
    expect(overview.series).toHaveLength(24);
    expect(overview.series.at(-1)).toMatchObject({ requests: 1, spend_usd: seen.cost_usd });
    expect(overview.by_region).toEqual([
      expect.objectContaining({ id: 'defra', city: 'Frankfurt', country: 'DE', lat: 50.1, lon: 8.7, requests: 1 }),
    ]);
    expect((await client.call('DELETE', `keys/${made.id}`)).status).toBe(204);
    expect((await bench.gateway.chat(ask(), { key: made.token })).status).toBe(401);
  });

  it('a key named like markup is the same text everywhere', async () => {
    const client = await signedUp();
    const name = '<img src=x onerror=alert(1)>';
    await client.call('POST', 'keys', { name });
    expect((await client.call('GET', 'keys')).json.data[0].name).toBe(name);
  });
});

describe('the cookie', () => {
  it('on http: a plain name, HttpOnly, SameSite=Strict, the whole host and nothing else', async () => {
    const client = await signedUp();
    const line = client.setCookies.find((text) => text.startsWith('lodestone_session='));
    for (const attribute of ['HttpOnly', 'SameSite=Strict', 'Path=/']) expect(line).toContain(attribute);
    expect(line).not.toMatch(/domain|secure/i);
  });

  it('is not taken for an API key, nor a key for it', async () => {
    const client = await signedUp();
    const { token } = (await client.call('POST', 'keys', { name: 'k' })).json;
    const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const api = await bench.gateway.call('GET', '/v1/credits', undefined, { key: null, headers: { cookie } });
    expect(api.status).toBe(401);
    const dashboard = await browser().call('GET', 'keys', undefined, { headers: { authorization: `Bearer ${token}` } });
    expect(dashboard.status).toBe(401);
  });
});

describe('sign-in', () => {
  const failed = { status: 401, type: 'authentication_error', code: 'sign_in_failed' };

  it('answers a wrong password and an unknown address in the same words', async () => {
    const address = email();
    await signedUp(address);
    const wrong = await browser().call('POST', 'sign-in', { email: address, password: 'wrong horse' });
    const unknown = await browser().call('POST', 'sign-in', { email: email(), password: 'wrong horse' });
    expectError(wrong, failed);
    expectError(unknown, failed);
    expect(unknown.json).toEqual(wrong.json);
  });

  it('100 wrong guesses are answered with 429 and Retry-After; the owner still signs in with a known browser', async () => {
    const address = email();
    const owner = await signedUp(address);
    await owner.call('POST', 'sign-out', {});
    const attacker = browser();
    const replies = [];
    for (let i = 0; i < 100; i++) {
      replies.push(await attacker.call('POST', 'sign-in', { email: address, password: `guess ${i}` }));
    }
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(85);
    for (const { headers, json } of refused) {
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect(json.error.code).toBe('too_many_attempts');
    }
    expect((await owner.call('POST', 'sign-in', { email: address, password })).status).toBe(200);
  });

  it('an account with a password from an operator can sign in, and its operator flag counts', async () => {
    const address = email();
    const { json } = await bench.gateway.admin('POST', '/accounts', { email: address, password });
    const client = browser();
    expect((await client.call('POST', 'sign-in', { email: address, password })).status).toBe(200);
    expect((await client.call('GET', 'operator/accounts')).status).toBe(403);
    await bench.gateway.admin('PATCH', `/accounts/${json.id}`, { operator: true });
    expect((await client.call('GET', 'operator/accounts')).status).toBe(200);
  });
});

describe('calls that do not come from the dashboard', () => {
  const refusal = { status: 403, type: 'permission_error', code: 'csrf_refused' };
  let client: DashboardClient;
  beforeAll(async () => {
    client = await signedUp();
  });

  it.each<[string, Record<string, string | undefined>]>([
    ['a foreign origin', { origin: 'https://evil.example' }],
    ['no header of ours', { 'x-lodestone-dashboard': undefined }],
    ['another site, by the browser’s word', { 'sec-fetch-site': 'cross-site' }],
    ['a foreign origin with a Host to match', { origin: 'http://evil.example', host: 'evil.example' }],
    ['a foreign origin with a forwarded host', { origin: 'http://evil.example', 'x-forwarded-host': 'evil.example' }],
  ])('%s: 403, and nothing is done', async (_, headers) => {
    expectError(await client.call('POST', 'keys', { name: 'forged' }, { headers }), refusal);
    expectError(await client.call('POST', 'sign-out', {}, { headers }), refusal);
    expect((await client.call('GET', 'keys')).json.data).toEqual([]);
  });

  it('a form post: 403', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-lodestone-dashboard': undefined };
    expectError(await client.call('POST', 'keys', 'name=forged', { headers }), refusal);
  });

  it('a page on this machine under its other name is the dashboard too', async () => {
    const port = new URL(client.url).port;
    const headers = { origin: `http://localhost:${port}` };
    expect((await client.call('POST', 'keys', { name: 'mine' }, { headers })).status).toBe(201);
  });
});

describe('operators’ pages', () => {
  it.each([
    ['GET', 'operator/accounts'],
    ['POST', 'operator/accounts'],
    ['GET', 'operator/routes'],
    ['GET', 'operator/audit'],
    ['POST', 'operator/catalogue/reload'],
    ['PUT', 'operator/models/meta/llama/availability'],
    ['DELETE', 'operator/routes/acme/meta/llama/defra/hold'],
  ])('%s %s is 403 for everybody else, and open after the admin token was shown', async (method, path) => {
    const client = await signedUp();
    const row = { status: 403, type: 'permission_error', code: 'operator_required' };
    expectError(await client.call(method, path, method === 'GET' ? undefined : {}), row);
    expect((await client.call('POST', 'operator', { admin_token: adminToken })).json.operator).toBe(true);
    expect((await client.call(method, path, method === 'GET' ? undefined : {})).status).not.toBe(403);
  });
});
