/** Money is an integer number of pico-dollars (10⁻¹² USD), and text at the edges. It is never a float. */
import type { JsonSchema } from './json-schema.js';

export type PicoUsd = bigint;

export const picoPerUsd = 1_000_000_000_000n;

const decimal = /^(-)?([0-9]{1,15})(?:\.([0-9]{1,12}))?$/;

/** The texts that `parseUsd` reads, except zero. */
export const amountSchema: JsonSchema = {
  type: 'string',
  pattern: '^-?[0-9]{1,15}(\\.[0-9]{1,12})?$',
  not: { pattern: '^-?0+(\\.0+)?$' },
};

/**
 * Reads a decimal amount such as `10.00` or `-0.000001`; undefined where the text is not an exact amount of pico-dollars.
 */
export function parseUsd(text: string): PicoUsd | undefined {
  const match = decimal.exec(text);
  if (!match) return undefined;
  const [, minus, whole = '0', fraction = ''] = match;
  const pico = BigInt(whole) * picoPerUsd + BigInt(fraction.padEnd(12, '0'));
  return minus ? -pico : pico;
}

/** Prints an amount exactly, without trailing zeros: `10`, `0.5`, `-0.000000000001`. */
export function usdText(pico: PicoUsd): string {
  // Most amounts are below a dollar, and numbers are faster than integers of any size, also to compare.
  const near = Number(pico);
  if (near >= 0 && near < 1e12) return belowDollar(near);
  if (pico < 0n) return `-${usdText(-pico)}`;
  return `${pico / picoPerUsd}${belowDollar(Number(pico % picoPerUsd)).slice(1)}`;
}

function belowDollar(pico: number): string {
  if (pico === 0) return '0';
  let digits = 12;
  let left = pico;
  for (; left % 10 === 0; left /= 10) digits--;
  const text = String(left);
  return `${starts[digits - text.length]}${text}`;
}

/** By the number of zeros behind the point. An answer has several amounts, and each `+` of a text leaves something to collect. */
const starts = Array.from({ length: 12 }, (_, zeros) => `0.${'0'.repeat(zeros)}`);

/** The nearest JSON number, for fields that the API gives as numbers. */
export function usdNumber(pico: PicoUsd): number {
  return Number(usdText(pico));
}
