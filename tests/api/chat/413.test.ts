import { describe, expect, it } from 'vitest';
import { RawConnection, requestBytes, sendRaw } from '../../support/raw-http.js';
import { ask, expectError, expectNothingSpent, useGateway } from '../harness.js';

const bench = useGateway();
const limit = 33_554_432;
const tooLarge = (...says: (string | RegExp)[]) => ({
  status: 413,
  type: 'invalid_request_error',
  code: 'request_too_large',
  says: [`${limit} bytes`, '32 MB', ...says],
});

/** A sound chat of exactly so many bytes. */
function bodyOf(bytes: number): string {
  const empty = JSON.stringify(ask({ messages: [{ role: 'user', content: '' }] }));
  return JSON.stringify(ask({ messages: [{ role: 'user', content: 'x'.repeat(bytes - empty.length) }] }));
}

async function head(extra: Record<string, string>): Promise<Buffer> {
  const { key } = await bench.gateway.account();
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...extra };
  const bytes = requestBytes('POST', '/v1/chat/completions', headers).toString();
  return Buffer.from(extra['transfer-encoding'] ? bytes.replace('content-length: 0\r\n', '') : bytes);
}

const errorOf = (response: { json: unknown }) => (response.json as { error: Record<string, string> }).error;

describe('413 request_too_large', () => {
  it('a body of one byte over 32 MiB is refused, nothing is spent', async () => {
    const account = await bench.gateway.account();
    const body = bodyOf(limit + 1);
    const reply = await expectNothingSpent(bench, account, () => bench.gateway.chat(body));
    expectError(reply, tooLarge(`${limit + 1} bytes`));
  });

  it('a body of exactly 32 MiB is served', async () => {
    const reply = await bench.gateway.chat(bodyOf(limit));
    expect(reply.status, reply.text.slice(0, 300)).toBe(200);
    expect(bench.upstream.calls).toHaveLength(1);
  });

  it('is answered from the content-length alone, before a byte of the body came', async () => {
    const response = await sendRaw(bench.gateway.url, await head({ 'content-length': String(limit + 1) }));
    expect(response.status).toBe(413);
    expect(errorOf(response)).toMatchObject({ type: 'invalid_request_error', code: 'request_too_large' });
    expect(response.headers['x-request-id']).toMatch(/^req-/);
  });

  it('with Expect: 100-continue there is no 100 first', async () => {
    const response = await sendRaw(
      bench.gateway.url,
      await head({ 'content-length': '400000000', expect: '100-continue' }),
    );
    expect(response.raw.toString('latin1')).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('a chunked body is cut off at the limit, and the caller can read the answer', async () => {
    const connection = await RawConnection.open(bench.gateway.url);
    await connection.write(await head({ 'transfer-encoding': 'chunked' }));
    const piece = Buffer.alloc(1_048_576, 'x');
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), piece, Buffer.from('\r\n')]);
    let sent = 0;
    while (sent < 64 && connection.received.length === 0) {
      await connection.write(chunk);
      sent++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    const response = await connection.readUntil((received) => received.includes('request_too_large'));
    connection.close();
    expect(response.status).toBe(413);
    expect(errorOf(response)).toMatchObject({ type: 'invalid_request_error', code: 'request_too_large' });
    expect(sent).toBeLessThanOrEqual(40);
    expect(bench.upstream.calls).toHaveLength(0);
  });

  it('a caller that goes on sending 40 MB reads the 413, not a reset', async () => {
    const reply = await bench.gateway.chat(Buffer.alloc(40_000_000, 0x20));
    expectError(reply, tooLarge('40000000 bytes'));
  });

  it('holds for every endpoint with a body', async () => {
    const body = Buffer.alloc(limit + 1, 0x20);
    expectError(await bench.gateway.call('POST', '/v1/aliases', body), tooLarge());
    expectError(await bench.gateway.call('PUT', '/v1/aliases/x', body), tooLarge());
    expectError(await bench.gateway.admin('POST', '/accounts', body), tooLarge());
  });

  it('a content-length that is no number is refused by the HTTP layer with the envelope', async () => {
    const response = await sendRaw(bench.gateway.url, await head({ 'content-length': 'abc' }));
    expect(response.status).toBe(400);
    expect(errorOf(response).type).toBe('invalid_request_error');
  });
});
