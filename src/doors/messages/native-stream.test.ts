import { describe, expect, it } from 'vitest';
import { asLatin1 } from '../../base/latin1.js';
import type { ChunkIdentity } from '../../wire/chunk.js';
import type { StreamEnding } from '../door.js';
import { NativeMessageStream } from './native-stream.js';

const as = { id: 'gen-1', created: 7, model: 'a/b/c/global' } as unknown as ChunkIdentity;
const usage = { promptTokens: 5, completionTokens: 2, cachedTokens: 0, reasoningTokens: 0 };
const cost = { pico: 3n, details: { input: 1n, output: 2n }, lines: [], tier: null };
const ending = (end: StreamEnding['end']): StreamEnding => ({
  ...{ end, finishFrames: [], usage: { given: null, usage, cost } },
  ...{ metadata: '{"stream_end":"x"}', firstMetadata: '{"provider":"a"}' },
});
const message = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [] },
  ...{ stop_reason: 'tool_use', stop_sequence: null, usage: { input_tokens: 5, output_tokens: 2 } },
};
const start = asLatin1(JSON.stringify({ type: 'message_start', message }));
const eventsIn = (text: string) =>
  text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice('data: '.length))] : []));

describe('a message that is complete in its first event', () => {
  it('gets no other event than the provider sent, and the bill in the first one', () => {
    const stream = new NativeMessageStream();
    stream.takeEvent(start, 'message_start');
    stream.takeEvent(asLatin1('{"type":"message_stop"}'), 'message_stop');
    const [first, last, ...more] = eventsIn(stream.writeEnd(ending('complete'), as));
    expect(more).toEqual([]);
    const { cost: billed, ...given } = first.message.usage;
    delete given.cost_details;
    expect(given).toEqual(message.usage);
    expect(billed).toBe(3e-12);
    expect(first.message.stop_reason).toBe('tool_use');
    expect(last.type).toBe('message_stop');
  });

  it('keeps its reason where text came besides, and has none where it was cut', () => {
    for (const [end, reason] of [
      ['complete', 'tool_use'],
      ['cut', null],
    ] as const) {
      const stream = new NativeMessageStream();
      stream.takeEvent(start, 'message_start');
      stream.writeFrame({} as never, as, '{}');
      const [delta, last] = eventsIn(stream.writeEnd(ending(end), as));
      expect(delta.delta).toEqual({ stop_reason: reason, stop_sequence: null });
      expect(last.type).toBe('message_stop');
    }
  });
});

it('a message that is a text, and no object, does not become one of its characters', () => {
  const stream = new NativeMessageStream();
  stream.takeEvent(asLatin1('{"type":"message_start","message":"abc"}'), 'message_start');
  const [first] = eventsIn(stream.writeFrame({} as never, as, '{}'));
  expect(first.message).toEqual({ model: 'a/b/c/global', router_metadata: {} });
});

it('of last events without end only the last ones are kept', () => {
  const stream = new NativeMessageStream();
  const delta = (tokens: number) => `{"type":"message_delta","delta":{},"usage":{"output_tokens":${tokens}}}`;
  for (let tokens = 0; tokens < 1_000; tokens++) stream.takeEvent(asLatin1(delta(tokens)), 'message_delta');
  stream.takeEvent(asLatin1('{"type":"message_stop"}'), 'message_stop');
  const events = eventsIn(stream.writeEnd(ending('complete'), as));
  expect(events.map(({ usage: given }) => given?.output_tokens)).toEqual([997, 998, 999, undefined]);
});

it('of deltas without content, which come for ever, only the first are kept', () => {
  const stream = new NativeMessageStream();
  stream.takeEvent(start, 'message_start');
  const delta = {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'signature_delta', signature: 's'.repeat(4_000) },
  };
  for (let i = 0; i < 1_000; i++) stream.takeEvent(asLatin1(JSON.stringify(delta)), '');
  expect(stream.writeFrame({} as never, as, '{}').length).toBeLessThan(300_000);
});
