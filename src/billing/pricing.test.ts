import { describe, expect, it } from 'vitest';
import { forSeeds } from '../../tests/support/seeded-random.js';
import { smallSnapshot } from '../../tests/support/snapshot.js';
import { detailsOfLines } from '../wire/cost.js';
import { answeredModelFault, costOf, isFree } from './pricing.js';

const usage = (promptTokens: number, completionTokens: number, cachedTokens = 0) => ({
  promptTokens,
  completionTokens,
  cachedTokens,
  reasoningTokens: 0,
});

describe('the cost of an answer', () => {
  it('is exact: tokens times prices, in pico-dollars', () => {
    expect(costOf({ input: 600_000n, output: 800_000n, cachedInput: null }, usage(9, 3), 0).pico).toBe(7_800_000n);
    expect(costOf({ input: 1n, output: 1n, cachedInput: null }, usage(Number.MAX_SAFE_INTEGER, 1), 0).pico).toBe(
      9_007_199_254_740_992n,
    );
    expect(costOf({ input: 0n, output: 0n, cachedInput: null }, usage(9, 3), 0).pico).toBe(0n);
  });

  it('bills cached tokens at their price, or at the input price where they have none', () => {
    expect(costOf({ input: 10n, output: 1n, cachedInput: 3n }, usage(9, 0, 4), 0).pico).toBe(5n * 10n + 4n * 3n);
    expect(costOf({ input: 10n, output: 1n, cachedInput: 0n }, usage(9, 0, 4), 0).pico).toBe(50n);
    expect(costOf({ input: 10n, output: 1n, cachedInput: null }, usage(9, 0, 4), 0).pico).toBe(90n);
  });

  it('bills a prompt beyond a dearer band wholly at the prices of that band', () => {
    const bands = [{ fromTokens: 101, input: 20n, output: 3n, cachedInput: 5n }];
    const price = { input: 10n, output: 1n, cachedInput: 2n, bands };
    expect(costOf(price, usage(100, 2, 50), 0).pico).toBe(50n * 10n + 50n * 2n + 2n);
    expect(costOf(price, usage(101, 2, 50), 0).pico).toBe(51n * 20n + 50n * 5n + 6n);
  });

  it('adds up: many answers cost what one of their sum would', () => {
    forSeeds(100, (random) => {
      const price = {
        input: BigInt(random.below(1e9)),
        output: BigInt(random.below(1e9)),
        cachedInput: BigInt(random.below(1e9)),
      };
      const parts = Array.from({ length: 20 }, () =>
        usage(50 + random.below(1e6), random.below(1e6), random.below(50)),
      );
      const sum = (name: 'promptTokens' | 'completionTokens' | 'cachedTokens') =>
        parts.reduce((total, part) => total + part[name], 0);
      const total = parts.reduce((cost, part) => cost + costOf(price, part, 0).pico, 0n);
      const whole = usage(sum('promptTokens'), sum('completionTokens'), sum('cachedTokens'));
      expect(total).toBe(costOf(price, whole, 0).pico);
    });
  });
});

describe('the model that the upstream says it answered with', () => {
  const snapshot = {
    ...smallSnapshot(),
    upstreamModels: new Map([
      ['acme llama', new Set(['meta/llama'])],
      ['acme llama-alias', new Set(['meta/llama', 'meta/other'])],
      ['acme other', new Set(['meta/other'])],
      ['zeta dear', new Set(['meta/other'])],
    ]),
  };
  const route = snapshot.routes.get('acme/meta/llama/defra')!;

  it('is a pricing fault where the catalogue knows it as another one', () => {
    expect(answeredModelFault(snapshot, route, 'other')).toContain('"other"');
  });

  it.each([['llama'], ['llama-alias'], ['llama-2026-01-01'], ['dear'], [''], [null], [undefined], [5], [{}]])(
    'is none where it is %j',
    (answered) => {
      expect(answeredModelFault(snapshot, route, answered)).toBeUndefined();
    },
  );
});

describe('a free route', () => {
  const zero = { input: 0n, output: 0n, cachedInput: null };
  it('has no price above zero, for long prompts neither', () => {
    expect(isFree(zero)).toBe(true);
    for (const priced of [{ input: 1n }, { output: 1n }, { cachedInput: 1n }])
      expect(isFree({ ...zero, ...priced })).toBe(false);
    expect(isFree({ ...zero, bands: [{ ...zero, fromTokens: 10, output: 1n }] })).toBe(false);
  });
});

describe('the classes of a bill', () => {
  const base = { input: 10n, output: 100n, cachedInput: null };
  const all = {
    ...base,
    cachedInput: 1n,
    cacheWrite: 12n,
    cacheWrite1h: 20n,
    reasoning: 200n,
    inputAudio: 30n,
    outputAudio: 300n,
    inputImage: 15n,
    outputImage: 150n,
    request: 7n,
    tools: new Map([['web_search', 1_000n]]),
    tiers: new Map([['flex', { ...base, input: 5n, output: 50n }]]),
  };
  const parts = {
    ...usage(100, 50, 10),
    cacheWriteTokens: 30,
    cacheWrite1hTokens: 5,
    promptAudioTokens: 8,
    promptImageTokens: 2,
    reasoningTokens: 20,
    completionAudioTokens: 4,
    completionImageTokens: 1,
    toolCalls: [{ name: 'web_search', calls: 3 }],
    tier: null,
  };

  it('are each billed at their own price, and add up', () => {
    const { pico, details, lines, tier } = costOf(all, parts, 0);
    expect(details).toEqual({
      input: 50n * 10n,
      cache_read: 10n,
      cache_write: 25n * 12n + 5n * 20n,
      audio: 8n * 30n + 4n * 300n,
      image: 2n * 15n + 150n,
      reasoning: 20n * 200n,
      output: 25n * 100n,
      tools: 3_000n,
      request: 7n,
    });
    expect(Object.values(details).reduce((sum, part) => sum + part, 0n)).toBe(pico);
    expect(detailsOfLines(lines)).toEqual(details);
    expect(tier).toBeNull();
  });

  it('without a price of their own are billed as input or output, and shown as that', () => {
    expect(costOf(base, parts, 0)).toEqual({
      pico: 100n * 10n + 50n * 100n,
      details: { input: 100n * 10n, output: 50n * 100n },
      lines: [
        { name: 'input', count: 100, rate: 10n },
        { name: 'output', count: 50, rate: 100n },
        { name: 'unpriced_tools', count: 3, rate: 0n },
      ],
      tier: null,
    });
  });

  it('have the prices of the tier that the answer names', () => {
    const { details, tier } = costOf(all, { ...usage(10, 1), tier: 'flex' }, 0);
    expect([details.input, details.output, tier]).toEqual([50n, 50n, 'flex']);
  });

  it('written for an hour cost as those for five minutes, where only these have a price', () => {
    const price = { ...base, cacheWrite: 12n };
    expect(costOf(price, { ...usage(10, 0), cacheWriteTokens: 4, cacheWrite1hTokens: 4 }, 0).details.cache_write).toBe(
      48n,
    );
  });
});
