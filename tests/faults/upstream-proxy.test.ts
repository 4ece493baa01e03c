/** Upstream calls through the proxy of the environment: tunnels for https, forwarding for http, and what goes past it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { catalogueOf } from '../support/catalogues.js';
import { type ConnectProxy, startConnectProxy } from '../support/connect-proxy.js';
import { completion, type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { selfSigned } from '../support/self-signed.js';
import { type SpawnedGateway, spawnGateway } from '../support/spawned-gateway.js';

const folder = mkdtempSync(join(tmpdir(), 'lodestone-proxy-'));
let upstream: ScriptedUpstream;
let secure: Server;
/** Of each connection to it, in order: whether it resumed a session. */
const resumed: boolean[] = [];
let proxy: ConnectProxy;
let gateway: SpawnedGateway;
let key: string;
beforeAll(async () => {
  const { key: privateKey, cert } = selfSigned(['api.acme.test']);
  const certFile = join(folder, 'root.pem');
  writeFileSync(certFile, cert);
  secure = createTlsServer({ key: privateKey, cert }, (request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(completion()));
    });
  });
  secure.on('secureConnection', (socket: TLSSocket) => resumed.push(socket.isSessionReused()));
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
  upstream = await startUpstream();
  proxy = await startConnectProxy((secure.address() as { port: number }).port, upstream.port);
  const address = `http://user:p%40ss@127.0.0.1:${proxy.port}`;
  gateway = await spawnGateway({
    catalogue: catalogueOf({
      acme: 'https://api.acme.test',
      wrong: 'https://wrong.test:8443',
      plain: 'http://plain.test',
      exempt: 'https://eu.exempt.test',
      near: upstream.url,
    }),
    config: { timeouts: { idle_connection: '2s' } },
    env: {
      HTTPS_PROXY: address,
      http_proxy: address,
      NO_PROXY: '10.0.0.0/8, exempt.test',
      NODE_EXTRA_CA_CERTS: certFile,
    },
  });
  ({ key } = await gateway.account());
});
afterAll(async () => {
  await gateway?.stop();
  await proxy?.stop();
  await upstream?.stop();
  secure?.close();
  secure?.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => void proxy.heads.splice(0));

function ask(provider: string) {
  const messages = [{ role: 'user', content: 'Hi' }];
  return gateway.chat({ model: `${provider}/meta/llama-3.3-70b`, messages }, { key });
}

it('an https upstream is reached through one tunnel, which later requests reuse', async () => {
  expect((await ask('acme')).status).toBe(200);
  expect((await ask('acme')).status).toBe(200);
  expect(proxy.heads).toEqual([
    'CONNECT api.acme.test:443 HTTP/1.1\r\nhost: api.acme.test:443\r\nproxy-authorization: Basic dXNlcjpwQHNz',
  ]);
});

it('the certificate at the other end of a tunnel is that of the upstream', async () => {
  const answer = await ask('wrong');
  expect(proxy.heads[0]).toContain('CONNECT wrong.test:8443 ');
  expect(answer.status).toBe(503);
});

it('an http upstream is asked through the proxy itself, with its whole address', async () => {
  expect((await ask('plain')).status).toBe(200);
  const [head] = proxy.heads;
  expect(head).toMatch(/^POST http:\/\/plain\.test\/v1\/chat\/completions HTTP\/1\.1\r\nhost: plain\.test\r\n/);
  expect(head).toContain('\r\nproxy-authorization: Basic dXNlcjpwQHNz\r\n');
});

it('loopback and what NO_PROXY names go past the proxy', async () => {
  expect((await ask('near')).status).toBe(200);
  // Nobody has this name, so the lookup fails, or takes too long.
  expect((await ask('exempt')).status).toBeGreaterThanOrEqual(500);
  expect(proxy.heads).toEqual([]);
});

it.each([
  [
    'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n',
    /refused the connection \(HTTP 407\): it wants credentials/,
  ],
  ['', /it closed the connection/],
  ['SSH-2.0-OpenSSH\r\n\r\n', /it did not answer with HTTP/],
])('a proxy that answers %j fails the attempt, and the error names it', async (bytes, text) => {
  proxy.refuseNext(bytes);
  const answer = await gateway.chat(
    // A kept tunnel serves `acme`, so another address is asked.
    { model: 'wrong/meta/llama-3.3-70b', messages: [{ role: 'user', content: 'Hi' }] },
    { key },
  );
  expect(answer.status).toBe(503);
  expect(answer.text).toMatch(/the proxy of HTTPS_PROXY: /);
  expect(answer.text).toMatch(text);
  expect(answer.text).not.toContain('p@ss');
});

it('an idle tunnel is closed as configured and is counted no more, and the next one resumes its session', async () => {
  await ask('acme');
  const openConnections = async () => {
    const { text } = await gateway.call('GET', '/metrics', undefined, { key: null });
    return [...text.matchAll(/^lodestone_upstream_connections\{.*\} (\d+)$/gm)].reduce(
      (sum, [, n]) => sum + Number(n),
      0,
    );
  };
  expect(await openConnections()).toBeGreaterThan(0);
  await vi.waitFor(async () => expect(await openConnections()).toBe(0), { timeout: 30_000, interval: 500 });
  resumed.splice(0);
  expect((await ask('acme')).status).toBe(200);
  expect(resumed).toEqual([true]);
}, 90_000);
