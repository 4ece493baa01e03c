import { describe, expect, it } from 'vitest';
import { asLatin1 } from '../../../base/latin1.js';
import { ContentStream } from './stream.js';

const latin1 = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

function translate(events: (object | string)[], isOver = false): string[] {
  const stream = new ContentStream();
  const chunks: string[] = [];
  const emit = (chunk: string) => void chunks.push(Buffer.from(chunk, 'latin1').toString('utf8'));
  for (const event of events)
    stream.onEvent(asLatin1(latin1(typeof event === 'string' ? event : JSON.stringify(event))), '', emit);
  if (isOver) stream.onOver(emit);
  return chunks;
}

const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 };
const event = (candidate: object, more: object = {}) => ({
  candidates: [{ index: 0, ...candidate }],
  usageMetadata,
  ...more,
});
const says = (...parts: object[]) => event({ content: { parts, role: 'model' } });
const choicesOf = (events: (object | string)[]) =>
  translate(events).map((chunk) => JSON.parse(chunk).choices?.[0] as Record<string, unknown>);
/** As Google writes it: a blank after each colon. */
const spaced = (value: object) => JSON.stringify(value, null, 1).replace(/\n\s*/g, '');

describe('a stream of Gemini', () => {
  it('has each piece of text as it came, in one shape, whatever figures stand beside it', () => {
    const texts = ['one', 'zwei é', '"quoted" \\ \n', '\u2028字 😀', '}],"role":"model"', ''];
    for (const write of [spaced, (value: object) => JSON.stringify(value)]) {
      const events = texts.map((text, at) =>
        write({ ...says({ text }), usageMetadata: { promptTokenCount: 5, candidatesTokenCount: at * 99 } }),
      );
      const chunks = translate(events).slice(1);
      expect(chunks.map((chunk) => JSON.parse(chunk).choices[0].delta.content)).toEqual(texts.slice(0, -1));
      expect(new Set(chunks.map((chunk, at) => chunk.replace(JSON.stringify(texts[at]), ''))).size).toBe(1);
    }
  });

  it('has text with escapes as it came', () => {
    const escaped = spaced(says({ text: 'X' }));
    const events = ['a', '\\u003cb\\u003e', '\\ud83d\\ude00'].map((inside) => escaped.replace('X', () => inside));
    expect(choicesOf(events).map((choice) => (choice.delta as { content: string }).content)).toEqual([
      '',
      'a',
      '<b>',
      '😀',
    ]);
  });

  it.each<[string, object]>([
    ['a finish', event({ content: { parts: [{ text: 'x' }], role: 'model' }, finishReason: 'STOP' })],
    ['a thought', says({ text: 'x', thought: true })],
    ['another candidate', event({ content: { parts: [{ text: 'x' }], role: 'model' }, index: 1 })],
    ['a second part', says({ text: 'x' }, { text: 'y' })],
    ['an unknown member', { ...says({ text: 'x' }), error: { message: 'busy' } }],
  ])('takes %s for no plain text, though it has seen plain text', (_, odd) => {
    const plain = [says({ text: 'a' }), says({ text: 'b' })];
    const after = translate([...plain, odd])
      .slice(translate(plain).length)
      .filter((chunk) => !chunk.includes('"choices":[]'));
    expect(after).toEqual(translate([odd]).slice(-after.length));
    expect(after).not.toEqual([]);
  });

  it('sends a whole call in one delta, and tool_calls for STOP', () => {
    const choices = choicesOf([
      says({ functionCall: { id: 'a', name: 'f', args: { city: 'Köln' } }, thoughtSignature: 's' }),
      says({ functionCall: { name: 'g' } }),
      event({ finishReason: 'STOP' }),
    ]);
    expect(choices.map(({ delta }) => delta)).toEqual([
      { role: 'assistant', content: '' },
      {
        tool_calls: [
          {
            index: 0,
            id: 'a',
            type: 'function',
            function: { name: 'f', arguments: '{"city":"Köln"}' },
            extra_content: { google: { thought_signature: 's' } },
          },
        ],
      },
      {
        tool_calls: [
          {
            index: 1,
            id: expect.stringMatching(/^call_/),
            type: 'function',
            function: { name: 'g', arguments: '' },
          },
        ],
      },
      {},
    ]);
    expect(choices.at(-1)!.finish_reason).toBe('tool_calls');
  });

  it.each([
    ['a call', { functionCall: { name: 'h', args: { a: 1 } } }],
    ['text', { text: 'b' }],
  ])('has {} for a call without arguments when %s follows it', (_, part) => {
    const deltas = choicesOf([says({ text: 'a' }), says({ functionCall: { name: 'g' } }), says(part)]).map(
      ({ delta }) => delta,
    );
    expect(deltas.at(-2)).toEqual({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] });
  });

  it('keeps several candidates apart (n)', () => {
    const both = (first: object, second: object) => ({
      candidates: [
        { index: 0, ...first },
        { index: 1, ...second },
      ],
      usageMetadata,
    });
    const text = (value: string) => ({ content: { parts: [{ text: value }] } });
    const choices = choicesOf([
      both(text('a'), text('b')),
      both({ finishReason: 'STOP' }, text('c')),
      event({ index: 1, finishReason: 'MAX_TOKENS' }),
    ]);
    expect(
      choices.map(({ index, delta, finish_reason }) => [index, (delta as { content?: string }).content, finish_reason]),
    ).toEqual([
      [0, '', null],
      [0, 'a', null],
      [1, '', null],
      [1, 'b', null],
      [0, undefined, 'stop'],
      [1, 'c', null],
      [1, undefined, 'length'],
    ]);
  });

  it('has logprobs beside the text that they belong to', () => {
    const logprobsResult = { chosenCandidates: [{ token: 'é', logProbability: -1 }] };
    const [, choice] = choicesOf([event({ content: { parts: [{ text: 'é' }] }, logprobsResult })]);
    expect(choice).toMatchObject({
      delta: { content: 'é' },
      logprobs: { content: [{ token: 'é', logprob: -1, bytes: [0xc3, 0xa9], top_logprobs: [] }] },
    });
  });

  it('tells its usage with the finish, and once more where a later one comes', () => {
    const [, finish] = translate([event({ finishReason: 'STOP' }, { modelVersion: 'm' })]);
    expect(JSON.parse(finish!).usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 2 });
    const later = translate(
      [event({ finishReason: 'STOP' }), { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3 } }],
      true,
    );
    expect(JSON.parse(later.at(-1)!)).toMatchObject({ choices: [], usage: { completion_tokens: 3 } });
  });

  it('tells the usage that came with the text before its end, however that came', () => {
    const counted = (candidatesTokenCount: number) => ({
      ...says({ text: 'a' }),
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount },
    });
    const events = [1, 2, 3].map(counted);
    const error = '{"error":{"code":503,"message":"overloaded"}}';
    const usages = translate(events, true).map((chunk) => JSON.parse(chunk).usage?.completion_tokens);
    expect(usages).toEqual([1, undefined, undefined, undefined, 3]);
    const failed = translate([...events, error]);
    expect(failed.at(-1)).toBe(error);
    expect(JSON.parse(failed.at(-2)!).usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 3 });
  });

  it('has the last figures where the finish has none, whether their event was spliced or parsed', () => {
    const counted = (candidatesTokenCount: number) => ({
      ...says({ text: 'a' }),
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount },
    });
    const finish = event({ finishReason: 'STOP' }, { usageMetadata: undefined });
    const events = [1, 2, 3].map(counted);
    const usagesOf = (all: object[]) => translate(all).flatMap((chunk) => JSON.parse(chunk).usage ?? []);
    expect(usagesOf([...events, finish]).slice(1)).toMatchObject([{ prompt_tokens: 5, completion_tokens: 3 }]);
    expect(usagesOf([...events, event({ finishReason: 'STOP' })]).slice(1)).toMatchObject([{ completion_tokens: 2 }]);
  });

  it('says which model answered', () => {
    expect(JSON.parse(translate([{ ...says({ text: 'a' }), modelVersion: 'gemini-x' }])[0]!).model).toBe('gemini-x');
  });

  it.each([
    '{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}',
    '{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":1}}',
    '{"candidates":[',
    '7',
  ])('hands over %s for the relay to judge', (data) => expect(translate([data])).toEqual([data]));

  it('with only a broken call is an error; after text it ends normally', () => {
    const broken = event({ finishReason: 'MALFORMED_FUNCTION_CALL' });
    expect(JSON.parse(translate([broken]).at(-1)!).error.message).toContain('MALFORMED_FUNCTION_CALL');
    expect(choicesOf([says({ text: 'a' }), broken]).at(-1)!.finish_reason).toBe('stop');
  });
});
