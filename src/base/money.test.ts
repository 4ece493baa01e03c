import { describe, expect, it } from 'vitest';
import { forSeeds } from '../../tests/support/seeded-random.js';
import { parseUsd, picoPerUsd, usdNumber, usdText } from './money.js';

describe('money', () => {
  it('prints and reads any amount back exactly', () => {
    forSeeds(500, (random) => {
      const digits = random.textOf('0123456789'.split(''), 26) || '0';
      const pico = BigInt(digits) * (random.chance(0.5) ? 1n : -1n);
      expect(parseUsd(usdText(pico))).toBe(pico);
    });
  });

  it('prints no more decimals than an amount needs', () => {
    expect(usdText(10n * picoPerUsd)).toBe('10');
    expect(usdText(picoPerUsd / 2n)).toBe('0.5');
    expect(usdText(-1n)).toBe('-0.000000000001');
    expect(usdText(0n)).toBe('0');
    expect(usdText(9_998_731_000_000n)).toBe('9.998731');
  });

  it.each([
    '',
    '.',
    '1.',
    '.5',
    '1e3',
    '+1',
    ' 1',
    '1 ',
    '1,5',
    '0x10',
    '1.0000000000001',
    '--1',
    'NaN',
    '1234567890123456',
  ])('takes %j for no exact amount', (text) => expect(parseUsd(text)).toBeUndefined());

  it('reads minus zero as zero and keeps trailing zeros out of the value', () => {
    expect(parseUsd('-0')).toBe(0n);
    expect(parseUsd('10.00')).toBe(parseUsd('10'));
  });

  it('gives the nearest JSON number: a sum of a million tiny costs shows no drift', () => {
    let sum = 0n;
    for (let i = 0; i < 1_000_000; i++) sum += 3_000_000n;
    expect(usdText(sum)).toBe('3');
    expect(usdNumber(sum)).toBe(3);
    expect(usdNumber(4_388_040_000n)).toBe(0.00438804);
  });
});
