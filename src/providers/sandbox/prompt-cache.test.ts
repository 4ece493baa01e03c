import { expect, it } from 'vitest';
import { PromptCache } from './prompt-cache.js';

const messages = (...texts: string[]) => texts.map((content) => ({ role: 'user', content }));

it('counts the longest beginning of a prompt that the same route has read in the last five minutes', () => {
  let nowMs = 0;
  const prompts = new PromptCache({ monotonicMs: () => nowMs });
  const first = prompts.read('a', messages('a long question'));
  expect(first).toEqual({ promptTokens: 11, cachedTokens: 0 });
  const second = prompts.read('a', messages('a long question', 'an answer', 'more'));
  expect(second.cachedTokens).toBe(first.promptTokens);
  expect(prompts.read('a', messages('a long question', 'an answer', 'more', 'yes')).cachedTokens).toBe(
    second.promptTokens,
  );
  expect(prompts.read('b', messages('a long question')).cachedTokens).toBe(0);
  expect(prompts.read('a', messages('something else', 'more')).cachedTokens).toBe(0);
  nowMs = 300_000;
  expect(prompts.read('a', messages('a long question')).cachedTokens).toBe(0);
});

it('remembers a thousand prompts, and forgets the oldest first', () => {
  const prompts = new PromptCache({ monotonicMs: () => 0 });
  for (let i = 0; i <= 1_000; i++) prompts.read('a', messages(`prompt ${i}`));
  expect(prompts.read('a', messages('prompt 1')).cachedTokens).toBeGreaterThan(0);
  expect(prompts.read('a', messages('prompt 0')).cachedTokens).toBe(0);
});
