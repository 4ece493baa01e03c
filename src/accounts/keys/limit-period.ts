/** The periods in which the cap of a key or a budget counts. All of them begin at 00:00 UTC, and weeks on Monday. */
import type { BudgetPeriodStart } from '../../domain/notice.js';
import { type BudgetPeriod, budgetPeriods } from '../../domain/organisation.js';

export const dayMs = 24 * 60 * 60 * 1000;
/** The first day of the epoch was a Thursday, so Mondays lie three days before each whole week. */
const thursdayToMondayDays = 3;

/** When the period that contains `nowMs` began; null where it never ends. */
export function periodStart(period: BudgetPeriod, nowMs: number): number | null {
  const day = Math.floor(nowMs / dayMs);
  if (period === 'never') return null;
  if (period === 'daily') return day * dayMs;
  if (period === 'weekly') return (day - ((day + thursdayToMondayDays) % 7)) * dayMs;
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
}

/** When the period that contains `nowMs` ends and the next one begins; null where it never does. */
export function periodEnd(period: BudgetPeriod, nowMs: number): number | null {
  const start = periodStart(period, nowMs);
  if (start === null || period === 'daily') return start === null ? null : start + dayMs;
  if (period === 'weekly') return start + 7 * dayMs;
  const first = new Date(start);
  return Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 1);
}

/** The periods of every kind that are under way. */
export function periodsAt(nowMs: number): BudgetPeriodStart[] {
  return budgetPeriods.map((period) => ({
    period,
    fromDay: Math.floor((periodStart(period, nowMs) ?? 0) / dayMs),
    endMs: periodEnd(period, nowMs),
  }));
}
