/** How a stream that has started can end, and that nothing but its delivered tokens is ever billed. */
import { describe, expect, it } from 'vitest';
import { expectWithin } from '../../faults/fixture.js';
import type { Json, StreamReply } from '../../support/client.js';
import { chunk, rawBytes, type Script, sse, streamOf, usage } from '../../support/scripted-upstream.js';
import { ask, expectError, generation, useGateway } from '../harness.js';

const bench = useGateway({ config: { timeouts: { stream_idle: '400ms', overall: '2s' } } });

const jsonFrames = (reply: StreamReply): Json[] =>
  reply.frames.filter(({ data }) => data !== '[DONE]').map(({ json }) => json as Json);
const idOf = (reply: StreamReply) => String(reply.headers['x-generation-id']);
const finishReasons = (reply: StreamReply) =>
  jsonFrames(reply)
    .flatMap((frame) => ((frame.choices ?? []) as Json[]).map(({ finish_reason }) => finish_reason ?? null))
    .filter(Boolean);

async function streamed(script: Script, more: Json = {}): Promise<StreamReply> {
  bench.upstream.reply(script);
  const reply = await bench.gateway.stream(ask(more));
  expect(reply.status, reply.text).toBe(200);
  return reply;
}

const endOf = (reply: StreamReply) => (jsonFrames(reply).at(-1)!.router_metadata as Json | undefined)?.stream_end;

describe('a complete stream', () => {
  const complete: [string, () => Script, string[]][] = [
    ['an ordinary one', () => sse(streamOf(['a', 'b'])), ['stop']],
    ['closed after the finish_reason without [DONE]', () => sse(streamOf(['a', 'b']), { noDone: true }), ['stop']],
    [
      'cut after the finish_reason',
      () => sse(streamOf(['a', 'b'], { usage: null }), { noDone: true, cutAfter: 4 }),
      ['stop'],
    ],
    [
      '[DONE] after content without a finish_reason, which is never invented',
      () => sse(streamOf(['a', 'b'], { finishReason: null })),
      [],
    ],
    [
      'no content, only a finish_reason',
      () => sse([chunk({ role: 'assistant', content: '' }), chunk({ delta: {}, finishReason: 'content_filter' })]),
      ['content_filter'],
    ],
    [
      'data after [DONE], which is ignored',
      () => sse([...streamOf(['a', 'b']), 'data: [DONE]\n\n', chunk({ content: 'late' })]),
      ['stop'],
    ],
  ];

  it.each(complete)('%s', async (_, script, reasons) => {
    const reply = await streamed(script());
    expect([reply.done, reply.complete, endOf(reply)]).toEqual([true, true, 'complete']);
    expect(finishReasons(reply)).toEqual(reasons);
    expect(reply.text).not.toContain('late');
    expect(reply.text.match(/\[DONE\]/g)).toHaveLength(1);
    expect(await generation(bench.gateway, idOf(reply))).toMatchObject({
      stream_end: 'complete',
      finish_reason: reasons[0] ?? null,
    });
  });

  it('ends at [DONE] though the upstream keeps its connection open', async () => {
    const reply = await streamed(sse(streamOf(['a']), { keepOpen: true }));
    expect([reply.done, endOf(reply)]).toEqual([true, 'complete']);
    expectWithin(reply.endMs, 350);
  });

  it('a malformed frame in the middle is dropped', async () => {
    const [role, first, ...rest] = streamOf(['a', 'b']);
    const reply = await streamed(sse([role, first, 'data: {"choices":[{"del\n\n', ...rest]));
    expect([reply.content, reply.done, endOf(reply)]).toEqual(['ab', true, 'complete']);
  });
});

describe('a stream that breaks after its start', () => {
  const texts = ['one', ' two', ' three'];
  const broken: [string, () => Script, string][] = [
    ['falls silent', () => sse(streamOf(texts), { hangAfter: 4 }), 'stalled'],
    [
      'sends only comments, which are no progress',
      () => sse([...streamOf(texts, { finishReason: null, usage: null }), ...Array(40).fill(': x\n\n')], { gapMs: 60 }),
      'stalled',
    ],
    ['is closed', () => sse(streamOf(texts), { cutAfter: 4 }), 'cut'],
    ['is reset', () => sse(streamOf(texts), { cutAfter: 4, cutWith: 'reset' }), 'cut'],
    [
      'ends without finish_reason and [DONE]',
      () => sse(streamOf(texts, { finishReason: null, usage: null }), { noDone: true }),
      'cut',
    ],
    [
      'has an error frame',
      () => sse([...streamOf(texts, { finishReason: null, usage: null }), { error: { message: 'upstream fault' } }]),
      'cut',
    ],
  ];

  it.each(broken)(
    'that %s ends with a receipt and [DONE], no JSON error, no invented finish_reason, delivered tokens billed',
    async (_, script, end) => {
      const reply = await streamed(script());
      const last = jsonFrames(reply).at(-1)!;
      expect([reply.done, reply.complete, reply.content]).toEqual([true, true, texts.join('')]);
      expect(last).toMatchObject({
        id: idOf(reply),
        object: 'chat.completion.chunk',
        model: 'acme/meta/llama/defra',
        choices: [],
      });
      expect(endOf(reply)).toBe(end);
      expect(finishReasons(reply)).toEqual([]);
      expect(reply.text).not.toContain('"error"');
      const record = await generation(bench.gateway, idOf(reply));
      expect(record).toMatchObject({
        status: 200,
        stream_end: end,
        completion_tokens: 3,
        usage_source: 'counted',
        finish_reason: null,
      });
      expect(Number(record.cost_usd)).toBeGreaterThan(0);
      expect(bench.upstream.calls).toHaveLength(1);
    },
  );

  const of = (index: number, text: string | null) =>
    text === null ? chunk({ index, delta: {}, finishReason: 'stop' }) : chunk({ index, content: text });
  const oneFinished = [of(0, 'a'), of(1, 'b'), of(0, null)];
  const severalChoices: [string, () => Script, string, string[]][] = [
    [
      'is cut before the second has its finish_reason',
      () => sse([...oneFinished, of(1, 'c')], { noDone: true }),
      'cut',
      ['stop'],
    ],
    [
      'is reset before the second has begun',
      () => sse([of(0, 'a'), of(0, null), of(1, 'b')], { cutAfter: 2, cutWith: 'reset' }),
      'cut',
      ['stop'],
    ],
    [
      'falls silent before the second has its finish_reason',
      () => sse([...oneFinished, of(1, 'c')], { hangAfter: 3 }),
      'stalled',
      ['stop'],
    ],
    [
      'goes on after figures of its usage',
      () => sse([...oneFinished, chunk({ choices: [], usage: usage(9, 2) }), of(1, 'c'), of(1, null)], { gapMs: 300 }),
      'complete',
      ['stop', 'stop'],
    ],
    [
      'closes after the last finish_reason',
      () => sse([...oneFinished, of(1, null)], { noDone: true }),
      'complete',
      ['stop', 'stop'],
    ],
    [
      'has fewer choices than were asked for, and closes',
      () => sse([of(0, 'a'), of(0, null)], { noDone: true }),
      'complete',
      ['stop'],
    ],
    ['has only [DONE] after the second', () => sse([...oneFinished, of(1, 'c')]), 'complete', ['stop']],
  ];

  it.each(severalChoices)('of several choices that %s', async (_, script, end, reasons) => {
    const reply = await streamed(script(), { n: 2 });
    expect([reply.done, endOf(reply), finishReasons(reply)]).toEqual([true, end, reasons]);
    expect(await generation(bench.gateway, idOf(reply))).toMatchObject({ stream_end: end });
  });

  it('has the usage in its closing frame where it was asked for', async () => {
    const reply = await streamed(sse(streamOf(texts), { cutAfter: 4 }), { stream_options: { include_usage: true } });
    const last = jsonFrames(reply).at(-1)!;
    expect(last.usage).toMatchObject({ completion_tokens: 3 });
    expect(endOf(reply)).toBe('cut');
  });

  it('a stream whose overall budget is spent ends as stalled', async () => {
    const reply = await streamed(sse(streamOf(Array(60).fill('x'), { finishReason: null }), { gapMs: 100 }));
    expect([endOf(reply), reply.done]).toEqual(['stalled', true]);
    expect(reply.endMs).toBeGreaterThan(1_900);
    expectWithin(reply.endMs, 2_900);
  });
});

describe('a pricing fault after the start', () => {
  const faults: [string, Json][] = [
    ['negative tokens', chunk({ choices: [], usage: usage(9, -1) })],
    [
      'audio tokens without a price',
      chunk({ choices: [], usage: usage(9, 3, { completion_tokens_details: { audio_tokens: 3 } }) }),
    ],
    ['another model of the catalogue', chunk({ content: 'x', model: 'upstream-other' })],
  ];

  it.each(faults)(
    '%s: an error frame with cost_unresolvable, then the end without [DONE]; nothing billed',
    async (_, frame) => {
      const { gateway } = bench;
      const account = await gateway.account();
      const before = [await gateway.balance(account.accountId), await gateway.ledger(account.accountId)];
      const reply = await streamed(sse([...streamOf(['a', 'b'], { usage: null }), frame]));
      expect([reply.done, reply.complete, reply.remainder]).toEqual([false, true, '']);
      expect(reply.text).not.toContain('[DONE]');
      const { error } = jsonFrames(reply).at(-1)! as { error: Json };
      expect(error).toMatchObject({
        type: 'provider_error',
        code: 'cost_unresolvable',
        message: expect.stringContaining('acme'),
      });
      expect(finishReasons(reply), 'the finish frame is held until the fault is known').toEqual([]);
      expect([await gateway.balance(account.accountId), await gateway.ledger(account.accountId)]).toEqual(before);
      expect(await generation(gateway, idOf(reply))).toMatchObject({
        stream_end: 'pricing_fault',
        cost_usd: '0',
        error_code: 'cost_unresolvable',
      });
      bench.upstream.reply(sse(streamOf(['fine'])));
      expect((await gateway.stream(ask())).done, 'the model is not blocked').toBe(true);
    },
  );

  it('before the first byte it is an ordinary 503 instead', async () => {
    bench.upstream.reply(sse([chunk({ role: 'assistant', model: 'upstream-other' }), ...streamOf(['a'])]));
    expectError(await bench.gateway.stream(ask()), {
      status: 503,
      type: 'provider_error',
      code: 'provider_error',
      says: ['upstream-other'],
    });
  });
});

describe('a caller that disconnects', () => {
  it('in a stream: the upstream’s call ends within 100 ms, the prompt and what was delivered are billed', async () => {
    const { gateway, upstream } = bench;
    upstream.reply(sse(streamOf(Array(100).fill(' word'), { roleChunk: false }), { gapMs: 20 }));
    const reply = await gateway.stream(ask(), { hangUpAfter: 10 });
    const hungUpAt = performance.now();
    await upstream.waitFor(() => upstream.calls[0]!.aborted);
    expectWithin(upstream.calls[0]!.abortedAt! - hungUpAt, 100);
    // Nobody waits for this answer any more: what was delivered is counted after the hang-up, off the main thread.
    const read = () => gateway.call('GET', `/v1/generation/${idOf(reply)}`);
    await expect.poll(async () => (await read()).status, { timeout: 60_000 }).toBe(200);
    const record = (await read()).json.data;
    expect(record).toMatchObject({ stream_end: 'client_closed', usage_source: 'counted' });
    expect(record.completion_tokens).toBeGreaterThanOrEqual(10);
    expect(record.completion_tokens).toBeLessThanOrEqual(14);
  });

  it('before a whole answer: the upstream’s call ends, nothing is billed, nothing is tried again', async () => {
    const { gateway, upstream } = bench;
    const account = await gateway.account();
    const before = await gateway.ledger(account.accountId);
    upstream.reply(rawBytes([], { end: 'hang' }));
    const abort = new AbortController();
    const call = gateway.chat(ask(), { signal: abort.signal });
    await upstream.waitForCalls(1);
    const hungUpAt = performance.now();
    abort.abort();
    await expect(call).rejects.toThrow();
    await upstream.waitFor(() => upstream.calls[0]!.aborted);
    expectWithin(upstream.calls[0]!.abortedAt! - hungUpAt, 100);
    expect(await gateway.ledger(account.accountId)).toEqual(before);
    expect(upstream.calls).toHaveLength(1);
  });
});
