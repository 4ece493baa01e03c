import { describe, expect, it } from 'vitest';
import type { CatalogueRoute } from '../../api/types.js';
import { costOf } from './cost.js';

const price: NonNullable<CatalogueRoute['price']> = {
  ...{ input: '0.59', output: '0.79', cached_input: '0.06', as_of: null, old: false, until_changed: false },
  others: [
    { when: {}, prices: { request: '0.001' } },
    { when: { from_tokens: 100_000 }, prices: { input: '1.18', output: '1.58' } },
    { when: { tier: 'flex' }, prices: { input: '0.1' } },
  ],
};

const load = { inputTokens: 1000, cachedTokens: 0, outputTokens: 500, requests: 1 };

describe('the cost calculator', () => {
  it('adds the classes of a request and its own price, exactly', () => {
    expect(costOf({ price }, load)).toEqual({ each: '0.001985000000', all: '0.001985000000' });
    expect(costOf({ price }, { ...load, requests: 3_000_000 })?.all).toBe('5955.000000000000');
  });

  it('takes cached tokens at their price, and at that of input where there is none', () => {
    const cached = { ...load, cachedTokens: 2000 };
    expect(costOf({ price }, cached)?.each).toBe('0.001455000000');
    expect(costOf({ price: { ...price, cached_input: null } }, cached)?.each).toBe('0.001985000000');
  });

  it('takes the prices of long prompts from where they hold', () => {
    expect(costOf({ price }, { ...load, inputTokens: 100_000 })?.each).toBe('0.119790000000');
  });

  it('has no figure without a price', () => {
    expect(costOf({ price: null }, load)).toBeNull();
  });
});
