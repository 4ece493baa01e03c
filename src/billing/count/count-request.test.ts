import { describe, expect, it } from 'vitest';
import { countMembers, countRequestBytes } from './count-request.js';

const long = (part: string, characters = 150_000) => part.repeat(Math.ceil(characters / part.length));
const membersOf = (request: object) => JSON.stringify(request).slice(1, -1);
const bytesOf = (request: object) => Buffer.from(membersOf(request));
const user = (content: unknown) => ({ messages: [{ role: 'user', content }] });

const texts: [string, string][] = [
  ['words', long('The quick brown fox, 42 times. ')],
  ['code', long('if (a[0] === "x") {\n\treturn `\\d+`;\n}\n\n')],
  ['escapes', long('\n"\\/\t\u0001')],
  ['Chinese', long('今天天气很好，我们去公园吧。')],
  ['characters beyond 16 bits', long('😀 🏳️‍🌈x')],
  ['one run', long('x')],
  ['blanks', long('   \n')],
];

describe('a large prompt is counted as a small one is', () => {
  it.each(texts)('%s', (_, text) => {
    const request = user(text);
    expect(countRequestBytes(bytesOf(request))).toEqual(countMembers(membersOf(request), 'utf8'));
  });

  it('with escapes for all but ASCII, as some clients write them', () => {
    const text = membersOf(user(long('Größe 😀 ok, '))).replace(
      /[^ -~]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    expect(countRequestBytes(Buffer.from(text))).toEqual(countMembers(text, 'utf8'));
  });

  it('in names, parts, arguments of calls, tools, inputs and documents', () => {
    const text = long('Some "text" of 12 words,\n');
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: JSON.stringify({ text }) } };
    for (const request of [
      {
        messages: [
          {
            role: text,
            name: text,
            content: [
              { type: 'text', text },
              { type: 'image_url', image_url: { url: text } },
            ],
          },
        ],
      },
      {
        messages: [{ role: 'assistant', content: null, tool_calls: [call] }],
        tools: [{ type: 'function', description: text }],
      },
      { input: [text, 'short', text], unknown: text },
      { query: text, documents: ['a', text] },
    ]) {
      expect(countRequestBytes(bytesOf(request))).toEqual(countMembers(membersOf(request), 'utf8'));
    }
  });

  it('but for one with too many values to be read: the least of every prompt is billed', () => {
    const name = new Array(600_000).fill(0);
    const request = { messages: [{ role: 'user', content: 'Hi', name }] };
    expect(countRequestBytes(bytesOf(request))).toEqual({ promptTokens: 3, isEstimate: true });
  });

  it('but for one with too many short texts to be read: the least of every prompt is billed', () => {
    const content = Array.from({ length: 22_000 }, () => ({ type: 'text', text: 'x'.repeat(400) }));
    const request = { messages: [{ role: 'user', content }] };
    expect(countRequestBytes(bytesOf(request))).toEqual({ promptTokens: 3, isEstimate: true });
  });
});
