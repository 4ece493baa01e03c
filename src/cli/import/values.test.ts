import { describe, expect, it } from 'vitest';
import { isCalendarEnd, periodOf, perMillion, usdOf } from './values.js';

describe('amounts of another system', () => {
  it.each([
    [0.1, '0.1'],
    [12, '12'],
    [1e-7, '0.0000001'],
    [1.5e-13, '0'],
    [5e-13, '0.000000000001'],
    [123456.789, '123456.789'],
    ['2.50', '2.5'],
    [null, null],
    [-1, null],
    ['x', null],
  ])('%s is %s USD', (value, text) => {
    expect(usdOf(value)).toBe(text);
  });

  it.each([
    [2.5e-6, '2.5'],
    [1.5e-7, '0.15'],
    [0.00003, '30'],
    [0, '0'],
  ])('%s for a token is %s for a million', (value, text) => {
    expect(perMillion(value)).toBe(text);
  });

  it('a float keeps its value', () => {
    for (let n = 1; n < 2_000; n++) {
      const value = (n * 7919.31) / 10 ** (n % 12);
      expect(Math.abs(Number(usdOf(value)) - value)).toBeLessThanOrEqual(Math.max(1e-12, value * 1e-15));
    }
  });
});

describe('periods', () => {
  it.each([
    ['1d', 'daily'],
    ['24h', 'daily'],
    ['7d', 'weekly'],
    ['30d', 'monthly'],
    ['1mo', 'monthly'],
    ['5h', undefined],
    [null, 'never'],
  ])('%s is %s', (text, period) => {
    expect(periodOf(text)).toBe(period);
  });

  it.each([
    ['daily', '2026-11-19T00:00:00Z', true],
    ['daily', '2026-11-19T10:00:00Z', false],
    ['weekly', '2026-11-23T00:00:00Z', true],
    ['weekly', '2026-11-24T00:00:00Z', false],
    ['monthly', '2026-12-01T00:00:00Z', true],
    ['monthly', '2026-12-02T00:00:00Z', false],
    ['monthly', null, false],
  ] as const)('%s that ends at %s begins with a calendar period: %s', (period, at, is) => {
    expect(isCalendarEnd(period, at)).toBe(is);
  });
});
