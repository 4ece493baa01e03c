/**
 * Names assertions on a measured time. They are the only ones that `npm test` repeats, because a busy machine may miss a moment: a test
 * that fails by any other assertion fails at once. Suites of the browser are repeated whole (vitest.config.ts).
 */

/** The message of such an assertion: `expect(elapsedMs, measuredTime).toBeLessThan(100)`. */
export const measuredTime = 'Measured time';

export const repeatMeasured = (count: number) => ({ count, condition: new RegExp(`^${measuredTime}: `) });
