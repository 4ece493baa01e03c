/** Where spending is heading in the period of a budget. Periods begin at 00:00 UTC, weeks on Monday. */
import type { BudgetPeriod, Project } from '../api/organisation-types.js';

const dayMs = 86_400_000;

/** The start and the end of the period of a moment; null for one that never ends. */
export function periodOf(period: BudgetPeriod, now: number): { start: number; end: number } | null {
  const at = new Date(now);
  const day = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate());
  if (period === 'daily') return { start: day, end: day + dayMs };
  if (period === 'weekly') {
    const start = day - ((at.getUTCDay() + 6) % 7) * dayMs;
    return { start, end: start + 7 * dayMs };
  }
  if (period !== 'monthly') return null;
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return { start: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) };
}

/** The longest period of a report. */
const reportDays = 1100;

/** The days that the spend of a project counts, for a link to its requests: those of its budget, else this month. */
export function spentDays({ budget, created_at: made }: Pick<Project, 'budget' | 'created_at'>, now: number) {
  const start = periodOf(budget?.period ?? 'monthly', now)?.start;
  const from = start ?? Math.max(Date.parse(made), now - (reportDays - 1) * dayMs);
  const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);
  return { from: dayOf(from), to: dayOf(now) };
}

/** Before so much of a period is over, nothing can be said of the rest. */
const knownFrom = 0.1;

/** What will be spent at the end of the period, in USD, if it goes on like this; null where that cannot be said. A figure to read, not to book. */
export function projection(spentUsd: string, period: BudgetPeriod, now: number): { usd: string; end: number } | null {
  const bounds = periodOf(period, now);
  if (!bounds) return null;
  const part = (now - bounds.start) / (bounds.end - bounds.start);
  return part < knownFrom || Number(spentUsd) === 0
    ? null
    : { usd: (Number(spentUsd) / part).toFixed(2), end: bounds.end };
}

/** When the spend of a period was. */
export const periodNames: Record<BudgetPeriod, string> = {
  never: 'so far',
  daily: 'today',
  weekly: 'this week',
  monthly: 'this month',
};
