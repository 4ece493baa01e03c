/** Formats exact amounts: decimal strings in, text out, and no float in between. */

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

/** At most four significant digits below a dollar, cents above. For axes and tiles that have the exact amount nearby. */
export function shortUsd(amount: string): string {
  const [, sign, whole, fraction = ''] = shape.exec(amount) ?? [];
  if (whole === undefined) return amount;
  const leading = fraction.search(/[1-9]/);
  const kept = whole !== '0' || leading < 0 ? 2 : Math.max(2, leading + 3);
  const decimals = fraction.slice(0, kept).padEnd(2, '0');
  return `${sign ? '−' : ''}$${grouped(whole)}.${decimals}`;
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
