import { describe, expect, it } from 'vitest';
import { forSeeds } from '../../tests/support/seeded-random.js';
import { smallSnapshot } from '../../tests/support/snapshot.js';
import { answeredModelFault, costOf, isFree } from './pricing.js';

const usage = (promptTokens: number, completionTokens: number, cachedTokens = 0) => ({
  promptTokens,
  completionTokens,
  cachedTokens,
  reasoningTokens: 0,
});

describe('the cost of an answer', () => {
  it('is exact: tokens times prices, in pico-dollars', () => {
    expect(costOf({ input: 600_000n, output: 800_000n, cachedInput: null }, usage(9, 3))).toBe(7_800_000n);
    expect(costOf({ input: 1n, output: 1n, cachedInput: null }, usage(Number.MAX_SAFE_INTEGER, 1))).toBe(
      9_007_199_254_740_992n,
    );
    expect(costOf({ input: 0n, output: 0n, cachedInput: null }, usage(9, 3))).toBe(0n);
  });

  it('bills cached tokens at their price, or at the input price where they have none', () => {
    expect(costOf({ input: 10n, output: 1n, cachedInput: 3n }, usage(9, 0, 4))).toBe(5n * 10n + 4n * 3n);
    expect(costOf({ input: 10n, output: 1n, cachedInput: 0n }, usage(9, 0, 4))).toBe(50n);
    expect(costOf({ input: 10n, output: 1n, cachedInput: null }, usage(9, 0, 4))).toBe(90n);
  });

  it('bills a prompt beyond a dearer band wholly at the prices of that band', () => {
    const above = { inputTokens: 100, input: 20n, output: 3n, cachedInput: 5n };
    const price = { input: 10n, output: 1n, cachedInput: 2n, above };
    expect(costOf(price, usage(100, 2, 50))).toBe(50n * 10n + 50n * 2n + 2n);
    expect(costOf(price, usage(101, 2, 50))).toBe(51n * 20n + 50n * 5n + 6n);
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
      const total = parts.reduce((cost, part) => cost + costOf(price, part), 0n);
      expect(total).toBe(costOf(price, usage(sum('promptTokens'), sum('completionTokens'), sum('cachedTokens'))));
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
    expect(isFree({ ...zero, above: { ...zero, inputTokens: 10, output: 1n } })).toBe(false);
  });
});
