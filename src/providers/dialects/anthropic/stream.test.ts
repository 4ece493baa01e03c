import { describe, expect, it } from 'vitest';
import { asLatin1 } from '../../../base/latin1.js';
import { MessageStream } from './stream.js';

type Event = { type: string; [member: string]: unknown };

/** Objects are events; text is data as it stands. Latin1 goes in and comes out, as on the wire. */
function translate(events: readonly (Event | string)[], event = ''): string[] {
  const stream = new MessageStream();
  const chunks: string[] = [];
  const emit = (chunk: string) => void chunks.push(Buffer.from(chunk, 'latin1').toString('utf8'));
  for (const each of events) {
    const data = typeof each === 'string' ? each : JSON.stringify(each);
    stream.onEvent(asLatin1(Buffer.from(data).toString('latin1')), event, emit);
  }
  stream.onEnd(emit);
  return chunks;
}

const deltasOf = (events: readonly (Event | string)[]): unknown[] =>
  translate(events).flatMap((chunk) => {
    const { choices } = JSON.parse(chunk) as { choices: { delta: unknown }[] };
    return choices.map(({ delta }) => delta);
  });

const open = (content_block: object, index = 0) => ({ type: 'content_block_start', index, content_block });
const delta = (value: object, index = 0) => ({ type: 'content_block_delta', index, delta: value });
const close = (index = 0) => ({ type: 'content_block_stop', index });
const text = (value: string) => delta({ type: 'text_delta', text: value });
const opened = open({ type: 'text', text: '' });
const finish = (usage: object, stop_reason: string | null = 'end_turn') => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  usage,
});
const begin = (usage: object) => ({ type: 'message_start', message: { model: 'claude-x', usage } });

describe('a stream of Anthropic', () => {
  it('keeps no more thinking than a stream may hold: too much of it is delivered, but not given once more', () => {
    const piece = 'hm, '.repeat(1_000);
    const thinking = (count: number) => [
      open({ type: 'thinking', thinking: '' }),
      ...Array.from({ length: count }, () => delta({ type: 'thinking_delta', thinking: piece })),
      delta({ type: 'signature_delta', signature: 'signed' }),
      close(),
    ];
    const whole = { type: 'reasoning.text', text: piece.repeat(20), signature: 'signed' };
    expect(deltasOf(thinking(20)).at(-1)).toMatchObject({ reasoning_details: [whole] });
    const long = deltasOf(thinking(50));
    expect(long).toEqual(Array.from({ length: 50 }, () => ({ reasoning_content: piece })));
  });

  it('keeps no more of a signature either, and gives no block without the whole of it', () => {
    const signed = (count: number) => [
      open({ type: 'thinking', thinking: '' }),
      delta({ type: 'thinking_delta', thinking: 'hm' }),
      ...Array.from({ length: count }, () => delta({ type: 'signature_delta', signature: 's'.repeat(4_000) })),
      close(),
    ];
    expect(deltasOf(signed(20))).toHaveLength(2);
    expect(deltasOf(signed(50))).toEqual([{ reasoning_content: 'hm' }]);
  });

  it('has content in one shape, whether it was spliced or parsed', () => {
    const raw = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":';
    const chunks = translate([
      opened,
      `${raw}"a"}}`,
      `${raw}"a"}     }`,
      `${raw}"a"} } `,
      `${raw}"a","citations":null}}`,
      `${raw}"\\u0061"}}`,
      '{"index":0,"type":"content_block_delta","delta":{"text":"a","type":"text_delta"}}',
    ]);
    const parsed = chunks.map((chunk) => JSON.parse(chunk));
    expect(new Set(parsed.map((chunk) => JSON.stringify(chunk)))).toEqual(
      new Set([
        '{"id":"","object":"chat.completion.chunk","created":0,"model":"","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}',
      ]),
    );
    expect(chunks).toHaveLength(6);
  });

  it('cannot be made to say more than text by a text that ends early', () => {
    const raw = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"},"x":{"y":"b"}}';
    expect(deltasOf([opened, raw])).toEqual([{ content: 'a' }]);
    const unescaped = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\nb"}}';
    expect(translate([opened, unescaped])).toEqual([unescaped]);
  });

  it('keeps every character, escaped or not', () => {
    for (const value of ['é字😀', '"\\\n\t\u2028', 'a\u0001b']) {
      const escaped = JSON.stringify(text(value)).replace(
        /[\u0080-\uffff]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
      expect(deltasOf([opened, text(value), escaped])).toEqual([{ content: value }, { content: value }]);
    }
  });

  it('numbers tool calls separately from blocks, and writes {} for no arguments', () => {
    const events = [
      opened,
      text('x'),
      close(),
      open({ type: 'tool_use', id: 'a', name: 'f', input: {} }, 1),
      delta({ type: 'input_json_delta', partial_json: '' }, 1),
      delta({ type: 'input_json_delta', partial_json: '{"k":"é' }, 1),
      delta({ type: 'input_json_delta', partial_json: '"}' }, 1),
      close(1),
      open({ type: 'tool_use', id: 'b', name: 'g', input: {} }, 2),
      close(2),
      open({ type: 'tool_use', id: 'c', name: 'h', input: { whole: 'é"' } }, 3),
      close(3),
    ];
    const call = (index: number, id: string, name: string) => ({
      tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
    });
    const more = (index: number, piece: string) => ({ tool_calls: [{ index, function: { arguments: piece } }] });
    expect(deltasOf(events)).toEqual([
      { content: 'x' },
      call(0, 'a', 'f'),
      more(0, '{"k":"é'),
      more(0, '"}'),
      call(1, 'b', 'g'),
      more(1, '{}'),
      call(2, 'c', 'h'),
      more(2, '{"whole":"é\\""}'),
    ]);
  });

  it('keeps blocks apart that are open together', () => {
    const tool = (id: string, index: number) => open({ type: 'tool_use', id, name: 'f', input: {} }, index);
    const piece = (partial_json: string, index: number) => delta({ type: 'input_json_delta', partial_json }, index);
    const events = [tool('a', 0), tool('b', 1), piece('{"a', 0), piece('{"b', 1), piece('":1}', 0), close(0)];
    const calls = deltasOf([...events, piece('":2}', 1), close(1)]) as {
      tool_calls: { index: number; function: { arguments: string } }[];
    }[];
    const argumentsOf = (wanted: number) =>
      calls
        .flatMap(({ tool_calls }) => tool_calls.filter(({ index }) => index === wanted))
        .map((c) => c.function.arguments);
    expect([argumentsOf(0).join(''), argumentsOf(1).join('')]).toEqual(['{"a":1}', '{"b":2}']);
    expect(calls).toHaveLength(6);
  });

  it('has reasoning as it comes, and each block of it once more, whole, with its signature', () => {
    const events = [
      open({ type: 'thinking', thinking: '', signature: '' }),
      delta({ type: 'thinking_delta', thinking: 'h"m' }),
      delta({ type: 'thinking_delta', thinking: ' é' }),
      delta({ type: 'signature_delta', signature: 'si' }),
      delta({ type: 'signature_delta', signature: 'g' }),
      close(),
      open({ type: 'redacted_thinking', data: 'xyz' }, 1),
      close(1),
    ];
    const format = 'anthropic-claude-v1';
    expect(deltasOf(events)).toEqual([
      { reasoning_content: 'h"m' },
      { reasoning_content: ' é' },
      { reasoning_details: [{ type: 'reasoning.text', text: 'h"m é', signature: 'sig', format, index: 0 }] },
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'xyz', format, index: 1 }] },
    ]);
  });

  it('uses the last cumulative figure, and null does not replace one', () => {
    const chunks = translate([
      begin({ input_tokens: 5, cache_read_input_tokens: 3, output_tokens: 1 }),
      finish({ output_tokens: 7 }, null),
      finish({ output_tokens: 9, input_tokens: 6, cache_read_input_tokens: null }),
      { type: 'message_stop' },
    ]);
    expect(chunks.at(-1)).toBe('[DONE]');
    expect(JSON.parse(chunks.at(-2)!)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 9, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 3 } },
    });
    expect(chunks.filter((chunk) => chunk.includes('"finish_reason":"stop"'))).toHaveLength(1);
  });

  it('passes usage on as it comes, because the stream may end at any event', () => {
    const usagesOf = (events: Event[]) => translate(events).flatMap((chunk) => JSON.parse(chunk).usage ?? []);
    const first = begin({ input_tokens: 5, output_tokens: 1 });
    expect(usagesOf([first])).toMatchObject([{ prompt_tokens: 5, completion_tokens: 1 }]);
    const chunks = translate([first, opened, text('a'), finish({ output_tokens: 2 })]);
    expect(JSON.parse(chunks.at(-1)!)).toMatchObject({ choices: [], usage: { completion_tokens: 2 } });
    expect(JSON.parse(chunks.at(-2)!).choices[0].finish_reason).toBe('stop');
    expect(usagesOf([first, opened, text('a')])).toHaveLength(1);
  });

  it('says which model answered', () => {
    expect(JSON.parse(translate([begin({})])[0]!)).toMatchObject({
      model: 'claude-x',
      choices: [{ delta: { role: 'assistant', content: '' } }],
    });
  });

  it.each([
    '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    '{"error":{"message":"busy"}}',
    '{"choices":[',
    '[DONE]',
  ])('hands over %s for the relay to judge', (data) => expect(translate([data])).toEqual([data]));

  it('hands over whatever comes as an error event', () => {
    expect(translate(['{"message":"busy"}'], 'error')).toEqual(['{"message":"busy"}']);
  });

  it.each(['{"type":"ping"}', '{"type":"invented_later","delta":{}}', '{"type":"content_block_delta"}'])(
    'ignores %s',
    (data) => expect(translate([data])).toEqual([]),
  );
});
