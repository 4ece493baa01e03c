import { Agent, request } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectWithin } from '../faults/fixture.js';
import { sendRaw } from './raw-http.js';
import * as up from './scripted-upstream.js';
import { SseReader } from './sse.js';

describe('the scripted upstream', () => {
  let upstream: up.ScriptedUpstream;
  let agent: Agent;
  beforeAll(async () => {
    upstream = await up.startUpstream();
    agent = new Agent({ connections: 1 });
  });
  afterEach(() => upstream.reset());
  afterAll(async () => {
    await agent.destroy();
    await upstream.stop();
  });
  const post = (body: unknown, signal?: AbortSignal) =>
    request(`${upstream.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'x-test': 'yes' },
      dispatcher: agent,
      signal: signal ?? null,
    });

  it('logs what it was sent and answers a completion, on one kept connection', async () => {
    for (const text of ['one', 'two']) {
      const response = await post({ text });
      expect(await response.body.json()).toMatchObject({ object: 'chat.completion', usage: { total_tokens: 12 } });
    }
    expect(upstream.calls.map((call) => call.json)).toEqual([{ text: 'one' }, { text: 'two' }]);
    expect(upstream.calls[0]).toMatchObject({
      method: 'POST',
      path: '/v1/chat/completions',
      finished: true,
      aborted: false,
    });
    expect(upstream.calls[0]?.headers['x-test']).toBe('yes');
    expect(upstream.calls[1]?.connectionId).toBe(upstream.calls[0]?.connectionId);
  });

  it('streams frames, splits them into single bytes, and the reader puts them together again', async () => {
    upstream.reply(up.oneByteAtATime(up.sse(up.streamOf(['Zürich ', '東京 🚀']))));
    const response = await post({});
    const reader = new SseReader();
    for await (const piece of response.body) reader.push(piece);
    expect(reader.done).toBe(true);
    expect(reader.frames).toHaveLength(6);
    expect(reader.frames[2]?.json).toMatchObject({ choices: [{ delta: { content: '東京 🚀' } }] });
    expect(reader.remainder).toBe('');
  });

  it('cuts a stream where it is told to, by FIN or RST', async () => {
    for (const cutWith of ['fin', 'reset'] as const) {
      upstream.enqueue(up.sse(up.streamOf(['a', 'b', 'c']), { cutAfter: 2, cutWith, gapMs: 5 }));
      const response = await post({});
      const reader = new SseReader();
      const read = async () => {
        for await (const piece of response.body) reader.push(piece);
      };
      await expect(read()).rejects.toThrow();
      expect(reader.frames).toHaveLength(2);
    }
  });

  it('notices within milliseconds that the caller disconnected', async () => {
    upstream.reply(up.hang());
    const controller = new AbortController();
    const answer = post({}, controller.signal).catch((error: Error) => error.name);
    await upstream.waitForCalls(1);
    const abortedAt = performance.now();
    controller.abort();
    expect(await answer).toBe('AbortError');
    await upstream.waitFor(() => upstream.calls[0]!.aborted);
    expectWithin(upstream.calls[0]!.abortedAt! - abortedAt, 100);
  });

  it('resets before the body, answers in single pieces, compresses and redirects', async () => {
    upstream.enqueue(up.reset('before-body'));
    await expect(post({ large: 'x'.repeat(1_000_000) })).rejects.toThrow();
    upstream.enqueue(
      up.slowBody(up.completion(), { gapMs: 1, pieceBytes: 100 }),
      up.encoded({ ok: 1 }, 'gzip'),
      up.redirect('/x'),
    );
    expect(await (await post({})).body.json()).toMatchObject({ object: 'chat.completion' });
    expect((await post({})).headers['content-encoding']).toBe('gzip');
    expect((await post({})).statusCode).toBe(302);
  });

  it('reads chunked request bodies and sends raw bytes', async () => {
    upstream.reply(up.rawBytes(['HTTP/1.1 299 Odd\r\ncontent-length: 2\r\n\r\n', 5, 'ok']));
    const response = await sendRaw(
      upstream.url,
      'POST /raw HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n',
    );
    expect(response).toMatchObject({ status: 299, body: 'ok', closedByPeer: true });
    expect(upstream.calls[0]?.body.toString()).toBe('hello world');
  });
});
