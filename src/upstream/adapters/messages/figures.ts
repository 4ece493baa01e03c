/** Token figures as providers write them: some are missing, and some are no numbers. */

/** What is missing counts nothing. A figure that is no number stays what it is, for the check of what can be billed (ruling 10). */
export function sum(figures: readonly unknown[]): unknown {
  const known = figures.filter((figure) => !isMissing(figure));
  const odd = known.find((figure) => typeof figure !== 'number');
  return odd !== undefined ? odd : (known as number[]).reduce((total, figure) => total + figure, 0);
}

export function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}
