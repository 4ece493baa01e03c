import { describe, expect, it } from 'vitest';
import { isNegative, isZero, perMillion, shortUsd, signedUsd, usd } from './money.js';

describe('usd: every decimal that counts is kept', () => {
  it.each([
    ['5', '$5.00'],
    ['0', '$0.00'],
    ['9.998731', '$9.998731'],
    ['0.000000000001', '$0.000000000001'],
    ['1234567.5', '$1,234,567.50'],
    ['-0.0012690', '−$0.001269'],
    // More digits than a float holds.
    ['9007199254740993.000000000001', '$9,007,199,254,740,993.000000000001'],
  ])('%s → %s', (amount, text) => expect(usd(amount)).toBe(text));

  it('leaves what is no amount as it is', () => expect(usd('n/a')).toBe('n/a'));
});

describe('shortUsd: cents, and below a dollar three digits that count; cut off, never rounded up', () => {
  it.each([
    ['17.570440210000', '$17.57'],
    ['0.759123', '$0.759'],
    ['0.00029999', '$0.000299'],
    ['0', '$0.00'],
    ['-2.42955979', '−$2.42'],
  ])('%s → %s', (amount, text) => expect(shortUsd(amount)).toBe(text));
});

describe('perMillion: exact', () => {
  it.each([
    ['0.0000025', '2.5'],
    ['0.000000000001', '0.000001'],
    ['0.00001', '10'],
    ['3', '3000000'],
    ['0', '0'],
  ])('%s → %s', (amount, text) => expect(perMillion(amount)).toBe(text));
});

describe('signs', () => {
  it('a plus only for what adds', () => {
    expect(['20', '0.00', '-0.5'].map(signedUsd)).toEqual(['+$20.00', '$0.00', '−$0.50']);
  });

  it('zero has no sign, however it is written', () => {
    expect(['0', '-0', '0.000', '-0.0'].map(isZero)).toEqual([true, true, true, true]);
    expect(['-0.0', '-0.1', '1'].map(isNegative)).toEqual([false, true, false]);
  });
});
