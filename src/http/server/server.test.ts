import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpFixture, httpFixture } from '../../../tests/support/http-fixture.js';
import { RawConnection, requestBytes, sendRaw } from '../../../tests/support/raw-http.js';
import type { ChatHandler } from '../deps.js';
import { createServer, type LodestoneServer } from './server.js';

let fixture: HttpFixture;
let running: LodestoneServer;
let url: string;
let chat: ChatHandler;
const answerChat: ChatHandler = (req, res) => void req.resume().on('end', () => res.end(`chat ${req.url}`));

async function start(): Promise<{ running: LodestoneServer; url: string }> {
  const server = await createServer({ ...fixture.deps, chat: (...request) => chat(...request) });
  return { running: server, url: `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}` };
}

beforeAll(async () => {
  fixture = await httpFixture();
  chat = answerChat;
  ({ running, url } = await start());
});

afterAll(() => running.close());

function expectEnvelope(answer: { headers: Record<string, string>; json: unknown }): void {
  expect(answer.headers['content-type']).toContain('application/json');
  expect(answer.headers['x-request-id']).toMatch(/^req-/);
  expect(answer.json).toMatchObject({
    error: { type: expect.any(String), message: expect.any(String), code: expect.any(String) },
  });
}

describe('an absolute request target (RFC 9112)', () => {
  const send = (method: string, target: string, host: string) => sendRaw(url, requestBytes(method, target, { host }));

  it('is the path that it has, for chats and for everything else', async () => {
    const target = 'http://llm.example/v1/chat/completions?a=1';
    expect((await send('POST', target, 'llm.example')).body).toBe('chat /v1/chat/completions?a=1');
    expect((await send('GET', 'HTTPS://llm.example:8443/healthz', 'LLM.example:8443')).status).toBe(200);
    expect((await send('GET', 'http://llm.example/v1/key', 'llm.example')).status).toBe(401);
    expect((await send('GET', 'http://llm.example/v1/nothing', 'llm.example')).status).toBe(404);
    expect((await send('GET', 'http://llm.example?a=1', 'llm.example')).status).toBe(404);
  });

  it('is no path of ours where it names another host, or no web address', async () => {
    expect((await send('GET', 'http://evil.example/healthz', 'llm.example')).status).toBe(404);
    expect((await send('GET', 'ftp://llm.example/healthz', 'llm.example')).status).toBe(404);
  });
});

describe('the chat path is taken before the framework', () => {
  it('with and without a query string', async () => {
    for (const path of ['/v1/chat/completions', '/v1/chat/completions?api-version=1']) {
      expect((await sendRaw(url, requestBytes('POST', path, {}))).body).toBe(`chat ${path}`);
    }
  });

  it('405 with allow for another method, 404 for a path that only looks like it', async () => {
    const answer = await sendRaw(url, requestBytes('GET', '/v1/chat/completions', {}));
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST, OPTIONS']);
    for (const path of [
      '/v1/chat/completions/',
      '/v1/chat/completions;x',
      '//v1/chat/completions',
      '/v1/../v1/chat/completions',
      '/v1/./models',
    ]) {
      const other = await sendRaw(url, requestBytes('POST', path, {}));
      expect(other.status, path).toBe(404);
      expectEnvelope(other);
    }
  });

  it('500 with the envelope when the handler throws; the process lives on', async () => {
    chat = () => {
      throw new Error('boom');
    };
    const answer = await sendRaw(url, requestBytes('POST', '/v1/chat/completions', {}));
    chat = answerChat;
    expect(answer.status).toBe(500);
    expectEnvelope(answer);
    expect(answer.body).not.toContain('boom');
  });

  it('answers pipelined requests in order', async () => {
    const bytes = [1, 2, 3].map((i) => requestBytes('POST', `/v1/chat/completions?${i}`, {}));
    const { raw } = await sendRaw(url, Buffer.concat(bytes));
    expect(raw.toString().match(/chat \S+\?\d/g)).toEqual([1, 2, 3].map((i) => `chat /v1/chat/completions?${i}`));
  });
});

describe('errors of the HTTP layer have the envelope', () => {
  it.each([
    ['a bad request line', 'NONSENSE\r\n\r\n', 400],
    ['a bad version', 'GET / HTTP/9.9\r\nhost: x\r\n\r\n', 400],
    ['a bad header', 'GET /healthz HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n', 400],
    ['a bad content-length', 'POST /v1/aliases HTTP/1.1\r\nhost: x\r\ncontent-length: abc\r\n\r\n', 400],
    [
      'both framings',
      'POST /v1/aliases HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\nabc',
      400,
    ],
    ['a header over 16 KiB', `GET /healthz HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['no Host header', 'GET /healthz HTTP/1.1\r\n\r\n', 400],
    ['two Host headers', 'GET /healthz HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n', 400],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nhost: example.com:443\r\n\r\n', 404],
    ['another expectation', 'GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: tea\r\n\r\n', 417],
  ])('%s', async (_what, bytes, status) => {
    const answer = await sendRaw(url, bytes);
    expect(answer.status).toBe(status);
    expectEnvelope(answer);
    expect(answer.headers.connection).toBe('close');
    expect(answer.closedByPeer).toBe(true);
  });

  it('a broken chunk in a body that is being read', async () => {
    const head = `POST /v1/aliases HTTP/1.1\r\nhost: x\r\nauthorization: ${fixture.asKey.authorization}\r\n`;
    const answer = await sendRaw(
      url,
      `${head}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`,
    );
    expect(answer.status).toBe(400);
    expectEnvelope(answer);
  });

  it('waits for the answer under way when the fault is in a pipelined request behind it', async () => {
    let finish: (() => void) | undefined;
    chat = (_req, res) => {
      finish = () => res.end('first answer');
    };
    const connection = await RawConnection.open(url);
    await connection.write(
      Buffer.concat([requestBytes('POST', '/v1/chat/completions', {}), Buffer.from('NONSENSE\r\n\r\n')]),
    );
    await expect.poll(() => finish).toBeDefined();
    const early = await connection.readUntilIdle(100);
    expect(early.raw.length).toBe(0);
    finish!();
    chat = answerChat;
    const { raw } = await connection.readUntil((bytes) => bytes.includes('bad_http') || bytes.includes('malformed'));
    connection.close();
    expect(raw.toString()).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*first answer[\s\S]*HTTP\/1\.1 400 Bad Request/);
  });

  it('takes 2,000 headers without losing the key among them', async () => {
    const headers = Array.from({ length: 2000 }, (_, i) => `h${i}:\r\n`).join('');
    const answer = await sendRaw(
      url,
      `GET /v1/credits HTTP/1.1\r\nhost: x\r\n${headers}authorization: ${fixture.asKey.authorization}\r\n\r\n`,
    );
    expect(answer.status).toBe(200);
  });

  it.each(['http://evil.example/v1/credits', '*', 'http://evil.example/v1/chat/completions'])(
    '404 for the target %s',
    async (target) => {
      const answer = await sendRaw(url, requestBytes(target === '*' ? 'OPTIONS' : 'POST', target, fixture.asKey));
      expect(answer.status).toBe(404);
      expectEnvelope(answer);
    },
  );
});

describe('the Authorization header on the wire', () => {
  it('401 malformed for two headers, even when the first is right', async () => {
    const line = `authorization: ${fixture.asKey.authorization}\r\n`;
    const answer = await sendRaw(url, `GET /v1/credits HTTP/1.1\r\nhost: x\r\n${line}${line}\r\n`);
    expect(answer.status).toBe(401);
    expect(answer.json).toMatchObject({ error: { code: 'api_key_malformed' } });
  });

  it('401 without an echo for an 8 KB bearer', async () => {
    const answer = await sendRaw(
      url,
      requestBytes('GET', '/v1/credits', { authorization: `Bearer sk-lr-${'q'.repeat(8000)}` }),
    );
    expect(answer.status).toBe(401);
    expect(answer.body).not.toContain('q'.repeat(20));
    expect(answer.body).toContain('8000');
  });
});

describe('Expect: 100-continue', () => {
  const headers = () => ({ ...fixture.asKey, 'content-type': 'application/json', expect: '100-continue' });

  it('413 at once and no 100 for a body over 32 MiB', async () => {
    const answer = await sendRaw(
      url,
      requestBytes('POST', '/v1/aliases', { ...headers(), 'content-length': '41943040' }),
    );
    expect(answer.status).toBe(413);
    expect(answer.json).toMatchObject({ error: { code: 'request_too_large' } });
    expect(answer.raw.toString()).not.toContain('100 Continue');
    expect(answer.headers.connection).toBe('close');
  });

  it('401 and no 100 without a key', async () => {
    const answer = await sendRaw(
      url,
      requestBytes('POST', '/v1/aliases', { ...headers(), authorization: 'x', 'content-length': '10' }),
    );
    expect(answer.status).toBe(401);
    expect(answer.headers.connection).toBe('close');
    expect(answer.raw.toString()).not.toContain('100 Continue');
  });

  it('100 and then the answer otherwise', async () => {
    const body = JSON.stringify({ name: 'expected', target: 'auto/meta/llama' });
    const connection = await RawConnection.open(url);
    await connection.write(
      requestBytes('POST', '/v1/aliases', { ...headers(), 'content-length': String(body.length) }),
    );
    await connection.readUntil((bytes) => bytes.includes('100 Continue\r\n\r\n'));
    await connection.write(body);
    const { raw } = await connection.readUntil((bytes) => bytes.includes('"object":"alias"'));
    connection.close();
    expect(raw.toString()).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created/);
  });

  it('leaves the 100 of the chat path to its handler', async () => {
    let told: boolean | undefined;
    chat = (_req, res, awaitsContinue) => {
      told = awaitsContinue;
      res.end('refused');
    };
    const answer = await sendRaw(
      url,
      requestBytes('POST', '/v1/chat/completions', { expect: '100-continue', 'content-length': '5' }),
    );
    chat = answerChat;
    expect(told).toBe(true);
    expect(answer.raw.toString()).not.toContain('100 Continue');
    expect(answer.headers.connection).toBe('close');
  });
});

describe('413 reaches a client that is still sending', () => {
  const fortyMegabytes = 40 * 1024 * 1024;

  function upload(headers: Record<string, string | number>, bytes: number): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const all = { ...fixture.asKey, 'content-type': 'application/json', ...headers };
      const req = httpRequest(`${url}/v1/aliases`, { method: 'POST', headers: all }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      req.on('error', reject).end(Buffer.alloc(bytes, 32));
    });
  }

  it('with a content-length of 40 MB, all of which is sent', async () => {
    expect(await upload({ 'content-length': fortyMegabytes }, fortyMegabytes)).toBe(413);
  });

  it('with a chunked body of 40 MB', async () => {
    expect(await upload({ 'transfer-encoding': 'chunked' }, fortyMegabytes)).toBe(413);
  });
});

describe('closing', () => {
  it('refuses new work, lets an answer finish, closes idle connections, and ends', async () => {
    const own = await start();
    let finish: (() => void) | undefined;
    chat = (_req, res) => {
      finish = () => res.end('late answer');
    };
    const busy = await RawConnection.open(own.url);
    const idle = await RawConnection.open(own.url);
    await idle.write(requestBytes('GET', '/healthz', {}));
    await idle.readUntil((bytes) => bytes.includes('"ok"'));
    await busy.write(requestBytes('POST', '/v1/chat/completions', {}));
    await expect.poll(() => finish).toBeDefined();
    const closed = own.running.close(60_000);
    await expect(RawConnection.open(own.url)).rejects.toThrow();
    finish!();
    chat = answerChat;
    expect((await busy.readUntil((bytes) => bytes.includes('late answer'))).status).toBe(200);
    await closed;
    await idle.readUntil(() => false);
    expect(idle.closedByPeer).toBe(true);
    busy.close();
    idle.close();
  });

  it('cuts what is still running when the grace is over', async () => {
    const own = await start();
    let asked = 0;
    chat = () => void asked++;
    const busy = await RawConnection.open(own.url);
    await busy.write(requestBytes('POST', '/v1/chat/completions', {}));
    await expect.poll(() => asked).toBe(1);
    await own.running.close(20);
    chat = answerChat;
    await busy.readUntil(() => false);
    expect(busy.closedByPeer).toBe(true);
  });
});
