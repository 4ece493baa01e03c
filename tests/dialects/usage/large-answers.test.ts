/** Answers above 256 KiB are read in a thread of their own, which must know the prices too. */
import { expect, it } from 'vitest';
import type { AnswerReader } from '../../../src/providers/translation.js';
import type { UsageTerms } from '../../../src/wire/usage-types.js';

const rates = { input: 1n, output: 2n, cachedInput: null };

it('a large answer is read with the prices of its route: its tier and its audio have one', async () => {
  const compiled = new URL('../../../dist/providers/translation.js', import.meta.url).href;
  const { AnswerReader: Reader } = (await import(/* @vite-ignore */ compiled)) as {
    AnswerReader: typeof AnswerReader;
  };
  const reader = new Reader();
  const body = {
    ...{ id: 'c', object: 'chat.completion', model: 'm', service_tier: 'flex' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(300_000) }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 9, completion_tokens: 5, completion_tokens_details: { audio_tokens: 3 } },
  };
  const terms: UsageTerms = {
    contextWindow: null,
    price: { outputAudio: 7n, tiers: new Map([['flex', rates]]) },
  };
  const reading = await reader.read(Buffer.from(JSON.stringify(body)), 'openai', terms);
  await reader.close();
  expect(reading).toMatchObject({
    parts: { reading: { kind: 'usage', usage: { tier: 'flex', completionAudioTokens: 3 }, oddities: [] } },
  });
});
