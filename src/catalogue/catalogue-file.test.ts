import { describe, expect, it } from 'vitest';
import { picoPerToken } from './price-figures.js';

describe('picoPerToken is exact', () => {
  it.each([
    ['0', 0n],
    ['0.60', 600_000n],
    ['0.1', 100_000n],
    ['1.005', 1_005_000n],
    ['15', 15_000_000n],
    ['0.000001', 1n],
    ['0.0000010', 1n],
    ['123456789.123456', 123_456_789_123_456n],
    ['0.290000', 290_000n],
  ])('%s USD per million tokens', (text, pico) => {
    expect(picoPerToken(text)).toBe(pico);
  });

  it.each([
    '',
    '-1',
    '-0',
    '1e-3',
    '0x10',
    '.5',
    '1.',
    '1,5',
    '0.0000001',
    '0.1234567',
    'free',
    'NaN',
    '.inf',
    ' 1',
    '1_0',
  ])('refuses %j', (text) => {
    expect(picoPerToken(text)).toBeUndefined();
  });
});
