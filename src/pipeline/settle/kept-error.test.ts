import { describe, expect, it } from 'vitest';
import { forSeeds } from '../../../tests/support/seeded-random.js';
import { threadTime } from '../../../tests/support/thread-time.js';
import { parseJsonBytes } from '../../wire/json-text.js';
import { keptError } from './kept-error.js';

function requestOf(...contents: unknown[]) {
  const messages = contents.map((content) => ({ role: 'user', content }));
  const { text, encoding } = parseJsonBytes(Buffer.from(JSON.stringify({ messages })));
  return { members: text.slice(1, -1), encoding };
}

describe('what a provider said, as it is kept', () => {
  it.each([
    ['Say hello.', 'Cannot answer: Say hello.', 'Cannot answer: […]'],
    ['Wie spät ist es in Übersee?', 'Blocked: "Wie spät ist es in Übersee?" is odd', 'Blocked: "[…]" is odd'],
    ['a secret  plan\nof  two lines', 'near "secret plan of two" here', 'near "[…]" here'],
    [[{ type: 'text', text: 'The patient is 54 years old' }], 'at: patient is 54 years', 'at:[…]'],
  ])('has nothing of the prompt %j', (content, error, kept) => {
    expect(keptError(error, requestOf('Earlier', content))).toBe(kept);
  });

  it.each([
    'The request queue is full.',
    'messages: text content blocks must be non-empty',
    'rate limit reached for requests',
  ])('keeps what is the provider’s own: %s', (error) => {
    const request = requestOf('How do I describe the messages of my user in a request?');
    expect(keptError(error, request)).toBe(error);
  });

  it('is not kept where the request is too large to be searched', () => {
    const large = { members: Buffer.from('"messages":[]'), encoding: 'utf8' } as const;
    for (const request of [large, requestOf('x '.repeat(40_000))]) {
      expect(keptError('near "secret"', request)).not.toContain('secret');
    }
  });

  it('has no run of fifteen characters of any prompt, wherever it is quoted', () => {
    forSeeds(60, (random) => {
      const word = () => Math.floor(random.below(1e9)).toString(36);
      const prompt = Array.from({ length: 20 }, word).join(' ');
      const from = random.below(prompt.length - 15);
      const quoted = prompt.slice(from, from + 15 + random.below(60)).trim();
      const kept = keptError(`${word()}: "${quoted}" ${word()}`, requestOf(prompt));
      for (let at = 0; at + 15 <= quoted.length; at++) expect(kept).not.toContain(quoted.slice(at, at + 15));
    });
  });

  it('takes a bounded time for a prompt that is one repeated character', () => {
    const startedAt = threadTime().ranMs;
    keptError('a'.repeat(500), requestOf('a'.repeat(65_000)));
    keptError('abcdefghX'.repeat(55), requestOf('abcdefgh'.repeat(8_100)));
    expect(threadTime().ranMs - startedAt).toBeLessThan(5_000);
  });
});
