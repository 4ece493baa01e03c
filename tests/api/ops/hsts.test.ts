import { describe, expect, it } from 'vitest';
import { sendRaw } from '../../support/raw-http.js';
import { sse, streamOf } from '../../support/scripted-upstream.js';
import { ask, useGateway } from '../harness.js';

const name = 'strict-transport-security';
const https = useGateway({ config: { server: { base_url: 'https://ai.example.com' } } });
const http = useGateway();

async function answersOf({ gateway, upstream }: typeof https) {
  upstream.enqueue(sse(streamOf(['Hi'])));
  const stream = await gateway.stream(ask());
  const whole = await gateway.chat(ask());
  const calls = await Promise.all(
    ['/v1/models', '/nothing', '/dashboard', '/dashboard/api/session', '/docs', '/readyz', '/openapi.json'].map(
      (path) => gateway.call('GET', path),
    ),
  );
  const refused = await gateway.chat({ model: 'nonsense' });
  const withoutKey = await gateway.chat(ask(), { key: null });
  const malformed = await sendRaw(gateway.url, 'GET / HTTP/1.1\r\nbroken\r\n\r\n');
  const noHost = await sendRaw(gateway.url, 'GET / HTTP/1.1\r\n\r\n');
  const closing = await sendRaw(gateway.url, chatRequest(await keyOf(gateway)));
  expect([stream.status, whole.status, closing.status]).toEqual([200, 200, 200]);
  return [stream, whole, ...calls, refused, withoutKey, malformed, noHost, closing];
}

const keyOf = async (gateway: typeof https.gateway) => (await gateway.createAccount()).key;

/** Node itself writes the answer to a request whose connection is to be closed. */
function chatRequest(key: string): string {
  const body = JSON.stringify(ask());
  const head = ['host: a', 'connection: close', `authorization: Bearer ${key}`, 'content-type: application/json'];
  return `POST /v1/chat/completions HTTP/1.1\r\n${head.join('\r\n')}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

describe('HSTS', () => {
  it('is on every answer where base_url is https', async () => {
    for (const { headers, status } of await answersOf(https))
      expect(headers[name], String(status)).toBe('max-age=31536000');
  });

  it('is on none where base_url is http', async () => {
    for (const { headers } of await answersOf(http)) expect(headers[name]).toBeUndefined();
  });
});
