import { countTokens as reference } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../tests/support/seeded-random.js';
import { countTokens } from './byte-pairs.js';

const plain = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
const random = new SeededRandom(19);
const alphabets = [
  'abcdefghijklmnopqrstuvwxyz ',
  'aAbB\'sStT \n\r\t/.,1234567890{}[]()"\\-_=+*',
  'äéîøūßñçğşıİЖжщΩω ',
  'هو العربية עברית हिन्दी ไทย',
  '字典很好的一天，。「」日本語テスト한국어',
  '😀👩‍👩‍👧🏳️‍🌈✈️€𝒳\u0301\u200d\u00a0\u2028',
  '\ud800\udc00\udfff\ud83d\0\u0001\uffff\ufffd',
];
const specials = ['<|endoftext|>', '<|im_start|>', '<|endofprompt|>'];

function randomText(): string {
  const parts = Array.from({ length: 1 + random.below(8) }, () => {
    if (random.below(20) === 0) return random.pick(specials);
    const letters = [...random.pick(alphabets)];
    return Array.from({ length: random.below(40) }, () => random.pick(letters)).join('');
  });
  return parts.join('');
}

describe('counting tokens', () => {
  it('agrees with the tokenizer that it replaces on 1,000 texts in many scripts, broken and special ones too', () => {
    for (let round = 0; round < 1_000; round++) {
      const text = randomText();
      expect(countTokens(text), JSON.stringify(text)).toBe(reference(text, plain));
    }
  });

  it('counts a byte order mark as the one token that it is; the other tokenizer loses it where it decodes bytes', () => {
    expect([countTokens('\ufeff'), reference('\ufeff', plain)]).toEqual([1, 2]);
  });

  it('counts every token of the vocabulary that is a word by itself as one', () => {
    for (const token of [' hello', 'Lode', 'stone', '.', '\n\n', ' の', '😀', ' '.repeat(80)])
      expect(countTokens(token), token).toBe(reference(token, plain));
  });
});
