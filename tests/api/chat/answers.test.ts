/** Valid answers in unusual forms (compressed, in pieces, slow), and answers of the wrong kind. */
import { describe, expect, it } from 'vitest';
import {
  completion,
  encoded,
  json,
  oneByteAtATime,
  rawBytes,
  type Script,
  slowBody,
  sse,
  streamOf,
  usage,
} from '../../support/scripted-upstream.js';
import { ask, expectError, useGateway } from '../harness.js';

const bench = useGateway();
const content = 'Grüße, 世界 👋';
const body = () => completion({ content, usage: usage(9, 3) });

const whole: [string, () => Script][] = [
  ['gzip, unasked', () => encoded(body(), 'gzip')],
  ['brotli', () => encoded(body(), 'br')],
  ['deflate', () => encoded(body(), 'deflate')],
  ['one byte at a time', () => oneByteAtATime(json(body()))],
  ['slowly, in pieces', () => slowBody(body(), { gapMs: 2 })],
  [
    'without a content-length, ended by the close',
    () => rawBytes([`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n${JSON.stringify(body())}`]),
  ],
  [
    'after a 100 and a 103',
    () =>
      rawBytes(
        [
          `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(JSON.stringify(body()))}\r\ncontent-type: application/json\r\n\r\n${JSON.stringify(body())}`,
        ],
        { end: 'keep' },
      ),
  ],
  ['with blank lines before it', () => json(`\n\n \r\n${JSON.stringify(body())}`)],
  [
    'with a content-type of charset',
    () => json(body(), { headers: { 'content-type': 'application/json; charset=utf-8' } }),
  ],
];

describe('a whole answer that comes', () => {
  it.each(whole)('%s is served as any other', async (_, script) => {
    bench.upstream.reply(script());
    const reply = await bench.gateway.chat(ask());
    expect(reply.status, reply.text).toBe(200);
    expect(reply.json.choices[0].message.content).toBe(content);
    expect(reply.json.usage.cost).toBe(0.0000078);
    expect(reply.headers['content-encoding']).toBeUndefined();
    expect(Number(reply.headers['content-length'])).toBe(Buffer.byteLength(reply.text));
  });

  it('to a path with a query is the same', async () => {
    expect((await bench.gateway.chat(ask(), { path: '/v1/chat/completions?x=1' })).status).toBe(200);
  });

  const malformed = { status: 503, type: 'provider_error', code: 'provider_error', says: ['acme'] };

  it('as JSON where a stream was asked is a 503: the caller gets the kind that it asked for (docs/decisions/0006)', async () => {
    bench.upstream.reply(json(body()));
    expectError(await bench.gateway.stream(ask()), malformed);
  });

  it('as a stream where a whole one was asked is a 503 (docs/decisions/0006)', async () => {
    bench.upstream.reply(sse(streamOf([content])));
    expectError(await bench.gateway.chat(ask()), malformed);
  });
});

describe('answers at once', () => {
  it('100 interleaved requests of two accounts each get their own answer', async () => {
    const { gateway, upstream } = bench;
    const accounts = [await gateway.createAccount(), await gateway.createAccount()];
    upstream.onRequest(({ json: sent }) => {
      const { messages, stream } = sent as { messages: { content: string }[]; stream: boolean };
      const canary = messages[0]!.content;
      return stream ? sse(streamOf([canary])) : json(completion({ content: canary }), { delayMs: canary.length % 7 });
    });
    const send = async (index: number): Promise<void> => {
      const { key } = accounts[index % 2]!;
      const canary = `canary-${index}-${'x'.repeat(index % 13)}`;
      const request = ask({ messages: [{ role: 'user', content: canary }] });
      if (index % 3 === 0) {
        expect((await gateway.stream(request, { key })).content).toBe(canary);
        return;
      }
      const reply = await gateway.chat(request, { key });
      expect(reply.json.choices?.[0].message.content, reply.text).toBe(canary);
    };
    // All at once would measure how fast the machine opens connections.
    for (let from = 0; from < 100; from += 25)
      await Promise.all(Array.from({ length: 25 }, (_, index) => send(from + index)));
    for (const { accountId } of accounts) {
      const used = (await gateway.ledger(accountId)).filter(({ kind }) => kind === 'usage');
      expect(used).toHaveLength(50);
    }
  });
});
