/** The period of a page, from its address: one of the ranges, or two dates. Days are UTC days, as in bills and rollups. */

export interface PeriodSearch {
  range?: string;
  /** Dates; both are included. */
  from?: string;
  to?: string;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** A range ends with the step that is not over yet. */
const ranges: Record<string, { label: string; lengthMs: number; stepMs: number }> = {
  '24h': { label: '24 h', lengthMs: dayMs, stepMs: hourMs },
  '7d': { label: '7 days', lengthMs: 7 * dayMs, stepMs: 6 * hourMs },
  '30d': { label: '30 days', lengthMs: 30 * dayMs, stepMs: dayMs },
  '90d': { label: '90 days', lengthMs: 90 * dayMs, stepMs: dayMs },
  '12mo': { label: '12 months', lengthMs: 364 * dayMs, stepMs: dayMs },
};

export const customRange = 'custom';

export const rangeOptions = [
  ...Object.entries(ranges).map(([value, { label }]) => ({ value, label })),
  { value: customRange, label: 'Custom' },
];

const isDate = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

export interface Period {
  /** One of the ranges, or `custom`. */
  range: string;
  /** Times; the first is included, the second is not. */
  from: string;
  to: string;
}

/** What every page shows where nothing is chosen, so that figures of two pages can be compared. */
const everyPage = '7d';

export function periodOf(search: PeriodSearch, defaultRange = everyPage, now = Date.now()): Period {
  const { from, to } = search;
  if (isDate(from) && isDate(to) && from <= to) {
    return {
      range: customRange,
      from: new Date(from).toISOString(),
      to: new Date(Date.parse(to) + dayMs).toISOString(),
    };
  }
  const range = search.range && Object.hasOwn(ranges, search.range) ? search.range : defaultRange;
  const { lengthMs, stepMs } = ranges[range] ?? { lengthMs: 7 * dayMs, stepMs: dayMs };
  const end = (Math.floor(now / stepMs) + 1) * stepMs;
  return { range, from: new Date(end - lengthMs).toISOString(), to: new Date(end).toISOString() };
}

/** The dates that the period covers, as a form shows them. */
export function datesOf({ from, to }: Period): { from: string; to: string } {
  return { from: from.slice(0, 10), to: new Date(Date.parse(to) - 1).toISOString().slice(0, 10) };
}

/** For a link to another page that shows the same period. */
export function periodSearch(period: Period): PeriodSearch {
  return period.range === customRange ? datesOf(period) : { range: period.range };
}
