import { describe, expect, it } from 'vitest';
import { asLatin1 } from '../../../base/latin1.js';
import { ConverseStream } from './stream.js';

type Event = [type: string, payload: object | string];
const latin1 = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

function translate(events: Event[]): string[] {
  const stream = new ConverseStream();
  const chunks: string[] = [];
  const emit = (chunk: string) => void chunks.push(Buffer.from(chunk, 'latin1').toString('utf8'));
  for (const [type, payload] of events) {
    stream.onEvent(asLatin1(latin1(typeof payload === 'string' ? payload : JSON.stringify(payload))), type, emit);
  }
  stream.onEnd();
  return chunks;
}

const deltasOf = (events: Event[]) => translate(events).map((chunk) => JSON.parse(chunk).choices[0].delta);
const delta = (of: object, contentBlockIndex = 0): Event => ['contentBlockDelta', { contentBlockIndex, delta: of }];
const padded = (of: object, p: string): Event => ['contentBlockDelta', { contentBlockIndex: 0, delta: of, p }];
const start = (toolUse: object, contentBlockIndex = 0): Event => [
  'contentBlockStart',
  { contentBlockIndex, start: { toolUse } },
];
const stop = (contentBlockIndex = 0): Event => ['contentBlockStop', { contentBlockIndex }];

describe('a stream of Bedrock', () => {
  it('keeps no more reasoning than a stream may hold: too much of it is delivered, but not given once more', () => {
    const text = 'hm, '.repeat(1_000);
    const reasoning = (count: number): Event[] => [
      ...Array.from({ length: count }, () => delta({ reasoningContent: { text } })),
      delta({ reasoningContent: { signature: 'signed' } }),
      stop(),
    ];
    const whole = { type: 'reasoning.text', text: text.repeat(20), signature: 'signed' };
    expect(deltasOf(reasoning(20)).at(-1)).toMatchObject({ reasoning_details: [whole] });
    expect(deltasOf(reasoning(50))).toEqual(Array.from({ length: 50 }, () => ({ reasoning_content: text })));
  });

  it('keeps no more of a signature either, and gives no block without the whole of it', () => {
    const signature = 's'.repeat(4_000);
    const signed = (count: number): Event[] => [
      delta({ reasoningContent: { text: 'hm' } }),
      ...Array.from({ length: count }, () => delta({ reasoningContent: { signature } })),
      stop(),
    ];
    expect(deltasOf(signed(20))).toHaveLength(2);
    expect(deltasOf(signed(50))).toEqual([{ reasoning_content: 'hm' }]);
  });

  it('passes each piece of text on unchanged, padded or not, without a start event', () => {
    const texts = ['one', 'zwei é', '"},"p":"x"}', '\\', '\n字 😀', 'x"}', '"},"p":"'];
    const events = texts.flatMap((text, at): Event[] => [delta({ text }), padded({ text }, 'abc'.repeat(at))]);
    const chunks = translate(events);
    const expected = texts.flatMap((text) => [text, text]);
    expect(chunks.map((chunk) => JSON.parse(chunk).choices[0].delta)).toEqual(expected.map((content) => ({ content })));
    expect(new Set(chunks.map((chunk, at) => chunk.replace(JSON.stringify(expected[at]), ''))).size).toBe(1);
  });

  it.each([
    '{"contentBlockIndex":0,"delta":{"text":"a"},"p":"b","more":1}',
    '{"contentBlockIndex":0,"delta":{"text":"a"},"more":1}',
    '{ "contentBlockIndex" : 0 , "delta" : { "text" : "a" } }',
    '{"delta":{"text":"a"},"contentBlockIndex":0}',
  ])('reads %s too', (payload) => {
    expect(deltasOf([delta({ text: 'x' }), ['contentBlockDelta', payload]])).toEqual([
      { content: 'x' },
      { content: 'a' },
    ]);
  });

  it('counts tools by themselves, gives them the caller\u2019s names, and has {} for no arguments when something follows', () => {
    const call = (index: number, id: string, name: string) => ({
      tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
    });
    const more = (index: number, piece: string) => ({ tool_calls: [{ index, function: { arguments: piece } }] });
    expect(
      deltasOf([
        delta({ text: 'x' }),
        stop(),
        start({ toolUseId: 'a', name: 'k_xc3_xb6ln' }, 1),
        delta({ toolUse: { input: '' } }, 1),
        delta({ toolUse: { input: '{"k":"é' } }, 1),
        delta({ toolUse: { input: '"}' } }, 1),
        stop(1),
        start({ toolUseId: 'b', name: 'g' }, 2),
        stop(2),
        start({ toolUseId: 'c', name: 'h' }, 3),
        stop(3),
      ]),
    ).toEqual([
      { content: 'x' },
      call(0, 'a', 'köln'),
      more(0, '{"k":"é'),
      more(0, '"}'),
      call(1, 'b', 'g'),
      more(1, '{}'),
      call(2, 'c', 'h'),
    ]);
  });

  it('keeps blocks apart that are open together', () => {
    const piece = (input: string, index: number) => delta({ toolUse: { input } }, index);
    const both = [start({ toolUseId: 'a', name: 'f' }, 1), start({ toolUseId: 'b', name: 'g' }, 2)];
    const events = [...both, piece('{"a', 1), piece('{"b', 2), piece('":1}', 1), stop(1), piece('":2}', 2), stop(2)];
    const calls = deltasOf(events).flatMap(({ tool_calls }) => tool_calls);
    const argumentsOf = (wanted: number) =>
      calls.filter(({ index }) => index === wanted).map((call) => call.function.arguments);
    expect([argumentsOf(0).join(''), argumentsOf(1).join('')]).toEqual(['{"a":1}', '{"b":2}']);
    expect(calls).toHaveLength(6);
  });

  it('has reasoning as it comes, and once more, whole, where it has a signature', () => {
    expect(
      deltasOf([
        delta({ reasoningContent: { text: 'h"m' } }),
        delta({ reasoningContent: { text: ' é' } }),
        delta({ reasoningContent: { signature: 'si' } }),
        delta({ reasoningContent: { signature: 'g' } }),
        stop(),
        delta({ reasoningContent: { redactedContent: 'QQ==' } }, 1),
        stop(1),
        delta({ reasoningContent: { text: 'open' } }, 2),
        stop(2),
      ]),
    ).toEqual([
      { reasoning_content: 'h"m' },
      { reasoning_content: ' é' },
      {
        reasoning_details: [
          { type: 'reasoning.text', text: 'h"m é', signature: 'sig', format: 'anthropic-claude-v1', index: 0 },
        ],
      },
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'QQ==', format: 'bedrock-converse-v1', index: 1 }] },
      { reasoning_content: 'open' },
    ]);
  });

  it('ends with the stop reason and the usage that follows it', () => {
    const chunks = translate([
      ['messageStart', { role: 'assistant' }],
      ['messageStop', { stopReason: 'max_tokens' }],
      ['metadata', { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 }, metrics: {} }],
    ]);
    expect(JSON.parse(chunks[0]!).choices[0].delta).toEqual({ role: 'assistant', content: '' });
    expect(JSON.parse(chunks[1]!).choices[0].finish_reason).toBe('length');
    expect(JSON.parse(chunks[2]!)).toMatchObject({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } });
    expect(chunks.slice(3)).toEqual(['[DONE]']);
  });

  it.each<Event>([
    ['exception', '{"error":{"__type":"throttlingException","message":"slow"}}'],
    ['contentBlockDelta', '{"delta":'],
    ['', '7'],
  ])('hands over %s %s for the relay to judge', (type, payload) => {
    expect(translate([[type, payload]])).toEqual([payload]);
  });

  it.each([
    '{"contentBlockIndex":0,"delta":{"text":"a"},"p":"b","more":}',
    '{"contentBlockIndex":0,"delta":{"text":"a',
    '{"contentBlockIndex":0,"delta":{"text":"a\\"}}',
  ])('takes %s for no delta, though it begins like one', (payload) => {
    expect(translate([delta({ text: 'x' }), ['contentBlockDelta', payload]]).slice(1)).toEqual([payload]);
  });

  it.each<Event>([
    ['inventedLater', { delta: { text: 'a' } }],
    ['contentBlockStart', { contentBlockIndex: 0, start: {} }],
    ['contentBlockDelta', { contentBlockIndex: 0 }],
    ['contentBlockStop', { contentBlockIndex: 0 }],
    ['contentBlockDelta', { contentBlockIndex: 0, delta: { citation: {} } }],
  ])('ignores %s %j', (...event) => expect(translate([event])).toEqual([]));

  it('that is nothing but broken output is an error; after text it just ends', () => {
    const broken: Event = ['messageStop', { stopReason: 'malformed_tool_use' }];
    expect(JSON.parse(translate([broken])[0]!).error.message).toContain('malformed_tool_use');
    expect(JSON.parse(translate([delta({ text: 'a' }), broken])[1]!).choices[0].finish_reason).toBe('stop');
  });
});
