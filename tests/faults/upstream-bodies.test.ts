/** Bodies that are compressed, not an answer, or a web page: decoded or refused, never passed on unchanged. */

import { brotliCompressSync, constants, deflateRawSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestAccount } from '../support/client.js';
import * as up from '../support/scripted-upstream.js';
import {
  ask,
  costOf,
  countedCost,
  expectBooks,
  expectError,
  expectServes,
  otherPin,
  providerError,
  type Rig,
  startRig,
  words,
} from './fixture.js';

let rig: Rig;
let account: TestAccount;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());
beforeEach(async () => {
  rig.upstream.reset();
  rig.other.reset();
  account = await rig.gateway.createAccount();
});
const chat = (more = {}) => rig.gateway.chat(ask(more), { key: account.key });

/** A zstd frame of one uncompressed block; Node 20 has no compressor for it. */
function zstd(text: string): Buffer {
  const bytes = Buffer.from(text);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(bytes.length);
  const block = Buffer.alloc(3);
  block.writeUIntLE((bytes.length << 3) | 1, 0, 3);
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0]), size, block, bytes]);
}

describe('compressed bodies', () => {
  const coded: [string, (body: object, status: number) => up.Script][] = [
    ['gzip', (body, status) => up.encoded(body, 'gzip', { status })],
    ['br', (body, status) => up.encoded(body, 'br', { status })],
    ['deflate', (body, status) => up.encoded(body, 'deflate', { status })],
    ['bare deflate', (body, status) => up.encodedBytes(deflateRawSync(JSON.stringify(body)), 'deflate', { status })],
    ['zstd', (body, status) => up.encodedBytes(zstd(JSON.stringify(body)), 'zstd', { status })],
    ['GZIP in capitals', (body, status) => up.encodedBytes(gzipSync(JSON.stringify(body)), 'GZIP', { status })],
    [
      'two gzip members',
      (body, status) =>
        up.encodedBytes(Buffer.concat([gzipSync(JSON.stringify(body)), gzipSync(' ')]), 'x-gzip', { status }),
    ],
  ];

  it.each(coded)(
    '%s, not asked for, is decoded on a 200, a 400 and a 500, and no header of it reaches the caller',
    async (_, script) => {
      const error = { error: { message: 'unsupported value: seed', type: 'invalid_request_error' } };
      rig.upstream.enqueue(
        script(up.completion({ content: 'päck' }), 200),
        script(error, 400),
        script({ error: { message: 'disk full' } }, 500),
      );
      const served = await chat();
      expect([served.status, served.json.choices?.[0].message.content]).toEqual([200, 'päck']);
      expect(served.headers['content-encoding']).toBeUndefined();
      expect(served.headers['content-length']).toBe(String(Buffer.byteLength(served.text)));
      const rejected = await chat();
      expect(
        expectError(rejected, { status: 400, type: 'invalid_request_error', code: 'invalid_request_error' }),
      ).toContain('unsupported value: seed');
      const failed = await chat();
      expect(expectError(failed, providerError)).toContain('disk full (HTTP 500)');
      for (const { headers } of [rejected, failed]) expect(headers['content-encoding']).toBeUndefined();
      await expectBooks(rig.gateway, account, { records: 3, costs: [costOf(9, 3)] });
      await expectServes(rig);
    },
  );

  it.each(['gzip', 'zstd'])('a stream in %s is decoded', async (encoding) => {
    const text = [...up.streamOf([' a', ' b']).map(up.frameText), 'data: [DONE]\n\n'].join('');
    const bytes = encoding === 'gzip' ? gzipSync(text) : zstd(text);
    rig.upstream.reply(up.encodedBytes(bytes, encoding, { headers: { 'content-type': 'text/event-stream' } }));
    const reply = await rig.gateway.stream(ask(), { key: account.key });
    expect([reply.status, reply.content, reply.done]).toEqual([200, ' a b', true]);
    expect(reply.headers['content-encoding']).toBeUndefined();
    await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 2)] });
  });

  const begun = [...up.streamOf(words(3)).slice(0, 4).map(up.frameText)].join('');
  const noise = Buffer.alloc(64, 0xff);
  const pieces = (encoding: string, first: Buffer, ...later: Buffer[]): up.Script =>
    up.rawBytes([
      `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: ${encoding}\r\ntransfer-encoding: chunked\r\n\r\n`,
      up.chunked(first),
      200,
      ...later.map(up.chunked),
      '0\r\n\r\n',
    ]);
  const gzipped = gzipSync(begun, { finishFlush: constants.Z_SYNC_FLUSH });
  const brotlied = brotliCompressSync(begun, { finishFlush: constants.BROTLI_OPERATION_FLUSH } as object);

  it.each([
    ['gzip with noise in it', pieces('gzip', gzipped, noise)],
    ['br with noise in it', pieces('br', brotlied, noise)],
    ['gzip that ends without its last block', pieces('gzip', gzipped)],
  ])('a stream in %s is cut after its content: billed as delivered, and no other route is asked', async (_, script) => {
    rig.upstream.reply(script);
    const reply = await rig.gateway.stream(ask({ fallback: { models: [otherPin] } }), { key: account.key });
    expect([reply.status, reply.content, reply.done]).toEqual([200, words(3).join(''), true]);
    expect(reply.frames.at(-2)!.json).toMatchObject({ choices: [], router_metadata: { stream_end: 'cut' } });
    expect([rig.upstream.calls.length, rig.other.calls.length]).toEqual([1, 0]);
    await expectBooks(rig.gateway, account, { records: 1, costs: [countedCost(words(3).join(''))] });
    await expectServes(rig);
  });

  it.each([
    ['a coding that is not there', up.encodedBytes(Buffer.from(JSON.stringify(up.completion())), 'gzip')],
    ['a coding that nobody knows', up.encodedBytes(Buffer.from(JSON.stringify(up.completion())), 'sdch')],
    ['half of a body', up.encodedBytes(gzipSync(JSON.stringify(up.completion())).subarray(0, 60), 'gzip')],
    ['a bomb', up.encodedBytes(gzipSync(Buffer.alloc(40_000_000, 'x'), { level: 1 }), 'gzip')],
  ])('%s is a 503, and nothing is billed', async (_, script) => {
    rig.upstream.reply(script);
    expect(expectError(await chat(), providerError)).toContain('acme');
    await expectBooks(rig.gateway, account, { records: 1, costs: [] });
    await expectServes(rig);
  });
});

describe('front pages', () => {
  const nginx =
    '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx/1.25.3</center>\r\n</body>\r\n</html>\r\n';
  const cloudflare = `<!DOCTYPE html><html lang="en-US"><head><title>acme.example | 524: A timeout occurred</title><style>.x{color:red}</style></head><body>${'<div class="cf"><p>Ray ID</p></div>'.repeat(300)}</body></html>`;

  it.each([
    ['nginx 502', 502, nginx, '502 Bad Gateway'],
    ['Cloudflare 524', 524, cloudflare, '524: A timeout occurred'],
    ['a 404 page', 404, '<!doctype html><h1>Not found</h1>', '(HTTP 404)'],
    ['a 403 page', 403, '<html><body>Access denied <script>alert(1)</script></body></html>', '(HTTP 403)'],
  ])('%s becomes a short 503 that names provider and status, without markup', async (_, status, page, words) => {
    for (const stream of [false, true]) {
      rig.upstream.reset();
      rig.upstream.reply(up.json(page, { status, headers: { 'content-type': 'text/html' } }));
      const message = expectError(await chat({ stream }), providerError);
      expect(message).toMatch(/^The provider acme failed: /);
      expect(message).toContain(words);
      expect(message).toContain(String(status));
      expect(message).not.toMatch(/<|>|alert|color:red/);
      expect(message.length).toBeLessThan(600);
    }
    await expectBooks(rig.gateway, account, { records: 2, costs: [] });
    await expectServes(rig);
  });
});

describe('bodies that are no answer', () => {
  const bodies: [string, string][] = [
    ['null', 'null'],
    ['an array', '[]'],
    ['an empty string', '""'],
    ['a number', '42'],
    ['true', 'true'],
    ['an empty object', '{}'],
    ['nothing', ''],
    ['blanks', ' \n\n '],
    ['text', 'upstream connect error or disconnect/reset before headers'],
    ['half a JSON', '{"id":"x","choices":[{"index":0,"message":{"role":"assi'],
    ['HTML', '<!DOCTYPE html><html><body>hello</body></html>'],
    ['choices of null', '{"id":"x","object":"chat.completion","choices":null}'],
    ['choices of no choice', '{"id":"x","object":"chat.completion","choices":[]}'],
    ['choices that are none', '{"id":"x","object":"chat.completion","choices":[null]}'],
    [
      'a choice without a message',
      '{"id":"x","object":"chat.completion","choices":[{"index":0,"finish_reason":"stop"}]}',
    ],
    ['choices that are an object', '{"id":"x","choices":{"0":{"message":{"content":"a"}}}}'],
  ];

  it.each(bodies)(
    'a 200 with %s is a 503 that names the provider, in both modes, and nothing is billed',
    async (_, body) => {
      for (const stream of [false, true]) {
        rig.upstream.reset();
        rig.upstream.reply(up.json(body));
        expect(expectError(await chat({ stream }), providerError)).toMatch(/^The provider acme failed: /);
        expect(rig.upstream.calls).toHaveLength(1);
      }
      await expectBooks(rig.gateway, account, { records: 2, costs: [] });
      expect(rig.other.calls).toHaveLength(0);
      await expectServes(rig);
    },
  );

  // A finish_reason without content is an answer of a stream.
  it.each(bodies.filter(([, body]) => !body.includes('finish_reason')))(
    'a stream of one frame with %s is a 503 as well, and nothing is billed',
    async (_, body) => {
      rig.upstream.reply(up.sse([`data: ${body.replace(/\s+/g, ' ')}\n\n`]));
      expect(expectError(await chat({ stream: true }), providerError)).toMatch(/^The provider acme failed: /);
      await expectBooks(rig.gateway, account, { records: 1, costs: [] });
      await expectServes(rig);
    },
  );
});
