/**
 * Formats exact amounts: decimal strings in, text out, and no float in between. A sum of many requests is shown to the cent
 * (`totalUsd`), the amount of one request to four significant digits (`rowUsd`), and a receipt shows every decimal (`usd`).
 */
import { locale } from './locale.js';

const shape = /^(-?)(\d+)(?:\.(\d+))?$/;

/** `"1234.5"` → `"$1,234.50"`; every decimal that counts is kept, at least two are shown. */
export function usd(amount: string): string {
  const [, sign, whole, fraction = ''] = shape.exec(amount) ?? [];
  if (whole === undefined) return amount;
  const decimals = fraction.replace(/0+$/, '').padEnd(2, '0');
  return `${sign ? '−' : ''}$${grouped(whole)}.${decimals}`;
}

/** A price of one token as the price of a million: `"0.0000025"` → `"2.5"`. */
export function perMillion(amount: string): string {
  const [, sign, whole, fraction = ''] = shape.exec(amount) ?? [];
  if (whole === undefined) return amount;
  const moved = fraction.padEnd(6, '0');
  const digits = `${whole}${moved.slice(0, 6)}`.replace(/^0+(?=\d)/, '');
  const decimals = moved.slice(6).replace(/0+$/, '');
  return `${sign}${digits}${decimals === '' ? '' : `.${decimals}`}`;
}

/** Like `usd`, with a plus sign for a positive amount. */
export function signedUsd(amount: string): string {
  return isNegative(amount) || isZero(amount) ? usd(amount) : `+${usd(amount)}`;
}

/** A sum, to the cent: `"4.6626390625"` → `"$4.66"`. Less than a cent, but not nothing, is `"< $0.01"`. */
export function totalUsd(amount: string): string {
  const [, sign, whole, fraction = ''] = shape.exec(amount) ?? [];
  if (whole === undefined) return amount;
  const isSmall = !isZero(amount) && BigInt(whole) === 0n && /^00/.test(fraction.padEnd(2, '0'));
  if (isSmall) return sign ? '> −$0.01' : '< $0.01';
  return textOf(sign, rounded(whole, fraction, 2));
}

/** One request's amount, to four significant digits and at least to the cent: `"0.00123456"` → `"$0.001235"`. */
export function rowUsd(amount: string): string {
  const [, sign, whole, fraction = ''] = shape.exec(amount) ?? [];
  if (whole === undefined) return amount;
  const units = whole.replace(/^0+/, '');
  const leadingZeros = units === '' ? Math.max(0, fraction.search(/[1-9]/)) : 0;
  const decimals = Math.max(2, significantDigits - units.length + leadingZeros);
  return textOf(sign, rounded(whole, fraction, decimals));
}

const significantDigits = 4;

/** Rounds half away from zero, and drops zeros at the end beyond the cents. */
function rounded(whole: string, fraction: string, decimals: number): [whole: string, fraction: string] {
  const scaled = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
  const up = (fraction[decimals] ?? '0') >= '5' ? 1n : 0n;
  const digits = (scaled + up).toString().padStart(decimals + 1, '0');
  const split = digits.length - decimals;
  return [digits.slice(0, split), digits.slice(split).replace(/0+$/, '').padEnd(2, '0')];
}

function textOf(sign: string | undefined, [whole, fraction]: [whole: string, fraction: string]): string {
  return `${sign && !/^0*$/.test(whole + fraction) ? '−' : ''}$${grouped(whole)}.${fraction}`;
}

/** The exact sum of amounts. */
export function sumUsd(amounts: readonly string[]): string {
  const scale = 24;
  const total = amounts.reduce((sum, amount) => {
    const [, sign, whole = '0', fraction = ''] = shape.exec(amount) ?? [];
    const units = BigInt(whole + fraction.slice(0, scale).padEnd(scale, '0'));
    return sign ? sum - units : sum + units;
  }, 0n);
  const digits = (total < 0n ? -total : total).toString().padStart(scale + 1, '0');
  const fraction = digits.slice(-scale).replace(/0+$/, '');
  return `${total < 0n ? '-' : ''}${digits.slice(0, -scale)}${fraction && `.${fraction}`}`;
}

/** An amount of a second currency, as text with two decimals. */
export function inCurrency(amount: string, code: string): string {
  return new Intl.NumberFormat(locale, { style: 'currency', currency: code }).format(
    amount as Intl.StringNumericLiteral,
  );
}

export function isNegative(amount: string): boolean {
  return amount.startsWith('-') && !isZero(amount);
}

export function isZero(amount: string): boolean {
  return /^-?[0.]*$/.test(amount);
}

/** A float, only to place a point in a chart, never to show an amount. */
export function plotValue(amount: string): number {
  return Number(amount);
}

function grouped(whole: string): string {
  return whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}
