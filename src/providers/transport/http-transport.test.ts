import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { measuredTime } from '../../../tests/support/measured-time.js';
import {
  hang,
  hangAfterHeaders,
  json,
  rawBytes,
  redirect,
  reset,
  type ScriptedUpstream,
  sse,
  startUpstream,
} from '../../../tests/support/scripted-upstream.js';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import { latin1OfBytes } from '../../base/latin1.js';
import { HttpTransport } from './http-transport.js';
import type { UpstreamCall, UpstreamHandler, UpstreamRequest } from './transport.js';

const route = smallSnapshot().routes.get('acme/meta/llama/defra')!;

/** What became of one dispatch. */
class Outcome implements UpstreamHandler {
  status: number | null = null;
  body = '';
  error: (Error & { code?: string }) | null = null;
  ends = 0;
  resume = () => {};
  private settle = () => {};
  readonly over = new Promise<void>((resolve) => {
    this.settle = resolve;
  });
  constructor(private readonly pause = false) {}
  onHeaders(status: number, _headers: readonly unknown[], resume: () => void): void {
    this.status = status;
    this.resume = resume;
  }
  onData(chunk: Buffer): boolean {
    this.body += chunk.toString();
    return !this.pause;
  }
  onEnd(): void {
    this.ends++;
    this.settle();
  }
  onError(error: Error & { code?: string }): void {
    this.ends++;
    this.error = error;
    this.settle();
  }
}

let upstream: ScriptedUpstream;
let transport: HttpTransport;
beforeEach(async () => {
  upstream = await startUpstream();
  transport = new HttpTransport({ nowMs: () => performance.now(), idleMsMax: 55_000 });
});
afterEach(async () => {
  await transport.close();
  await upstream.stop();
});

interface Sent {
  url?: string;
  body?: UpstreamRequest['body'];
}
const headers = ['content-type', 'application/json', 'x-own', 'yes'];

function dispatch(
  outcome: Outcome,
  { url = `${upstream.url}/v1`, body = Buffer.from('{"a":1}') }: Sent = {},
): UpstreamCall {
  return transport.dispatch(
    { route: { ...route, baseUrl: url }, path: '/chat/completions', body, stream: false, headers },
    outcome,
  );
}
async function send(options: Sent = {}): Promise<Outcome> {
  const outcome = new Outcome();
  dispatch(outcome, options);
  await outcome.over;
  return outcome;
}

describe('a request', () => {
  it('is a POST to the route\u2019s address with our headers and no others', async () => {
    const text = '{"é":1}';
    const { status, error } = await send({ body: Buffer.from(text) });
    expect([status, error]).toEqual([200, null]);
    await send({ body: latin1OfBytes(Buffer.from(text)) });
    const [call, asText] = upstream.calls;
    expect([call!.method, call!.path, call!.body.toString()]).toEqual(['POST', '/v1/chat/completions', text]);
    expect([asText!.body.toString(), asText!.headers]).toEqual([text, call!.headers]);
    expect(Object.keys(call!.headers).sort()).toEqual([
      'connection',
      'content-length',
      'content-type',
      'host',
      'x-own',
    ]);
  });

  it.each([
    ['/v1/', '/v1/chat/completions'],
    ['', '/chat/completions'],
    ['/openai?api-version=1', '/openai/chat/completions?api-version=1'],
  ])('to the base address %j asks for %s', async (base, path) => {
    await send({ url: upstream.url + base });
    expect(upstream.calls[0]!.path).toBe(path);
  });

  it('uses a connection again when its answer has been read, and another one while it is busy', async () => {
    for (let i = 0; i < 5; i++) await send();
    expect(upstream.connections.accepted).toBe(1);
    await Promise.all([send(), send(), send()]);
    expect(upstream.connections.accepted).toBe(3);
    await Promise.all([send(), send(), send()]);
    expect(upstream.connections.accepted).toBe(3);
  });

  it('does not follow a redirect', async () => {
    upstream.reply(redirect(`${upstream.url}/elsewhere`, 307));
    expect((await send()).status).toBe(307);
    expect(upstream.calls).toHaveLength(1);
  });

  it('pauses its upstream while the caller is slow', async () => {
    upstream.reply(json('x'.repeat(20_000_000)));
    const outcome = new Outcome(true);
    const call = dispatch(outcome);
    await upstream.waitForCalls(1);
    await expect.poll(() => outcome.body.length).toBeGreaterThan(0);
    const got = outcome.body.length;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(outcome.body.length).toBe(got);
    expect(got).toBeLessThan(5_000_000);
    outcome.resume();
    await upstream.waitFor(() => true);
    call.abort();
  });
});

describe('an abort', () => {
  /** The upstreams of these tests never end by themselves. */
  const soonMs = 5_000;

  it('before the connection stands leaves none behind', async () => {
    const outcome = new Outcome();
    dispatch(outcome).abort();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([outcome.ends, upstream.calls.length, upstream.connections.open]).toEqual([0, 0, 0]);
    expect((await send()).status).toBe(200);
  });

  it.each([
    ['before the first byte', hang()],
    ['after the head', hangAfterHeaders()],
    ['in the middle of the body', sse(['data: a\n\n'], { hangAfter: 1 })],
  ])('%s closes the upstream\u2019s connection at once, and nothing more is heard of it', async (when, script) => {
    upstream.reply(script);
    const outcome = new Outcome();
    const call = dispatch(outcome);
    await upstream.waitForCalls(1);
    if (when !== 'before the first byte')
      while (outcome.status === null) await new Promise((resolve) => setImmediate(resolve));
    const started = performance.now();
    call.abort();
    call.abort();
    await upstream.waitFor(() => upstream.connections.open === 0);
    expect(performance.now() - started, measuredTime).toBeLessThan(soonMs);
    expect(outcome.ends).toBe(0);
    upstream.reply(json({}));
    expect((await send()).status).toBe(200);
  });
});

describe('a bad upstream is an error, never a crash, and gets exactly one request', () => {
  const flood = Array.from({ length: 200 }, () => 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n').join('');
  const head = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n';
  it.each([
    ['resets after it has read the body', reset()],
    ['resets while the body is sent', reset('before-body')],
    ['closes without a word', rawBytes([])],
    ['answers with garbage', rawBytes(['\x16\x03\x01 this is not HTTP\r\n\r\n'])],
    ['answers with garbage and stays open', rawBytes(['\x00\x00\x06\x04'], { end: 'hang' })],
    ['answers in HTTP/0.9', rawBytes(['<html>hello</html>'])],
    ['sends only interim responses', rawBytes([flood], { end: 'hang' })],
    ['sends a header of 20 KB', rawBytes([`${head}x-big: ${'x'.repeat(20_000)}\r\n\r\n{}`])],
    ['sends a control character in a header', rawBytes([`${head}x-odd: a\x01b\r\n\r\n{}`])],
    ['sends a bare CR in a header', rawBytes([`${head}x-odd: a\rb\r\n\r\n{}`])],
    ['sends a header without a name', rawBytes([`${head}: x\r\n\r\n{}`])],
    ['breaks off in the body', rawBytes(['HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"a"'])],
    ['breaks off in a chunk', rawBytes(['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab'])],
    ['names a chunk that is none', rawBytes(['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nab\r\n'])],
    ['says two lengths', rawBytes([`${head}content-length: 3\r\n\r\n{}`])],
  ])('%s', async (_, script) => {
    upstream.enqueue(script);
    const outcome = await send();
    expect(outcome.error).toBeInstanceOf(Error);
    expect([outcome.ends, upstream.calls.length]).toEqual([1, 1]);
    expect((await send()).status, 'the next request').toBe(200);
  });

  it('takes an interim response before the answer, and odd bytes in headers', async () => {
    upstream.enqueue(
      rawBytes(['HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'], {
        end: 'keep',
      }),
    );
    expect(await send()).toMatchObject({ status: 200, body: '{}' });
    upstream.enqueue(
      rawBytes([Buffer.from('HTTP/1.1 200 OK\r\nx-odd: é😀\r\ncontent-length: 2\r\n\r\n{}')], { end: 'keep' }),
    );
    expect(await send()).toMatchObject({ status: 200, body: '{}' });
  });

  it('is told of a refused connection and of a name that does not exist', async () => {
    const { port } = upstream;
    await upstream.stop();
    expect((await send({ url: `http://127.0.0.1:${port}/v1` })).error).toMatchObject({ code: 'ECONNREFUSED' });
    expect((await send({ url: 'http://no-such-host.invalid/v1' })).error).toBeInstanceOf(Error);
    upstream = await startUpstream();
  });

  it('leaves neither sockets nor clients behind after 2,000 errors', async () => {
    upstream.onRequest(({ id }) =>
      id % 3 === 0 ? reset() : id % 3 === 1 ? json('x'.repeat(2_000), { status: 500 }) : rawBytes(['garbage\r\n\r\n']),
    );
    let answered = 0;
    for (let round = 0; round < 100; round++)
      answered += (await Promise.all(Array.from({ length: 20 }, () => send()))).filter(({ ends }) => ends === 1).length;
    expect(answered).toBe(2_000);
    expect(upstream.connections.open).toBeLessThanOrEqual(20);
    const [connections] = (transport as unknown as { origins: Map<string, { idleCount: number }> }).origins.values();
    expect(connections!.idleCount).toBeLessThanOrEqual(20);
  });
});

describe('a kept connection that the server has closed unnoticed', () => {
  const source = `
    const { parentPort } = require('node:worker_threads');
    const sockets = new Set();
    let requests = 0;
    const server = require('node:net').createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('data', () => { requests++; socket.write('HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\n{}'); });
    });
    server.listen(0, '127.0.0.1', () => parentPort.postMessage({ port: server.address().port }));
    parentPort.on('message', (what) => {
      if (what === 'reset') for (const socket of sockets) { sockets.delete(socket); socket.resetAndDestroy(); }
      else if (what === 'close') for (const socket of sockets) { sockets.delete(socket); socket.destroy(); }
      else parentPort.postMessage({ requests, open: sockets.size });
    });`;

  it.each(['reset', 'close'])(
    'by a %s gets the request once more on a fresh one, because nothing of it was sent',
    async (how) => {
      const worker = new Worker(source, { eval: true });
      const told = () =>
        new Promise<{ port: number; requests: number; open: number }>((resolve) => worker.once('message', resolve));
      try {
        const url = `http://127.0.0.1:${(await told()).port}/v1`;
        expect((await send({ url })).status).toBe(200);
        worker.postMessage(how);
        // This thread is kept busy, so that it cannot learn of it before it writes.
        for (const until = performance.now() + 200; performance.now() < until; );
        expect(await send({ url })).toMatchObject({ status: 200, error: null, ends: 1 });
        worker.postMessage('count');
        expect(await told()).toEqual({ requests: 2, open: 1 });
      } finally {
        await worker.terminate();
      }
    },
  );
});
