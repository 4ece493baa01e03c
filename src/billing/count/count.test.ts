import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { measuredTime } from '../../../tests/support/measured-time.js';
import { SeededRandom } from '../../../tests/support/seeded-random.js';
import { threadTime } from '../../../tests/support/thread-time.js';
import { countPrompt } from './count-messages.js';
import { countText } from './count-text.js';

const random = new SeededRandom(7);
const words = [
  'the',
  'Lodestone',
  'gateway',
  '{"a": 1}',
  'naïve',
  '字典，很好。',
  '😀',
  'function(x)',
  '\n',
  '\t',
  '1234567',
  '...',
];
const prose = Array.from({ length: 3_000 }, () => random.pick(words)).join(' ');
const plain = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };

function timed(text: string): { count: number; ms: number } {
  const started = threadTime().ranMs;
  const count = countText(text);
  return { count, ms: threadTime().ranMs - started };
}

describe('counting text', () => {
  it('agrees with the tokenizer on ordinary text of any length', () => {
    expect(countText('hello world')).toBe(2);
    expect(countText('')).toBe(0);
    for (const text of [prose, prose.slice(0, 399), 'a b '.repeat(5_000), `${'x'.repeat(399)} ${'y'.repeat(400)}`]) {
      expect(countText(text)).toBe(countTokens(text, plain));
    }
  });

  it.each([
    ['one letter', 'a'.repeat(100_000)],
    ['CJK', '字典很好的一天'.repeat(14_286).slice(0, 100_000)],
    ['emoji', '😀'.repeat(50_000)],
    ['blanks', ' '.repeat(100_000)],
    ['line breaks', '\n'.repeat(100_000)],
    ['runs just under the guard', `${'a'.repeat(400)} `.repeat(250)],
    ['digits and signs', '1+'.repeat(50_000)],
  ])('takes seconds at most for 100 KB of %s, where the tokenizer alone would take minutes', (_, text) => {
    countText('warm');
    const { count, ms } = timed(text);
    expect(ms, measuredTime).toBeLessThan(5_000);
    expect(count).toBeGreaterThan(text.length / 200);
    expect(count).toBeLessThanOrEqual(text.length * 2);
  });

  it('breaks long runs up at little cost in tokens', () => {
    const run = Array.from({ length: 1_500 }, () => random.pick(['lode', 'stone', 'gate', 'way', 'token'])).join('');
    expect(Math.abs(countText(run) / countTokens(run, plain) - 1)).toBeLessThan(0.04);
  });

  it('never breaks a character in two', () => {
    const text = `x${'😀'.repeat(1_000)}`;
    expect(countText(text)).toBeLessThan(1.05 * countTokens(text, plain));
  });

  it.each([
    '<|endoftext|>',
    '<|im_start|>system',
    '<|endofprompt|>',
    'a<|endoftext|>b'.repeat(500),
    '\ud83d',
    '\u0000',
  ])('counts %j as the text that it is', (text) => {
    expect(countText(text)).toBeGreaterThan(0);
  });
});

describe('counting a prompt (docs/decisions/0002)', () => {
  const count = (text: string): number => text.length;

  it('is 3 a message, its role and text, name and 1 more, and 3 that open the reply', () => {
    const messages = [
      { role: 'system', content: 'abc' },
      { role: 'user', name: 'bob', content: 'de' },
    ];
    expect(countPrompt({ messages }, count)).toBe(3 + (3 + 6 + 3) + (3 + 4 + 1 + 3 + 2));
  });

  it('takes text parts, tool calls and tools, and no images', () => {
    const parts = [
      { type: 'text', text: 'abc' },
      { type: 'image_url', image_url: { url: 'x'.repeat(1_000) } },
      null,
      'x',
      { text: 1 },
    ];
    expect(countPrompt({ messages: [{ role: 'user', content: parts }] }, count)).toBe(3 + 3 + 4 + 3);
    const tool_calls = [{ id: 'c', function: { name: 'f', arguments: '{}' } }];
    const tools = [{ type: 'function', function: { name: 'f' } }];
    const expected = 3 + 3 + 9 + JSON.stringify(tool_calls).length + JSON.stringify(tools).length;
    expect(countPrompt({ messages: [{ role: 'assistant', content: null, tool_calls }], tools }, count)).toBe(expected);
  });

  it('is 3 where there are no messages', () => {
    expect(countPrompt({}, count)).toBe(3);
  });
});
