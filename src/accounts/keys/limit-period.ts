/** The periods in which the cap of a key counts. All of them begin at 00:00 UTC, and weeks on Monday. */
import type { KeyTerms } from '../../domain/account.js';

const dayMs = 24 * 60 * 60 * 1000;
/** The first day of the epoch was a Thursday, so Mondays lie three days before each whole week. */
const thursdayToMondayDays = 3;

/** When the period that contains `nowMs` began; null where it never ends. */
export function periodStart(reset: KeyTerms['limitReset'], nowMs: number): number | null {
  const day = Math.floor(nowMs / dayMs);
  if (reset === 'never') return null;
  if (reset === 'daily') return day * dayMs;
  if (reset === 'weekly') return (day - ((day + thursdayToMondayDays) % 7)) * dayMs;
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
}
