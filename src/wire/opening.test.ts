import { describe, expect, it } from 'vitest';
import { readRequest } from '../doors/chat/read-request.js';
import { takeOutLongTexts } from './long-texts.js';
import { openingOf } from './opening.js';

const bodyOf = (content: string): Buffer =>
  Buffer.from(`{"model":"a/b/c","messages":[{"role":"system","content":"s"},{"role":"user","content":${content}}]}`);

const contents: [string, string][] = [
  ['plain text', JSON.stringify('x'.repeat(200_000))],
  ['text of several bytes a character', JSON.stringify('é😀字'.repeat(50_000))],
  ['escapes', `"${'\\u00e9\\n\\"\\/'.repeat(30_000)}"`],
  ['escaped pairs', `"${'\\ud83d\\ude00'.repeat(30_000)}"`],
  ['all of them', `"x${'é\\ud83d\\ude00\\\\y\\u0041'.repeat(20_000)}"`],
];

const isRead = (): boolean => true;

describe('the hash of an opening', () => {
  it.each(contents)('is the same with long texts taken out: %s', (_, content) => {
    const body = bodyOf(content);
    const whole = openingOf(readRequest(body));
    const texts = takeOutLongTexts(body, isRead)!;
    expect(whole).toMatch(/^[\w-]{43}$/);
    expect(openingOf(readRequest(texts.rest()), texts)).toBe(whole);
  });

  it('differs with the text', () => {
    const [a, b] = ['a', 'b'].map((end) => {
      const body = bodyOf(JSON.stringify('x'.repeat(100_000) + end));
      const texts = takeOutLongTexts(body, isRead)!;
      return openingOf(readRequest(texts.rest()), texts);
    });
    expect(a).not.toBe(b);
  });
});
