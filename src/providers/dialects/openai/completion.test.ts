import { describe, expect, it } from 'vitest';
import { completion } from '../../../../tests/support/openai-shapes.js';
import type { CompletionParts } from '../../../wire/completion-parts.js';
import { readAnswer } from '../../translation.js';

const terms = { contextWindow: 8_192 };
const read = (body: unknown) =>
  readAnswer(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), 'openai', terms);
const partsOf = (body: unknown): CompletionParts => {
  const reading = read(body);
  if (reading.kind !== 'completion') throw new Error(`not a completion: ${JSON.stringify(reading)}`);
  return reading.parts;
};
const deliveredOf = (body: unknown): string => JSON.parse(`"${Buffer.from(partsOf(body).delivered, 'latin1')}"`);
const membersOf = (body: unknown): Record<string, unknown> => {
  const { members, encoding } = partsOf(body);
  return JSON.parse(`{${Buffer.from(members, encoding)}}`);
};

describe('a whole completion', () => {
  it('is taken apart: what is ours is out, everything else is kept', () => {
    const body = completion({ extra: { service_tier: 'x', router_metadata: { a: 1 }, __proto__: 1, note: 'é😀' } });
    expect(partsOf(body)).toMatchObject({ usage: body.usage, answeredModel: 'upstream-model', finishReason: 'stop' });
    expect(membersOf(body)).toEqual({
      choices: body.choices,
      service_tier: 'x',
      note: 'é😀',
      system_fingerprint: null,
    });
  });

  it('keeps its texts, escaped or not', () => {
    for (const text of ['é😀"\\\n', '\\u00e9'.repeat(3)]) {
      const raw = JSON.stringify(completion({ content: 'PLACE' })).replace('PLACE', JSON.stringify(text).slice(1, -1));
      expect(membersOf(raw)).toMatchObject({
        choices: (completion({ content: text }) as { choices: unknown }).choices,
      });
    }
    expect(membersOf('{"choices":[{"message":{"content":"\\u5b57é"}}]}')).toMatchObject({
      choices: [{ message: { content: '字é' } }],
    });
  });

  it.each([
    '',
    'null',
    '[]',
    '""',
    '1',
    '<html>',
    '{',
    '{}',
    '{"choices":null}',
    '{"choices":[]}',
    '{"choices":{}}',
    '{"choices":[null]}',
    '{"choices":[{}]}',
    '{"choices":[{"index":0,"finish_reason":"stop"}]}',
    '{"choices":[{"message":null}]}',
    '{"choices":[{"message":"x"}]}',
    '{"choices":[{"message":[]}]}',
    JSON.stringify(completion({ content: 'PLACE' })).replace('PLACE', 'a raw\nline break'),
    JSON.stringify(completion({ content: 'PLACE' })).replace('PLACE', 'a raw\ttab'),
  ])('is malformed as %j', (body) => expect(read(body).kind).toBe('malformed'));

  it.each([
    { error: { message: 'x' } },
    { error: 'x' },
    { choices: [], error: { code: 429 } },
    { ...completion(), error: { message: 'late' } },
    completion({ finishReason: 'error' }),
    { choices: [{ index: 0, message: { content: 'x' }, finish_reason: 'stop', error: { code: 502 } }] },
  ])('is an error where it says so inside a 200: %j (wire pitfall 7)', (body) => expect(read(body).kind).toBe('error'));

  it('says in its error what the upstream meant, beyond ASCII too', () => {
    for (const body of ['{"error":{"message":"später 😀"}}', '{"error":{"message":"sp\\u00e4ter 😀"}}']) {
      expect(read(body)).toEqual({ kind: 'error', error: { error: { message: 'später 😀' } } });
    }
  });

  it('may have a null error and blank lines before it (wire pitfall 1)', () => {
    expect(read(`\n\n\r\n ${JSON.stringify({ ...completion(), error: null })}`).kind).toBe('completion');
  });

  it.each([
    [null],
    [undefined],
    [{}],
    [{ total_tokens: 3 }],
    [{ prompt_tokens: null, completion_tokens: null }],
    ['12'],
    [{ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
    [[]],
  ])('tells what was delivered where its usage (%j) cannot be billed, so that it is never free', (usage) => {
    const message = { reasoning_content: 'hm', tool_calls: [{ function: { name: 'f', arguments: '{}' } }] };
    expect(deliveredOf({ ...completion({ content: 'é"\n', message }), usage })).toBe('é"\nhmf{}');
  });

  it('tells of calls what the model wrote: no ids, of which the gateway makes some itself, and no signatures', () => {
    const calls = [
      { function: { name: 'f', arguments: { k: 1 } }, extra_content: { google: { thought_signature: 'c2ln' } } },
      { id: 'call_1', type: 'custom', custom: { name: 'g', input: 'x y' } },
    ];
    const message = { content: null, tool_calls: calls };
    expect(deliveredOf(completion({ message, usage: null }))).toBe('f{"k":1}gx y');
    const older = { content: null, function_call: { name: 'f', arguments: '{"k":1}' } };
    expect(deliveredOf(completion({ message: older, usage: null }))).toBe('f{"k":1}');
  });

  it('tells nothing where there is usage to bill by', () => {
    expect(partsOf(completion()).delivered).toBe('');
  });

  it.each(['{"role":"assistant" "content":"a"}', '{"role":"assistant","content":"a",}', '{"role":assistant}'])(
    'is malformed, and so never billed, where its inside is no JSON although its braces match: %s',
    (message) => {
      const usage = '{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}';
      const body = `{"choices":[{"index":0,"message":${message},"finish_reason":"stop"}],"usage":${usage}}`;
      expect(readAnswer(Buffer.from(body), 'openai', terms)).toMatchObject({ kind: 'malformed' });
    },
  );

  it.each([
    ['length', ''],
    ['content_filter', ''],
    ['MAX_TOKENS', ''],
    ['tool_calls', '{}'],
    ['stop', '{}'],
    [null, '{}'],
  ])('that ends with %s has %j as the arguments of its last call where it has none', (finish_reason, last) => {
    const call = (text: unknown) => ({ id: 'c', type: 'function', function: { name: 'f', arguments: text } });
    const textsOf = (...given: unknown[]) => {
      const message = { role: 'assistant', content: null, tool_calls: given.map(call) };
      const { members } = partsOf({ choices: [{ index: 0, message, finish_reason }] });
      const { choices } = JSON.parse(`{${members}}`) as {
        choices: { message: { tool_calls: { function: { arguments: string } }[] } }[];
      };
      return choices[0]!.message.tool_calls.map((each) => each.function.arguments);
    };
    for (const none of ['', null, undefined]) expect(textsOf(none, none)).toEqual(['{}', last]);
    expect(textsOf('{"k":')).toEqual(['{"k":']);
  });

  it('gets OpenAI\u2019s values and shapes where a server has its own', () => {
    const call = (text: unknown) => ({ id: 'c', type: 'function', function: { name: 'f', arguments: text } });
    const message = { role: 'assistant', content: 'é', tool_calls: [call({ k: 'é' }), call('{}')] };
    const parts = partsOf({ choices: [{ index: 0, message, finish_reason: 'eos' }], extra: 1 });
    const sent = JSON.parse(Buffer.from(`{${parts.members}}`, parts.encoding).toString('utf8'));
    const tool_calls = [call('{"k":"é"}'), call('{}')];
    expect(sent).toEqual({
      choices: [{ index: 0, message: { ...message, tool_calls }, finish_reason: 'stop' }],
      extra: 1,
      system_fingerprint: null,
    });
    expect(parts.finishReason).toBe('stop');
  });

  it('has a finish reason where the upstream gave none, because it is whole', () => {
    for (const finish_reason of [undefined, null, '', 'null', 3]) {
      expect(partsOf({ choices: [{ message: {}, finish_reason }] }).finishReason).toBe('stop');
      const message = { tool_calls: [{ function: { name: 'f' } }] };
      expect(partsOf({ choices: [{ message, finish_reason }] }).finishReason).toBe('tool_calls');
    }
  });

  it('keeps a system_fingerprint that the upstream gave, and an empty error is none', () => {
    const body = completion({ extra: { system_fingerprint: 'fp_1', error: {} } });
    expect(membersOf(body)).toEqual({ choices: body.choices, system_fingerprint: 'fp_1' });
  });

  it.each([
    ['a choice that a content filter emptied', { finish_reason: 'content_filter' }, null, 'content_filter'],
    ['a delta in the place of the message', { delta: { content: 'a' }, finish_reason: 'stop' }, 'a', 'stop'],
    ['the text of an older model', { text: 'a', finish_reason: null }, 'a', 'stop'],
  ])('reads %s', (_, choice, content, finish_reason) => {
    expect(membersOf({ choices: [choice] })).toMatchObject({
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason }],
    });
  });

  it.each([
    ['a number', 4, '4'],
    ['an object that is the answer', { a: [1] }, '{"a":[1]}'],
    ['one part', { type: 'text', text: 'a' }, 'a'],
    ['no parts', [], ''],
    [
      'parts of several kinds',
      [{ type: 'image_url' }, 'a', { text: 'b' }, null, { type: 'output_text', text: 'c' }],
      'abc',
    ],
  ])('reads content that is %s', (_, content, text) => {
    expect(membersOf({ choices: [{ message: { content } }] })).toMatchObject({
      choices: [{ message: { content: text } }],
    });
  });

  it('reads a refusal and reasoning from parts of the content', () => {
    const content = [
      { type: 'thinking', thinking: 'hm' },
      { type: 'refusal', refusal: 'no' },
    ];
    const message = { content: '', refusal: 'no', reasoning: 'hm', reasoning_content: 'hm' };
    expect(membersOf({ choices: [{ message: { content } }] })).toMatchObject({ choices: [{ message }] });
  });
});
