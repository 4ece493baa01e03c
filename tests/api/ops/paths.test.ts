import { beforeEach, describe, expect, it } from 'vitest';
import { adminToken } from '../../support/gateway-files.js';
import { ManualClock } from '../../support/manual-clock.js';
import { sendRaw } from '../../support/raw-http.js';
import { useGateway } from '../harness.js';

const clock = new ManualClock();
const bench = useGateway({ clock });
// Only 20 admin authentications a minute may fail.
beforeEach(() => clock.advance(60_000));
const port = () => Number(new URL(bench.gateway.url).port);

/** Clients normalise paths; bytes are sent as they are. */
async function send(method: string, path: string, headers: Record<string, string> = {}) {
  const all = { host: `127.0.0.1:${port()}`, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return sendRaw(bench.gateway.url, `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
}

const asAdmin = { authorization: `Bearer ${adminToken}` };

describe('a path is matched as it was sent', () => {
  it.each([
    ['GET', '/%61dmin/v1/accounts'],
    ['GET', '/admin%2Fv1%2Faccounts'],
    ['GET', '/admin/v1/%61ccounts'],
    ['GET', '/admin/v1/account%73'],
    ['GET', '/%6Detrics'],
    ['GET', '/%72eadyz'],
    ['GET', '/v1/%6Dodels'],
    ['POST', '/v1/ch%61t/completions'],
    ['GET', '/dashboard/%61pi/session'],
    ['GET', '/openapi%2Ejson'],
    ['GET', '/%2561dmin/v1/accounts'],
  ])('%s %s is 404', async (method, path) => {
    const { status, json } = await send(method, path, asAdmin);
    expect([status, json]).toEqual([404, { error: expect.objectContaining({ code: 'not_found' }) }]);
  });

  it('the value of a parameter may be percent-encoded', async () => {
    const { accountId, key } = await bench.gateway.createAccount();
    const encoded = [...accountId].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
    expect((await send('GET', `/admin/v1/accounts/${encoded}`, asAdmin)).json).toMatchObject({ id: accountId });
    const asKey = { authorization: `Bearer ${key}` };
    for (const id of ['acme/meta/llama/defra', 'acme%2Fmeta%2Fllama%2Fdefra', '%61cme/meta/llama/defra'])
      expect((await send('GET', `/v1/models/${id}`, asKey)).json, id).toMatchObject({ id: 'acme/meta/llama/defra' });
    await bench.gateway.call('POST', '/v1/aliases', { name: 'quick', target: 'auto/meta/llama' }, { key });
    expect((await send('GET', '/v1/aliases/qu%69ck', asKey)).json).toMatchObject({ name: 'quick' });
    const percent = await send('GET', '/v1/aliases/50%25', asKey);
    expect([percent.status, (percent.json as { error: { message: string } }).error.message]).toEqual([
      404,
      expect.stringContaining('"50%"'),
    ]);
  });
});

describe('GET /metrics without a token', () => {
  it.each(['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]', '127.1.2.3'])(
    'is open to this host, called %s',
    async (name) => {
      expect((await send('GET', '/metrics', { host: `${name}:${port()}` })).status).toBe(200);
      expect((await send('GET', '/metrics', { host: name })).status).toBe(200);
    },
  );

  it('is open to a scraper of this host with the headers that it sends', async () => {
    const headers = {
      accept: 'application/openmetrics-text;version=1.0.0',
      'accept-encoding': 'gzip',
      'user-agent': 'Prometheus/3.5.0',
      'x-prometheus-scrape-timeout-seconds': '10',
    };
    expect((await send('GET', '/metrics', headers)).status).toBe(200);
  });

  it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '10.0.0.7', ''])(
    'is 401 for the host name %j',
    async (host) => {
      expect((await send('GET', '/metrics', { host })).status).toBe(401);
      expect((await send('GET', '/metrics', { host, ...asAdmin })).status).toBe(200);
    },
  );

  it.each([
    'cf-connecting-ip',
    'cf-ray',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-forwarded-for',
    'forwarded',
    'x-real-ip',
    'via',
    'true-client-ip',
    'fastly-client-ip',
    'x-client-ip',
    'x-cluster-client-ip',
    'x-original-forwarded-for',
    'x-envoy-external-address',
    'x-amzn-trace-id',
    'cdn-loop',
  ])('is 401 for a request that carries %s', async (header) => {
    expect((await send('GET', '/metrics', { [header]: '127.0.0.1', ...asAdmin })).status).toBe(200);
    expect((await send('GET', '/metrics', { [header]: '127.0.0.1' })).status).toBe(401);
  });
});
