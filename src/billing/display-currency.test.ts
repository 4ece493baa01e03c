import { describe, expect, it } from 'vitest';
import { parseUsd } from '../base/money.js';
import { displayText } from './display-currency.js';

describe('an amount in a second currency', () => {
  it.each([
    ['1.17', '1.17', '1.00'],
    ['10', '1.17', '8.55'],
    ['-10', '1.17', '-8.55'],
    ['0.005', '1', '0.01'],
    ['-0.005', '1', '-0.01'],
    ['0.004999999999', '1', '0.00'],
    ['-0.004', '1', '0.00'],
    ['0', '1.17', '0.00'],
    ['1', '0.000001', '1000000.00'],
    ['123456789012345.67', '1.25', '98765431209876.54'],
  ])('%s USD at %s is %s', (usd, rate, shown) => {
    expect(displayText(parseUsd(usd)!, { code: 'EUR', rate, source: 's', as_of: '2026-11-18' })).toBe(shown);
  });
});
