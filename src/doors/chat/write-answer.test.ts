import { describe, expect, it } from 'vitest';
import { chunk, usage } from '../../../tests/support/openai-shapes.js';
import { PlayedRelay } from '../../../tests/support/played-relay.js';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { routerMetadataText } from '../../pipeline/respond/answer-head.js';
import { readAnswer } from '../../providers/translation.js';
import { chatStream, writeAnswer } from './write-answer.js';

const closing = {
  usage: {
    given: usage(9, 1),
    usage: { promptTokens: 9, completionTokens: 1, cachedTokens: 0, reasoningTokens: 0 },
    cost: { pico: 100_000_000_000n, details: {}, tier: null, lines: [] },
  },
  metadata: '{"provider":"acme","stream_end":"X"}',
};
const finish = chunk({ delta: {}, finishReason: 'stop' });
type End = 'complete' | 'stalled' | 'cut';

/** Plays frames, closes the stream as it would be, and gives all frames that the caller got. */
function closed(frames: unknown[], end: End, includeUsage = false) {
  const played = new PlayedRelay({ includeUsage });
  for (const frame of frames) played.frame(frame);
  const { relay, caller } = played;
  relay.commitEmpty();
  relay.finish();
  caller.endStream(relay.takeEnd(end, closing.usage, closing.metadata));
  return caller;
}
const identity = { id: 'gen-1', object: 'chat.completion.chunk', created: 7, model: 'acme/meta/llama/defra' };
const receipt = { provider: 'acme', stream_end: 'X' };

describe('the end of a stream', () => {
  it('complete: the frame with the finish_reason is the last JSON frame and has the receipt', () => {
    const { frames } = closed(
      [chunk({ content: 'a' }), finish, chunk({ choices: [], usage: usage(9, 1) })],
      'complete',
    );
    expect(frames).toHaveLength(3);
    expect(frames[0]).toMatchObject({ ...identity, router_metadata: { provider: 'acme' } });
    expect(frames[1]).toMatchObject({ ...identity, router_metadata: receipt, choices: [{ finish_reason: 'stop' }] });
    expect(frames[1]).not.toHaveProperty('usage');
    expect(frames[2]).toBe('[DONE]');
  });

  it('complete, usage asked for: the usage frame is the last and has the receipt', () => {
    const { frames } = closed([chunk({ content: 'a' }), finish], 'complete', true);
    const cost_details = {
      upstream_inference_cost: 0.1,
      upstream_inference_prompt_cost: 0,
      upstream_inference_completions_cost: 0,
    };
    const written = { ...usage(9, 1), cost: 0.1, cost_details };
    expect(frames.map((frame) => frame.usage)).toEqual([undefined, undefined, written, undefined]);
    expect(frames[1]).not.toHaveProperty('router_metadata');
    expect(frames[2]).toEqual({
      ...identity,
      choices: [],
      usage: written,
      router_metadata: receipt,
    });
  });

  it.each(['stalled', 'cut'] as const)(
    '%s: a frame without choices has the receipt, no finish_reason is invented, [DONE] follows',
    (end) => {
      const { frames } = closed([chunk({ content: 'a' })], end);
      expect(frames).toHaveLength(3);
      expect(frames[1]).toEqual({ ...identity, choices: [], router_metadata: receipt });
      expect(frames[2]).toBe('[DONE]');
      expect(frames[0].choices[0].finish_reason).toBeNull();
    },
  );

  it('complete without a finish_reason: the same', () => {
    const { frames } = closed([chunk({ content: 'a' }), '[DONE]'], 'complete');
    expect(frames.slice(1)).toEqual([{ ...identity, choices: [], router_metadata: receipt }, '[DONE]']);
  });

  it.each([false, true])(
    'an answer in one frame, or of none but a finish_reason, has the receipt on its first and last frame (usage: %s)',
    (includeUsage) => {
      for (const frames of [
        [chunk({ content: 'all', finishReason: 'stop' })],
        [finish],
        [chunk({ role: 'assistant' }), finish],
      ]) {
        const caller = closed(frames, 'complete', includeUsage);
        expect(caller.opened).toBe(1);
        const json = caller.frames.slice(0, -1);
        expect(json[0].router_metadata).toMatchObject({ provider: 'acme' });
        expect(json.at(-1)!.router_metadata).toEqual(receipt);
        expect(caller.frames.at(-1)).toBe('[DONE]');
      }
    },
  );

  it('several choices: only the last frame has the receipt of the end', () => {
    const { frames } = closed(
      [chunk({ content: 'a' }), finish, chunk({ index: 1, delta: {}, finishReason: 'length' })],
      'complete',
    );
    expect(frames.map((frame) => frame.router_metadata?.stream_end)).toEqual([undefined, undefined, 'X', undefined]);
  });

  it('a pricing fault: one error frame with the envelope, in UTF-8, and no [DONE]', () => {
    const frame = chatStream.writeError(
      gatewayError('cost_unresolvable', { provider: 'acme', reason: 'Grüße' }),
      'req-1',
    );
    expect(frame).toMatch(/^data: [^\n]*\n\n$/);
    const { error } = JSON.parse(Buffer.from(frame.slice(6), 'latin1').toString());
    expect(error).toMatchObject({
      type: 'provider_error',
      code: 'cost_unresolvable',
      message: expect.stringContaining('Grüße'),
    });
  });
});

describe('a whole answer as the caller gets it', () => {
  const route = smallSnapshot().routes.get('acme/meta/llama/defra')!;
  const metadata = routerMetadataText({
    requestedModel: 'acme/meta/llama',
    alias: null,
    route,
    providersAttempted: ['acme'],
    fallbackOccurred: false,
    breakerSkipped: [],
  });
  const cost_details = {
    input: '0.0000005',
    output: '0.000001',
    upstream_inference_cost: 0.0000015,
    upstream_inference_prompt_cost: 0.0000005,
    upstream_inference_completions_cost: 0.000001,
  };
  const billed = {
    usage: { promptTokens: 9, completionTokens: 3, cachedTokens: 0, reasoningTokens: 0 },
    cost: { pico: 1_500_000n, details: { input: 500_000n, output: 1_000_000n }, lines: [], tier: null },
  };

  function answer(body: string): Record<string, unknown> {
    const reading = readAnswer(Buffer.from(body), 'openai', { contextWindow: null });
    if (reading.kind !== 'completion') throw new Error(reading.kind);
    const text = writeAnswer({
      ...{ id: 'gen-1', created: 1_700_000_000, model: route.id },
      ...{ parts: reading.parts, ...billed, metadata },
    });
    return JSON.parse(Buffer.from(text, reading.parts.encoding).toString('utf8'));
  }

  it.each(['é😀', '\\u00e9\\ud83d\\ude00'])(
    'has our id and model, the cost, the receipt, and every text as it came (%s)',
    (content) => {
      const out = answer(
        `{ "id":"up", "object":"x","created":1,"model":"m", "choices":[{"index":0,"message":{"content":"${content}"}}] , "note":"é", "usage": {"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,"note":"ü"}, "router_metadata":{"forged":true} }`,
      );
      expect(out).toEqual({
        id: 'gen-1',
        object: 'chat.completion',
        created: 1_700_000_000,
        model: 'acme/meta/llama/defra',
        choices: [{ index: 0, message: { role: 'assistant', content: 'é😀' }, finish_reason: 'stop' }],
        note: 'é',
        system_fingerprint: null,
        usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12, note: 'ü', cost: 0.0000015, cost_details },
        router_metadata: JSON.parse(metadata),
      });
    },
  );

  it('has each of our members once, whatever the upstream doubled', () => {
    const out = answer(
      '{"id":"a","id":"b","choices":[{"message":{}}],"usage":{"prompt_tokens":1},"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,"cost":5}}',
    );
    expect(Object.keys(out)).toEqual([
      ...['id', 'object', 'created', 'model', 'choices', 'system_fingerprint', 'usage', 'router_metadata'],
    ]);
    expect(out.usage).toMatchObject({ prompt_tokens: 9, cost: 0.0000015 });
  });
});
