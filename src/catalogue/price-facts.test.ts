import { describe, expect, it } from 'vitest';
import type { Price } from './price.js';
import { priceFacts } from './price-facts.js';

const million = 1_000_000n;
const rates = (input: bigint) => ({ input: input * million, output: 9n * million, cachedInput: null });
const band = (fromTokens: number, input: bigint) => ({ ...rates(input), fromTokens });
const base = { ...rates(1n), bands: [band(200, 2n)] };
const tiered = (tier: Partial<Price>): Price => ({ ...base, tiers: new Map([['flex', { ...rates(1n), ...tier }]]) });
const inPeriod = (period: Partial<Price>): Price => ({
  ...base,
  periods: [{ ...rates(1n), fromMinute: 0, toMinute: 60, ...period }],
});
const later = (price: Partial<Price>): Price => ({ ...base, later: { fromMs: 0, price: { ...rates(1n), ...price } } });

describe('the facts of a price', () => {
  it.each<[string, Price, Price]>([
    ['a band of a tier, as dear as that of the ordinary price', tiered({}), tiered({ bands: [band(200, 2n)] })],
    ['no band of a period', inPeriod({}), inPeriod({ bands: [band(200, 2n)] })],
    [
      'another band of a period',
      inPeriod({ bands: [band(100, 3n)] }),
      inPeriod({ bands: [band(100, 3n), band(200, 2n)] }),
    ],
    ['no band from a date on', later({ bands: [] }), later({ bands: [band(200, 2n)] })],
    [
      'a band in which the ordinary price holds again',
      { ...rates(1n), bands: [band(200, 2n)] },
      { ...rates(1n), bands: [band(200, 2n), band(400, 1n)] },
    ],
  ])('tell %s from its absence', (_, without, price) => {
    expect(priceFacts(without)).not.toEqual(priceFacts(price));
  });

  it('name a band only where it changes a price, or is missing', () => {
    expect(priceFacts({ ...rates(1n), bands: [band(200, 1n), band(300, 2n)] })).toEqual({
      input: '1',
      output: '9',
      'from_tokens.300.input': '2',
    });
    expect(priceFacts(inPeriod({ bands: base.bands }))).toEqual(priceFacts(base));
    expect(priceFacts(inPeriod({}))).toEqual({ ...priceFacts(base), 'periods.00:00-01:00.from_tokens.200': 'none' });
  });
});
