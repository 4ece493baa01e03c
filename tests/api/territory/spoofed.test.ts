/** Nothing that a caller can write moves it to another place, out of a sanctioned territory or into one. */
import { describe, expect, it } from 'vitest';
import { RawConnection, requestBytes } from '../../support/raw-http.js';
import { ask, type Bench, useGateway } from '../harness.js';

/** Fifteen ways to claim an address or a country. */
const spoofs = (address: string, country: string): [string, string][] => [
  ['X-Forwarded-For', address],
  ['Forwarded', `for=${address};proto=https`],
  ['X-Real-IP', address],
  ['X-Client-IP', address],
  ['True-Client-IP', address],
  ['CF-Connecting-IP', address],
  ['Fastly-Client-IP', address],
  ['X-Cluster-Client-IP', address],
  ['X-Original-Forwarded-For', address],
  ['X-Remote-IP', address],
  ['CF-IPCountry', country],
  ['X-Country-Code', country],
  ['X-Geo-Country', country],
  ['CloudFront-Viewer-Country', country],
  ['X-AppEngine-Country', country],
];

const paths = [
  ['POST', '/v1/chat/completions'],
  ['GET', '/v1/models'],
  ['GET', '/v1/nothing'],
  ['DELETE', '/v1/models'],
  ['GET', '/admin/v1/accounts'],
  ['GET', '/dashboard'],
] as const;

/** Header lines in the order given, repeated ones too. */
async function status({ gateway }: Bench, method: string, path: string, lines: [string, string][]): Promise<number> {
  const { key } = await gateway.account();
  const body = method === 'POST' ? JSON.stringify(ask()) : '';
  const own = { 'content-type': 'application/json', authorization: `Bearer ${key}`, connection: 'close' };
  const bytes = requestBytes(method, path, own, body).toString();
  const extra = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const connection = await RawConnection.open(gateway.url);
  await connection.write(bytes.replace('\r\n', `\r\n${extra}`));
  const response = await connection.readUntil(() => false, 10_000);
  connection.close();
  return response.status;
}

describe('a caller in Iran behind a trusted proxy that adds to what the caller sent', () => {
  const bench = useGateway({ config: { server: { trusted_proxies: ['127.0.0.1/32'] } } });

  it.each(paths)('%s %s stays 451 with each of fifteen spoofed headers, and with all at once', async (method, path) => {
    const german = spoofs('46.4.0.1', 'DE');
    const proxys: [string, string] = ['x-forwarded-for', '5.160.0.1'];
    for (const spoof of german)
      expect([spoof, await status(bench, method, path, [spoof, proxys])]).toEqual([spoof, 451]);
    expect(await status(bench, method, path, [...german, proxys])).toBe(451);
    expect(bench.upstream.calls).toHaveLength(0);
  });
});

describe('a caller in Iran by the word of the proxy’s country header', () => {
  const bench = useGateway({
    config: { server: { trusted_proxies: ['127.0.0.1/32'], country_header: 'x-geo-country' } },
  });

  it.each(paths)('%s %s stays 451 with each of fifteen spoofed headers, and with all at once', async (method, path) => {
    const german = spoofs('46.4.0.1', 'DE');
    const proxys: [string, string] = ['x-geo-country', 'IR'];
    for (const spoof of german)
      expect([spoof, await status(bench, method, path, [spoof, proxys])]).toEqual([spoof, 451]);
    expect(await status(bench, method, path, [...german, proxys])).toBe(451);
    expect(bench.upstream.calls).toHaveLength(0);
  });
});

describe('a peer that is no trusted proxy', () => {
  const bench = useGateway({
    config: { server: { trusted_proxies: ['10.0.0.0/8'], country_header: 'cf-ipcountry' } },
  });

  it('is where its connection comes from: claims to be in Iran are not believed either', async () => {
    const iranian = spoofs('5.160.0.1', 'IR');
    for (const spoof of [...iranian, ['x-forwarded-for', '5.160.0.1, 10.0.0.1'] as [string, string]]) {
      expect([spoof, await status(bench, 'GET', '/v1/models', [spoof])]).toEqual([spoof, 200]);
    }
    expect(await status(bench, 'POST', '/v1/chat/completions', iranian)).toBe(200);
  });
});
