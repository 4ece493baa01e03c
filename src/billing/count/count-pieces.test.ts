import { describe, expect, it } from 'vitest';
import { forSeeds, type SeededRandom } from '../../../tests/support/seeded-random.js';
import { threadTime } from '../../../tests/support/thread-time.js';
import { countPiece } from './count-pieces.js';
import { countText } from './count-text.js';

const words = [
  ...[
    'the',
    ' gateway',
    "we'll",
    "'s",
    'HTTPServer',
    'naïve',
    'étude',
    '字典',
    '，很好。',
    '😀',
    '👩‍👩‍👧',
    'ﬁ',
    'n\u0303',
    '\u0903',
  ],
  ...[
    ' ',
    '  ',
    '\n',
    '\r\n',
    '\t',
    '\u00a0',
    '\u3000',
    '\u2028',
    ' \n',
    '\n\n  ',
    '/',
    '//',
    '/\n',
    '}\n',
    '...',
    '!',
    '"',
    '\\',
  ],
  ...[
    '1',
    '1234567',
    '٣',
    'x'.repeat(390),
    ' '.repeat(395),
    '/\n'.repeat(198),
    '字'.repeat(401),
    '<|endoftext|>',
    '\u0001',
  ],
];

/** The bytes of a text inside a JSON string, one character for each byte; some characters are escaped. */
function insideOf(text: string, escapes: boolean): string {
  const json = JSON.stringify(text).slice(1, -1);
  const escaped = escapes
    ? json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : json;
  return Buffer.from(escaped, 'utf8').toString('latin1');
}

/** Frames end between any two bytes, but never inside an escape. */
function cutAnywhere(inside: string, random: SeededRandom): string[] {
  const units = inside.match(/\\u[0-9a-f]{4}|\\.|[^\\]/gs) ?? [];
  const pieces: string[] = [];
  for (let at = 0; at < units.length; ) {
    const length = 1 + random.below(random.pick([2, 10, 300, 2_000]));
    pieces.push(units.slice(at, at + length).join(''));
    at += length;
  }
  return pieces;
}

function countInPieces(pieces: readonly string[]): { tokens: number; restMax: number } {
  let tokens = 0;
  let rest = '';
  let restMax = 0;
  for (const piece of pieces) {
    const counted = countPiece(rest + piece);
    tokens += counted.tokens;
    rest = counted.rest;
    restMax = Math.max(restMax, rest.length);
  }
  const text = JSON.parse(`"${Buffer.from(rest, 'latin1').toString('utf8')}"`) as string;
  return { tokens: tokens + countText(text), restMax };
}

describe('counting in pieces', () => {
  it('adds up to the count of the whole text, wherever it is cut, escaped or not', () => {
    forSeeds(150, (random) => {
      const text = Array.from({ length: 1 + random.below(60) }, () => random.pick(words)).join('');
      const inside = insideOf(text, random.chance(0.3));
      expect(countInPieces(cutAnywhere(inside, random)).tokens, JSON.stringify(text)).toBe(countText(text));
    });
  });

  it('keeps characters whole that two frames share, as bytes and as escapes', () => {
    const emoji = Buffer.from('a 😀 b', 'utf8').toString('latin1');
    for (let at = 1; at < emoji.length; at++) {
      expect(countInPieces([emoji.slice(0, at), emoji.slice(at)]).tokens).toBe(countText('a 😀 b'));
    }
    expect(countInPieces(['a \\ud83d', '\\ude00 b']).tokens).toBe(countText('a 😀 b'));
  });

  it.each([
    ['words', 'lodestone '],
    ['one letter', 'a'],
    ['characters without blanks', '字典很好'],
    ['blanks', ' '],
    ['lines of signs', '}\n'],
    ['slashes and line breaks', '/\n'],
    ['escapes', '\\u0001'],
  ])('leaves little over of endless %s, in linear time', (_, unit) => {
    const inside = Buffer.from(JSON.stringify(unit).slice(1, -1), 'utf8').toString('latin1');
    const piece = inside.repeat(Math.ceil(16_384 / inside.length));
    countInPieces(['warm']);
    const started = threadTime().ranMs;
    expect(countInPieces(Array.from({ length: 16 }, () => piece)).restMax).toBeLessThan(8 * 1024);
    expect(threadTime().ranMs - started).toBeLessThan(5_000);
  });
});
