/** Counts of repetitions: a part of them in `npm test`, all of them with LODESTONE_FULL=1, as `npm run test:long` runs them. */

/** The counts are scaled down unless this is set. */
export const full = process.env.LODESTONE_FULL === '1';
export const scaled = (small: number, whole: number): number => (full ? whole : small);
