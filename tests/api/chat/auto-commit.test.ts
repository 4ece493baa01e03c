import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { costOf, expectReceipt, useRouting } from '../../support/routing.js';
import { chunk, json, rawBytes, reset, type Script, sse, streamOf, usage } from '../../support/scripted-upstream.js';
import { expectError } from '../harness.js';

const timeouts = { first_byte_streaming: '250ms', stream_idle: '250ms', overall: '5s' };
const routing = useRouting({ config: { timeouts } });

const role = chunk({ role: 'assistant', content: '' });
const empty = chunk({ delta: {} });
const finish = chunk({ delta: {}, finishReason: 'length' });
const comments = Array.from({ length: 60 }, () => ': still working\n\n');
const errorFrame = (code: number, message: string, type = 'error') => ({ error: { code, message, type } });
const sseHead = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

/** Every way to fail inside a 200 before anything was delivered. */
const early: [string, Script][] = [
  ['an error frame', sse([errorFrame(500, 'internal error')])],
  ['a role frame and then an error frame', sse([role, errorFrame(503, 'overloaded')])],
  ['a finish_reason and then an error frame', sse([role, finish, errorFrame(500, 'internal error')])],
  ['a cut before any frame', sse([], { cutAfter: 0, noDone: true })],
  ['a reset before any frame', sse([role], { cutAfter: 0, cutWith: 'reset' })],
  ['a role frame and then a cut', sse([role], { cutAfter: 1 })],
  ['a role frame and then a reset', sse([role], { cutAfter: 1, cutWith: 'reset' })],
  ['role and empty frames and then a cut', sse([role, empty, empty], { cutAfter: 3 })],
  ['garbage frames', sse(['data: {not json\n\n'])],
  ['bytes that are no event stream', rawBytes([`${sseHead}5\r\nhello\r\n0\r\n\r\n`], { end: 'keep' })],
  ['an empty stream', sse([], { noDone: true })],
  ['only [DONE]', sse([])],
  ['a role frame and [DONE]', sse([role])],
  ['a whole JSON answer instead of a stream', json({ hello: 'world' })],
  ['comments only, and then an end', sse(comments.slice(0, 3), { noDone: true })],
  ['comments only, until the first-byte budget', sse(comments, { gapMs: 25 })],
  ['a role frame, then comments only, until the idle budget', sse([role, ...comments], { gapMs: 25 })],
  ['silence after the head', sse([], { hangAfter: 0 })],
  ['silence after a role frame', sse([role, role], { hangAfter: 1 })],
  ['a connection that is reset', reset()],
];

describe('a stream that fails before its first content frame falls through to the next route', () => {
  it.each(early)('%s', async (_what, script) => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', script);
    const reply = await lane.stream();
    expect([reply.status, reply.content, reply.done, reply.complete], reply.text).toEqual([
      200,
      'one two three',
      true,
      true,
    ]);
    expect(routing.called).toEqual(['alpha', 'beta']);
    const first = reply.frames[0]!.json as Json;
    expect(first.router_metadata).toMatchObject({
      ...{ provider: 'beta', providers_attempted: ['alpha', 'beta'], fallback_occurred: true },
    });
    // Nothing of what the first one said is left: neither a frame nor a fault.
    const deltas = reply.frames.flatMap(
      ({ json }) => (json as { choices: { delta: Json }[] } | undefined)?.choices ?? [],
    );
    expect(deltas.map(({ delta }) => delta)).toEqual([
      { role: 'assistant', content: '' },
      ...['one', ' two', ' three'].map((content) => ({ content })),
      {},
    ]);
    expect(await lane.record()).toMatchObject({ stream_end: 'complete', finish_reason: 'stop', provider: 'beta' });
    expect(reply.text).not.toContain(lane.pin('alpha'));
    expect(await lane.charges()).toEqual([{ generation: first.id, pico: costOf('beta') }]);
    expect((await lane.route('alpha')).error_rate).toBe(1);
  });

  it('the usage of the one that failed is not billed to the one that serves without any', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', sse([role, chunk({ choices: [], usage: usage(5_000, 5_000) })], { cutAfter: 2 }));
    routing.on('beta', sse(streamOf(['one'], { usage: null })));
    expect((await lane.stream()).content).toBe('one');
    const record = await lane.record();
    expect(record).toMatchObject({ usage_source: 'counted', completion_tokens: 1 });
    expect(record.prompt_tokens).toBeLessThan(20);
  });

  it('where it was the last route, it is an ordinary error with the receipt, and nothing is billed', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', sse([role], { cutAfter: 1 }));
    routing.on('beta', sse([role, errorFrame(503, 'overloaded')]));
    expectReceipt(await lane.stream(), 'provider_error', { attempted: ['alpha', 'beta'], last: /overloaded/ });
    expect(await lane.charges()).toEqual([]);
  });

  it('a rejection of the request inside a 200 is a 400 and stops the walk', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', sse([role, errorFrame(400, 'Unsupported parameter: foo', 'invalid_request_error')]));
    expectError(await lane.stream(), {
      ...{ status: 400, type: 'invalid_request_error', code: 'invalid_request_error' },
      says: [/^The provider alpha rejected the request/],
    });
    expect(routing.called).toEqual(['alpha']);
  });

  it('a spent quota inside a 200 holds the route, and the walk goes on', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', sse([errorFrame(429, 'tokens per day (TPD) limit reached')]));
    expect((await lane.stream()).status).toBe(200);
    expect((await lane.route('alpha')).hold).not.toBeNull();
  });
});

describe('after its first content frame nothing switches route, ever', () => {
  const texts = ['one', ' two'];
  const frames = streamOf(texts, { finishReason: null, usage: null });
  const toolCall = { tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }] };
  const late: [string, Script, string][] = [
    ['a cut', sse(frames, { cutAfter: 3, noDone: true }), 'cut'],
    ['a reset', sse(frames, { cutAfter: 3, cutWith: 'reset', noDone: true }), 'cut'],
    ['an error frame', sse([...frames, errorFrame(500, 'internal error')]), 'cut'],
    ['a rejection', sse([...frames, errorFrame(400, 'Unsupported parameter', 'invalid_request_error')]), 'cut'],
    ['silence', sse(frames, { noDone: true, keepOpen: true }), 'stalled'],
    ['a tool call and then a cut', sse([chunk({ delta: toolCall })], { cutAfter: 1, noDone: true }), 'cut'],
    ['reasoning and then a cut', sse([chunk({ delta: { reasoning_content: 'hm' } })], { cutAfter: 1 }), 'cut'],
  ];

  it.each(late)('%s', async (_what, script, end) => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', script);
    const reply = await lane.stream({ fallback: { models: [lane.pin('beta')] } });
    expect([reply.status, reply.done], reply.text).toEqual([200, true]);
    expect(routing.called).toEqual(['alpha']);
    const last = reply.frames.at(-2)!.json as Json;
    expect(last.choices).toEqual([]);
    expect(last.router_metadata).toMatchObject({
      ...{ provider: 'alpha', providers_attempted: ['alpha'], fallback_occurred: false, stream_end: end },
    });
    expect(await lane.record()).toMatchObject({
      stream_end: end,
      served_model: lane.pin('alpha'),
      finish_reason: null,
    });
    expect(await lane.charges()).toHaveLength(1);
    expect((await lane.route('alpha')).error_rate).toBe(1);
  });
});
