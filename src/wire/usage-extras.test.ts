/** The tier of an answer without usage, and the names of cache writes. */
import { describe, expect, it } from 'vitest';
import { readUsage } from './usage.js';

const terms = { contextWindow: 128_000 };

describe('usage', () => {
  it('that is absent still has the tier that the answer names', () => {
    const on = { ...terms, price: { tiers: new Map([['flex', {}]]) } };
    for (const value of [undefined, {}, { service_tier: 'priority' }])
      expect(readUsage(value, on, 'flex')).toEqual({ kind: 'absent', tier: 'flex' });
    expect(readUsage({ service_tier: 'flex' }, on)).toEqual({ kind: 'absent', tier: 'flex' });
    expect(readUsage(null, on, 'fast')).toEqual({ kind: 'absent', unpricedTier: 'fast' });
    for (const ordinary of ['default', 'auto', '', null, 7])
      expect(readUsage(null, on, ordinary)).toEqual({ kind: 'absent' });
  });

  it.each([
    ['cache_creation_input_tokens', { cache_creation_input_tokens: 7 }, [7, 0]],
    ['cache_creation', { cache_creation: { ephemeral_5m_input_tokens: 7 } }, [7, 0]],
    ['both', { cache_creation_input_tokens: 7, cache_creation: { ephemeral_5m_input_tokens: 7 } }, [7, 0]],
    ['an hour', { cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 3 } }, [7, 3]],
  ])('has cache writes as DashScope names them among the details of the prompt: %s', (_, details, written) => {
    const reading = readUsage(
      { prompt_tokens: 12, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 0, ...details } },
      terms,
    );
    if (reading.kind !== 'usage') throw new Error(reading.kind);
    expect([reading.usage.cacheWriteTokens, reading.usage.cacheWrite1hTokens]).toEqual(written);
  });
});
