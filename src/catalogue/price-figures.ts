/** Reads the figures of prices as exact decimals, and converts those of another currency to USD. */
import { field } from '../base/yaml-fields.js';
import type { FieldPath, YamlSource } from '../base/yaml-source.js';

/** What one unit of another currency costs. */
export interface Rate {
  readonly code: string;
  /** USD for one unit, times 10⁶. */
  readonly micros: bigint;
}

/** How a figure is read into whole pico-dollars. */
export interface Unit {
  readonly expected: string;
  readonly read: (figureText: string) => bigint | undefined;
}

export interface Units {
  readonly perMillion: Unit;
  readonly perUse: Unit;
}

/** `rate` is that of the currency of the figures; null = they are in USD. */
export function unitsOf(rate: Rate | null): Units {
  const code = rate?.code ?? 'USD';
  const converted = (pico: bigint | undefined) => (pico !== undefined && rate ? inUsd(pico, rate) : pico);
  return {
    perMillion: {
      expected: `${code} per million tokens as a decimal such as 0.60, not negative, with at most 6 decimals`,
      read: (figureText) => converted(picoPerToken(figureText)),
    },
    perUse: {
      expected: `${code} as a decimal such as 0.01, not negative, with at most 12 decimals`,
      read: (figureText) => converted(decimalTimes(figureText, 12)),
    },
  };
}

/** The decimals that a rate may have. */
export const rateDecimals = 6;
const rateUnit = 10n ** BigInt(rateDecimals);

/** To the nearest pico-dollar, a half up: the figure and the rate are exact, and their product is rounded once. */
function inUsd(pico: bigint, { micros }: Rate): bigint {
  return (pico * micros * 2n + rateUnit) / (rateUnit * 2n);
}

export function figureAt(source: YamlSource, at: FieldPath, unit: Unit): bigint | undefined {
  const value = source.valueAt(at);
  const written = typeof value === 'number' || typeof value === 'string' ? source.textAt(at) : undefined;
  const pico = written === undefined ? undefined : unit.read(written);
  if (pico === undefined) source.faultAt(at, `found ${source.textAt(at) ?? 'nothing'}, expected ${unit.expected}`);
  return pico;
}

/** Converts an amount per million tokens to 10⁻¹² of it per token without floats: six decimals are exact. Undefined where the text is not a price. */
export function picoPerToken(figureText: string): bigint | undefined {
  return decimalTimes(figureText, 6);
}

const decimal = /^(\d{1,9})(?:\.(\d+))?$/;

/** A decimal times a power of ten, as a whole number; undefined where digits would be lost. */
export function decimalTimes(figureText: string, decimals: number): bigint | undefined {
  const match = decimal.exec(figureText);
  if (!match) return undefined;
  const fraction = (match[2] ?? '').replace(/0+$/, '');
  if (fraction.length > decimals) return undefined;
  return BigInt(match[1]! + fraction.padEnd(decimals, '0'));
}

/** ISO 4217. */
export const currencyCode = field('an ISO 4217 code such as EUR', (value) =>
  typeof value === 'string' && /^[A-Z]{3}$/.test(value) ? value : undefined,
);
