import { describe, expect, it } from 'vitest';
import { readUsage } from './usage.js';
import { usageText } from './usage-text.js';

const full = {
  prompt_tokens: 12,
  completion_tokens: 5,
  total_tokens: 17,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
};

describe('usage', () => {
  it('is read with its details', () => {
    const usage = { promptTokens: 12, completionTokens: 5, cachedTokens: 4, reasoningTokens: 2 };
    expect(readUsage(full)).toEqual({ kind: 'usage', usage });
  });

  it('counts what is left out or null as zero', () => {
    const usage = { promptTokens: 12, completionTokens: 5, cachedTokens: 0, reasoningTokens: 0 };
    expect(readUsage({ prompt_tokens: 12, completion_tokens: 5, prompt_tokens_details: null })).toEqual({
      kind: 'usage',
      usage,
    });
  });

  it.each([
    [null],
    [undefined],
    ['12'],
    [12],
    [[]],
    [{}],
    [{ total_tokens: 3 }],
    [{ prompt_tokens: null, completion_tokens: null }],
  ])('is absent in %j', (value) => expect(readUsage(value)).toEqual({ kind: 'absent' }));

  it.each([
    ['prompt_tokens', -1],
    ['prompt_tokens', 1.5],
    ['prompt_tokens', '12'],
    ['prompt_tokens', true],
    ['prompt_tokens', 2 ** 53],
    ['completion_tokens', 2 ** 63],
    ['completion_tokens', Number.POSITIVE_INFINITY],
    ['completion_tokens', { toString: 1, valueOf: 1 }],
    ['completion_tokens', ['x'.repeat(60)]],
  ])('is a pricing fault where %s is %j (ruling 10)', (name, figure) => {
    const reading = readUsage({ ...full, [name]: figure });
    expect(reading.kind).toBe('fault');
    if (reading.kind !== 'fault') return;
    expect(reading.reason).toContain(name);
    expect(reading.reason.length).toBeLessThan(160);
  });

  it.each([
    ['completion_tokens_details', 'audio_tokens'],
    ['completion_tokens_details', 'image_tokens'],
    ['completion_tokens_details', 'video_tokens'],
    ['prompt_tokens_details', 'audio_tokens'],
  ])('is a pricing fault where %s has %s, which no price covers; zero of them is none (ruling 10)', (details, name) => {
    expect(readUsage({ ...full, [details]: { [name]: 7 } }).kind).toBe('fault');
    expect(readUsage({ ...full, [details]: { [name]: 0 } }).kind).toBe('usage');
  });

  it('is a pricing fault where more is cached than was sent', () => {
    expect(readUsage({ ...full, prompt_tokens_details: { cached_tokens: 13 } }).kind).toBe('fault');
    expect(readUsage({ ...full, prompt_tokens_details: { cached_tokens: 12 } }).kind).toBe('usage');
  });
});

describe('the usage of an answer', () => {
  const usage = { promptTokens: 12, completionTokens: 5, cachedTokens: 4, reasoningTokens: 2 };

  it('keeps the upstream\u2019s own members and has our cost, not the upstream\u2019s (contract 4.1)', () => {
    const text = usageText({ ...full, cost: 99, queue_time: 0.25 }, usage, 1_500_000n);
    expect(JSON.parse(text)).toEqual({ ...full, queue_time: 0.25, cost: 0.0000015 });
  });

  it.each([[null], ['none'], [{ ...full, completion_tokens: 4 }], [{ ...full, total_tokens: undefined }]])(
    'is written from what is billed where the upstream gave %j',
    (given) => expect(JSON.parse(usageText(given, usage, 0n))).toEqual({ ...full, cost: 0 }),
  );
});
