/** The headers that every answer has, of whatever kind it is, and those that none has; and who may read an answer in a browser. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminToken } from '../support/gateway-files.js';
import { type RawResponse, requestBytes, sendRaw } from '../support/raw-http.js';
import * as up from '../support/scripted-upstream.js';
import { ask, type Rig, startRig } from './fixture.js';

let rig: Rig;
let key: string;
beforeAll(async () => {
  rig = await startRig();
  ({ key } = await rig.gateway.account());
  rig.upstream.onRequest(({ json }) =>
    (json as { stream: boolean }).stream ? up.sse(up.streamOf(['Hello'])) : up.json(up.completion()),
  );
});
afterAll(() => rig.stop());

const path = '/v1/chat/completions';
const origin = 'https://app.example.test';
const asKey = () => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json', origin });
const chat = (more = {}) => requestBytes('POST', path, asKey(), JSON.stringify(ask(more)));
const get = (target: string, headers = {}) => requestBytes('GET', target, { origin, ...headers });

/** Name, bytes, status, and whether a page of another origin may read it. */
const kinds: readonly (readonly [string, () => string | Uint8Array, number, boolean])[] = [
  ['an answer of the chat', () => chat(), 200, true],
  ['a stream', () => chat({ stream: true }), 200, true],
  ['an answer of the chat to HTTP/1.0', () => chat().toString().replace('HTTP/1.1', 'HTTP/1.0'), 200, true],
  [
    'a stream to a connection that is to be closed',
    () => requestBytes('POST', path, { ...asKey(), connection: 'close' }, JSON.stringify(ask({ stream: true }))),
    200,
    true,
  ],
  ['a refusal of the chat', () => chat({ temperature: 9 }), 400, true],
  ['a 401 of the chat', () => requestBytes('POST', path, { origin }, '{}'), 401, true],
  ['a 413 that drains', () => requestBytes('POST', path, { ...asKey(), 'content-length': '40000000' }), 413, true],
  ['a 405', () => get(path), 405, true],
  ['a 200 of the API', () => get('/v1/credits', asKey()), 200, true],
  [
    'a 201',
    () => requestBytes('POST', '/v1/aliases', asKey(), '{"name":"made","target":"auto/meta/llama-3.3-70b"}'),
    201,
    true,
  ],
  ['a 204', () => requestBytes('DELETE', '/v1/aliases/made', asKey()), 204, true],
  ['a 404 under /v1', () => get('/v1/nothing'), 404, true],
  ['a preflight', () => requestBytes('OPTIONS', path, { origin, 'access-control-request-method': 'POST' }), 204, true],
  ['a HEAD', () => requestBytes('HEAD', '/v1/models', asKey()), 200, true],
  ['a 404 elsewhere', () => get('/nothing'), 404, false],
  ['an answer to an operator', () => get('/admin/v1/accounts', { authorization: `Bearer ${adminToken}` }), 200, false],
  ['a 401 of an operator', () => get('/admin/v1/accounts'), 401, false],
  ['health', () => get('/healthz'), 200, false],
  ['metrics', () => get('/metrics', { authorization: `Bearer ${adminToken}` }), 200, false],
  ['a 400 of the parser', () => 'NONSENSE\r\n\r\n', 400, false],
  ['a 400 of a head', () => 'GET /healthz HTTP/1.1\r\n\r\n', 400, false],
  ['a 431', () => get('/healthz', { a: 'x'.repeat(20_000) }), 431, false],
  ['a 417', () => get('/healthz', { expect: 'tea' }), 417, false],
  ['a CONNECT', () => 'CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n', 404, false],
];

describe('every answer', () => {
  it.each(kinds)(
    '%s has the headers that protect it, and tells nothing of what made it',
    async (_, bytes, status, open) => {
      const reply: RawResponse = await sendRaw(rig.gateway.url, bytes());
      expect(reply.status).toBe(status);
      expect(reply.headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'x-request-id': expect.stringMatching(/^req-[0-9a-z]{26}$/),
        date: expect.stringMatching(/GMT$/),
      });
      for (const name of ['server', 'x-powered-by', 'via', 'set-cookie', 'access-control-allow-credentials']) {
        expect(reply.headers[name]).toBeUndefined();
      }
      expect(reply.headers['access-control-allow-origin']).toBe(open ? '*' : undefined);
      expect(reply.raw.toString()).not.toMatch(/fastify|node\.js|express/i);
    },
  );

  it('a preflight allows the key’s header, every method of the path, and no credentials', async () => {
    const { headers } = await sendRaw(rig.gateway.url, requestBytes('OPTIONS', path, { origin }));
    expect(headers['access-control-allow-headers']?.split(', ')).toContain('authorization');
    expect(headers['access-control-allow-methods']?.split(', ')).toContain('POST');
    expect(headers['access-control-allow-credentials']).toBeUndefined();
  });

  it('a page may read the ids and limits of an answer', async () => {
    const { headers } = await sendRaw(rig.gateway.url, chat());
    const exposed = headers['access-control-expose-headers']?.split(', ');
    for (const name of ['x-request-id', 'x-generation-id', 'retry-after', 'x-ratelimit-remaining-tokens']) {
      expect(exposed).toContain(name);
    }
  });
});
