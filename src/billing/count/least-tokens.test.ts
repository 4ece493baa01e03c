import { readFileSync } from 'node:fs';
import { countTokens as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { describe, expect, it } from 'vitest';
import { forSeeds, type SeededRandom } from '../../../tests/support/seeded-random.js';
import { countPrompt } from './count-messages.js';
import { countText } from './count-text.js';
import {
  blank,
  LeastTokens,
  leastPromptTokens,
  leastTokensIn,
  leastTokensOf,
  weightMax,
  weightOf,
} from './least-tokens.js';

const tables = ['r50k_base', 'p50k_base', 'cl100k_base', 'o200k_base'];

function tokensOf(table: string): Buffer[] {
  const file = new URL(`../../../node_modules/gpt-tokenizer/data/${table}.tiktoken`, import.meta.url);
  const lines = readFileSync(file, 'latin1').trim().split('\n');
  return lines.map((line) => Buffer.from(line.slice(0, line.indexOf(' ')), 'base64'));
}

/** What a token's characters weigh, and in how many words they are. A character at its end that is cut off may be a Chinese one. */
function measureToken(token: Buffer): { weight: number; words: number } {
  const text = token.toString('utf8');
  const words = new Set<number>();
  let weight = 0;
  let word = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (weightOf(unit) === blank) word++;
    else if (weightOf(unit) > 0) words.add(word);
    weight += weightOf(unit) === blank ? 0 : weightOf(unit);
  }
  const isCut = token.at(-1)! >= 0x80 && text.endsWith('\ufffd');
  return isCut ? { weight: weight + 4, words: words.add(word).size } : { weight, words: words.size };
}

/** In scripts with and without blanks, code, and text that is no language. */
const samples: Record<string, string> = {
  English:
    'The committee’s responsibilities notwithstanding, internationalization requires telecommunications infrastructure. ',
  German: 'Die Donaudampfschifffahrtsgesellschaft übernimmt Verantwortung für außergewöhnliche Geschwindigkeiten. ',
  French: 'L’été dernier, les élèves préféraient étudier à l’extérieur, près des châteaux. ',
  Vietnamese: 'Chủ tịch nước Cộng hòa Xã hội Chủ nghĩa Việt Nam đã phát biểu tại hội nghị. ',
  Russian: 'Министерство здравоохранения Российской Федерации осуществляется с использованием. ',
  Greek: 'Οι περισσότεροι άνθρωποι χρησιμοποιούν την τεχνολογία καθημερινά. ',
  Armenian: 'Հայաստանի Հանրապետության կառավարությունը։ ',
  Georgian: 'მნიშვნელოვანია საქართველოს რესპუბლიკის მოსახლეობისთვის. ',
  Hebrew: 'הממשלה האחרונות הודיעה על שינויים במדיניות החינוך. ',
  Arabic: 'تُجرى الانتخابات البرلمانية في جميع أنحاء البلاد ــــــــ. ',
  Hindi: 'भारत के प्रधानमंत्री ने संयुक्त राष्ट्र महासभा को संबोधित किया। ',
  Bengali: 'বাংলাদেশের স্বাধীনতা যুদ্ধের ইতিহাস অত্যন্ত গুরুত্বপূর্ণ। ',
  Thai: 'สำนักเลขานุการองค์กรบริหารส่วนตำบลประเทศไทย',
  Khmer: 'ព្រះរាជាណាចក្រកម្ពុជាជាតិសាសនាព្រះមហាក្សត្រ',
  Chinese: '习近平新时代中国特色社会主义思想，大发快三大小单双，人民代表大会。',
  Japanese: 'ありがとうございます。東京都庁舎の建築物はプログラミング言語と関係ありません。',
  Korean: '대한민국 정부는 국제사회와의 협력을 강화하겠다고 발표하였습니다. ',
  emoji: '😀👩‍👩‍👧🏳️‍🌈✈️😂😂😂😂',
  TypeScript:
    'export const isReadonlyArray = <T>(value: unknown): value is readonly T[] =>\n  Array.isArray(value);\n//\n//\n',
  C: '/*\n * ----------------------------------------------------------------\n */\n#include <stdio.h>\n\n\n//////////\n;\n\n/',
  JSON: '{"configuration":{"environmentVariables":["PRODUCTION","DEVELOPMENT"],"n":1234567}}',
  Python: 'def __init__(self, *args, **kwargs):\n        super().__init__(*args, **kwargs)\n\n\n',
  HTML: '<div class="container-fluid"><span style="display:none">&nbsp;</span></div>\n',
  base64: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  digits: '31415926535897932384626433832795028841971693993751 ',
  blanks: ' '.repeat(600),
  'ends of lines': '\n'.repeat(400),
  'blanks of other scripts': `${'\u3000'.repeat(300)}${'\u00a0'.repeat(300)}\u2003 \u2003`,
  tabs: '\t'.repeat(300),
  'one letter': 'a'.repeat(3_000),
  'one capital letter': 'A'.repeat(3_000),
  'one Chinese character': '的'.repeat(1_000),
  'one sign': '='.repeat(3_000),
  dashes: '—'.repeat(1_000),
  'wrongly decoded text': 'ÃÂ'.repeat(1_000),
  'marks without letters': '\u0301\u0302 \u0303'.repeat(100),
  'controls and halves of characters': '\u0000\u0001 \ud83d \udc00 \ufffd \u200b\u200d \ufeff',
};

const plain = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };

function expectBound(text: string): void {
  const least = leastTokensIn(text);
  expect(least, JSON.stringify(text.slice(0, 200))).toBeLessThanOrEqual(countText(text));
  // Runs without a break take this one minutes.
  if (text.length < 4_000) expect(least, JSON.stringify(text.slice(0, 200))).toBeLessThanOrEqual(cl100k(text, plain));
}

function mixed(random: SeededRandom): string {
  const names = Object.keys(samples);
  return Array.from({ length: 1 + random.below(12) }, () => {
    const text = samples[random.pick(names)]!;
    const from = random.below(text.length);
    return text.slice(from, from + 1 + random.below(200)).repeat(1 + random.below(3));
  }).join(random.pick(['', ' ', '\n', '/']));
}

describe('the fewest tokens of a text', () => {
  it.each(tables)(
    'hold for every way to cut a text into tokens of %s: none has letters of two words, nor more than the limit',
    (table) => {
      const tokens = tokensOf(table);
      expect(tokens.length).toBeGreaterThan(50_000);
      const long = tokens.filter((token) => {
        const { weight, words } = measureToken(token);
        return weight > weightMax || words > 1;
      });
      expect(long.map(String)).toEqual([]);
    },
  );

  it.each(Object.entries(samples))('are never more than the exact count of %s', (_, text) => {
    for (let end = 1; end < Math.min(text.length, 120); end += 7) expectBound(text.slice(0, end));
    for (const repeated of [text, text.repeat(3)]) expectBound(repeated);
  });

  it('are never more than the exact count of any mixture', () => {
    forSeeds(60, (random) => expectBound(mixed(random)));
  });

  it('are a good part of the count where words have blanks between them', () => {
    for (const name of ['English', 'Russian', 'Hindi'])
      expect(leastTokensIn(samples[name]!), name).toBeGreaterThan(countText(samples[name]!) / 3);
  });

  it('are the same however the text is cut, and those of an escaped text are those of what it says', () => {
    forSeeds(30, (random) => {
      const text = mixed(random);
      const least = new LeastTokens();
      for (let at = 0; at < text.length; ) {
        const end = at + 1 + random.below(40);
        least.add(text.slice(at, end));
        at = end;
      }
      expect(least.tokens).toBe(leastTokensIn(text));
      const escaped = text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
      expect(leastTokensOf(escaped.slice(0, 60_000))).toBe(leastTokensIn(text.slice(0, 10_000)));
    });
  });

  it('leave out a text that would take long to read, which only makes them fewer', () => {
    const least = new LeastTokens();
    least.addInside('one two');
    least.addInside(' three'.repeat(20_000));
    least.addInside(' four');
    expect(least.tokens).toBe(3);
  });
});

describe('the fewest tokens of a prompt', () => {
  const messages = [
    { role: 'system', content: samples.English },
    {
      role: 'user',
      name: 'bob',
      content: [
        { type: 'text', text: samples.Chinese },
        { type: 'image_url', image_url: { url: samples.base64 } },
      ],
    },
    { role: 'assistant', content: null, tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{"a": "b c"}' } }] },
  ];
  const tools = [{ type: 'function', function: { name: 'find', description: 'Finds what is asked for.' } }];
  const json = JSON.stringify({
    messages,
    tools,
    metadata: { note: 'many words that are no part of the prompt '.repeat(9) },
  }).slice(1, -1);

  it('are by the method of the exact count, and never more than it', () => {
    const least = leastPromptTokens({ members: json, encoding: 'utf8' });
    expect(least).toBeGreaterThan(30);
    expect(least).toBeLessThanOrEqual(countPrompt({ messages, tools }, countText));
    const latin1 = Buffer.from(json, 'utf8').toString('latin1');
    expect(leastPromptTokens({ members: latin1, encoding: 'latin1' })).toBe(least);
    expect(leastPromptTokens({ members: Buffer.from(json), encoding: 'latin1' })).toBe(least);
  });

  it('are those of an empty prompt where it would take long to parse', () => {
    const long = `"messages":[{"role":"user","content":"${'word '.repeat(20_000)}"}]`;
    expect(leastPromptTokens({ members: long, encoding: 'latin1' })).toBe(3);
  });
});
