/** Adds up token figures of providers, of which some are missing and some are not numbers. */
import type { Fields } from './conversation.js';

/** Missing figures count as 0. A figure that is not a number is returned as it is, so that the usage check rejects it. */
export function sum(figures: readonly unknown[]): unknown {
  const known = figures.filter((figure) => !isMissing(figure));
  const odd = known.find((figure) => typeof figure !== 'number');
  return odd !== undefined ? odd : (known as number[]).reduce((total, figure) => total + figure, 0);
}

/** The provider's total where it is above its parts, so that what no part explains is noticed; else their sum. */
export function totalOf(given: unknown, parts: readonly unknown[]): unknown {
  const total = sum(parts);
  return typeof given === 'number' && typeof total === 'number' && given > total ? given : total;
}

export function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}

/** A member of `usage`; left out where its figure is 0 or missing. */
export function figureOf(name: string, figure: unknown): Fields {
  return isMissing(figure) || figure === 0 ? {} : { [name]: figure };
}
