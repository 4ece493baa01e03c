/** Token figures as providers write them: some are missing, and some are no numbers. */
import type { Fields } from './items.js';

/** What is missing counts nothing. A figure that is no number stays what it is, so that the check of what can be billed sees it. */
export function sum(figures: readonly unknown[]): unknown {
  const known = figures.filter((figure) => !isMissing(figure));
  const odd = known.find((figure) => typeof figure !== 'number');
  return odd !== undefined ? odd : (known as number[]).reduce((total, figure) => total + figure, 0);
}

export function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}

/** A member of `usage` that is left out where its figure is 0 or missing. */
export function figureOf(name: string, figure: unknown): Fields {
  return isMissing(figure) || figure === 0 ? {} : { [name]: figure };
}
