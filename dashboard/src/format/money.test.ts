import { describe, expect, it } from 'vitest';
import { isNegative, isZero, perMillion, rowUsd, signedUsd, sumUsd, totalUsd, usd } from './money.js';

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

describe('totalUsd: a sum to the cent', () => {
  it.each([
    ['4.6626390625', '$4.66'],
    ['4.665', '$4.67'],
    ['4.6649999', '$4.66'],
    ['0.999', '$1.00'],
    ['999.999', '$1,000.00'],
    ['0', '$0.00'],
    ['0.000', '$0.00'],
    ['0.01', '$0.01'],
    ['0.0099999', '< $0.01'],
    ['0.000000000001', '< $0.01'],
    ['-0.000000000001', '> −$0.01'],
    ['-2.42955979', '−$2.43'],
    ['9007199254740993.015', '$9,007,199,254,740,993.02'],
    ['n/a', 'n/a'],
  ])('%s → %s', (amount, text) => expect(totalUsd(amount)).toBe(text));
});

describe('rowUsd: four significant digits, and never less than the cents', () => {
  it.each([
    ['0.00123456', '$0.001235'],
    ['0.000000000001', '$0.000000000001'],
    ['0.0000123456', '$0.00001235'],
    ['0.1', '$0.10'],
    ['0.99996', '$1.00'],
    ['1.23456', '$1.235'],
    ['12.3456', '$12.35'],
    ['1234.567', '$1,234.57'],
    ['5', '$5.00'],
    ['0', '$0.00'],
    ['-0.00123456', '−$0.001235'],
  ])('%s → %s', (amount, text) => expect(rowUsd(amount)).toBe(text));
});

describe('sumUsd: exact', () => {
  it.each([
    [['0.1', '0.2'], '0.3'],
    [['9007199254740993', '0.000000000001'], '9007199254740993.000000000001'],
    [['1', '-1'], '0'],
    [['0.5', '-2'], '-1.5'],
    [[], '0'],
  ])('%j → %s', (amounts, sum) => expect(sumUsd(amounts)).toBe(sum));
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
