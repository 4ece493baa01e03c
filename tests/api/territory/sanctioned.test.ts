/** A caller in a sanctioned territory is refused on every endpoint; the message names the territory. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { adminToken } from '../../support/gateway-files.js';
import { mmdbOf } from '../../support/mmdb.js';
import { sendRaw } from '../../support/raw-http.js';
import { ask, expectError, useGateway } from '../harness.js';

const iranian = '5.160.0.1';
const german = '46.4.0.1';

const legal = (...says: (string | RegExp)[]) => ({
  status: 451,
  type: 'permission_error',
  code: 'unavailable_for_legal_reasons',
  says,
});

const bench = useGateway({ config: { server: { trusted_proxies: ['127.0.0.1/32'], country_header: 'cf-ipcountry' } } });

describe('a caller in a sanctioned territory', () => {
  const endpoints: [string, string][] = [
    ['POST', '/v1/chat/completions'],
    ['GET', '/v1/models'],
    ['GET', '/v1/models/auto/meta/llama'],
    ['GET', '/v1/aliases'],
    ['POST', '/v1/aliases'],
    ['PUT', '/v1/aliases/a'],
    ['DELETE', '/v1/aliases/a'],
    ['GET', '/v1/fallback'],
    ['PUT', '/v1/fallback'],
    ['GET', '/v1/routing-policy'],
    ['PUT', '/v1/routing-policy'],
    ['GET', '/v1/generations'],
    ['GET', '/v1/generation/gen-1'],
    ['POST', '/v1/routes/explain'],
    ['GET', '/v1/credits'],
    ['GET', '/v1/key'],
    ['HEAD', '/v1/models'],
    ['OPTIONS', '/v1/chat/completions'],
    ['OPTIONS', '/v1/models'],
    ['GET', '/v1/chat/completions'],
    ['DELETE', '/v1/models'],
    ['GET', '/v1/nothing'],
    ['GET', '/'],
    ['GET', '/openapi.json'],
    ['GET', '/docs'],
    ['GET', '/docs/errors'],
    ['GET', '/dashboard'],
    ['GET', '/dashboard/keys'],
    ['POST', '/dashboard/api/sign-in'],
    ['GET', '/admin/v1/accounts'],
    ['POST', '/admin/v1/accounts'],
    ['GET', '/admin/v1/nothing'],
    ['GET', '/%00'],
    ['GET', '/%zz'],
  ];

  it.each(endpoints)('451 on %s %s, with a key, without one, and with the admin token', async (method, path) => {
    const { key } = await bench.gateway.account();
    for (const token of [key, null, adminToken]) {
      const body = method === 'POST' || method === 'PUT' ? ask() : undefined;
      const options = { key: token, headers: { 'cf-ipcountry': 'IR' } };
      const reply = await bench.gateway.call(method, path, body, options);
      if (method === 'HEAD') expect(reply.status).toBe(451);
      else expectError(reply, legal('Iran (IR)'));
    }
    expect(bench.upstream.calls).toHaveLength(0);
  });

  it.each([
    ['two Host headers', 'host: a\r\nhost: b\r\n'],
    ['an Expect that nobody can meet', 'host: a\r\nexpect: 42\r\n'],
  ])('451 also where the request itself is at fault: %s', async (_what, lines) => {
    const reply = await sendRaw(bench.gateway.url, `GET /v1/models HTTP/1.1\r\n${lines}cf-ipcountry: IR\r\n\r\n`);
    expect([reply.status, JSON.parse(reply.body).error.code]).toEqual([451, 'unavailable_for_legal_reasons']);
  });

  it.each(['/healthz', '/readyz', '/metrics'])('%s is answered wherever the caller is', async (path) => {
    const reply = await bench.gateway.call('GET', path, undefined, {
      key: adminToken,
      headers: { 'cf-ipcountry': 'KP' },
    });
    expect(reply.status).toBe(200);
  });
});

describe('what the proxy’s country header says', () => {
  const chatFrom = (country: string) => bench.gateway.chat(ask(), { headers: { 'cf-ipcountry': country } });

  it.each([
    ['CU', 'Cuba (CU)'],
    ['ir', 'Iran (IR)'],
    ['KP', 'North Korea (KP)'],
    ['IR-07', 'Iran (IR)'],
    ['UA-43', 'Crimea (UA-43)'],
    ['ua-40', 'Sevastopol (UA-40)'],
    ['UA-14', 'Donetsk oblast (UA-14)'],
    ['UA-09', 'Luhansk oblast (UA-09)'],
    ['DE, IR', 'Iran (IR)'],
  ])('%s is refused as %s', async (country, name) => {
    expectError(await chatFrom(country), legal(name));
    expect(bench.upstream.calls).toHaveLength(0);
  });

  it.each(['DE', 'UA', 'UA-30', 'XX', 'T1', '', 'IRAN', '??', 'IR, DE', 'Iran, Islamic Republic of'])(
    '%j is served: a country that is not known is not sanctioned',
    async (country) => {
      expect((await chatFrom(country)).status).toBe(200);
    },
  );

  it('wins over the address: the operator chose the proxy’s word', async () => {
    const headers = { 'x-forwarded-for': iranian, 'cf-ipcountry': 'DE' };
    expect((await bench.gateway.chat(ask(), { headers })).status).toBe(200);
    const spoofed = { 'x-forwarded-for': german, 'cf-ipcountry': 'IR' };
    expectError(await bench.gateway.chat(ask(), { headers: spoofed }), legal('Iran'));
  });
});

describe('the address, looked up in the bundled database', () => {
  const chatVia = (forwarded: string) => bench.gateway.chat(ask(), { headers: { 'x-forwarded-for': forwarded } });

  it.each([
    [iranian, 'Iran (IR)'],
    [`::ffff:${iranian}`, 'Iran (IR)'],
    [`${iranian}:4711`, 'Iran (IR)'],
    ['175.45.176.1', 'North Korea (KP)'],
    ['152.206.0.1', 'Cuba (CU)'],
    [`${german}, ${iranian}`, 'Iran (IR)'],
    [`${german}, ${iranian}, 127.0.0.1`, 'Iran (IR)'],
  ])('%s is refused as %s', async (forwarded, name) => {
    expectError(await chatVia(forwarded), legal(name));
    expect(bench.upstream.calls).toHaveLength(0);
  });

  it.each([german, `${iranian}, ${german}`, '91.196.0.1', '10.0.0.1', '127.0.0.1', 'unknown', '', '2001:db8::1'])(
    '%j is served',
    async (forwarded) => {
      expect((await chatVia(forwarded)).status).toBe(200);
    },
  );
});

describe('settings of the operator', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-mmdb-'));
  const file = join(folder, 'own.mmdb');
  const crimea = { country: { iso_code: 'UA' }, subdivisions: [{ iso_code: '43' }] };
  writeFileSync(
    file,
    mmdbOf([
      ['203.0.113.0/24', crimea],
      ['198.51.100.0/24', { country: { iso_code: 'UA' } }],
      ['192.0.2.0/24', { country: { iso_code: 'FR' } }],
    ]),
  );
  afterAll(() => rmSync(folder, { recursive: true }));
  const own = useGateway({
    config: {
      server: { trusted_proxies: ['127.0.0.1'], client_ip_header: 'true-client-ip', country_database: file },
      territories: { sanctioned: ['FR', 'UA-43'] },
    },
  });
  const chatFrom = (headers: Record<string, string>) => own.gateway.chat(ask(), { headers });

  it('a database of their own may know regions, which the list may name', async () => {
    expectError(await chatFrom({ 'true-client-ip': '203.0.113.9' }), legal('Crimea (UA-43)'));
    expect((await chatFrom({ 'true-client-ip': '198.51.100.9' })).status).toBe(200);
  });

  it('a list of their own replaces the built-in one', async () => {
    expectError(await chatFrom({ 'true-client-ip': '192.0.2.9' }), legal('France (FR)'));
    expect((await chatFrom({ 'true-client-ip': iranian })).status).toBe(200);
  });

  it('another header than the one that they chose is not believed, and neither is a country header that they did not set', async () => {
    expect((await chatFrom({ 'x-forwarded-for': '192.0.2.9', 'cf-ipcountry': 'FR' })).status).toBe(200);
  });
});
