/** What the readers of people, projects and keys share: texts and limits as the admin API takes them. */
import { createHash } from 'node:crypto';
import type { BudgetPlan, RateBounds } from './plan.js';
import type { ImportReport } from './report.js';
import { type Fields, isCalendarEnd, periodOf, textOf, usdOf } from './values.js';

/** The most whole dollars that an amount may have. */
const mostUsd = '999999999999999';
const idMax = 256;

/** A limit with its period, and what was spent of it. */
export function budgetOf(
  report: ImportReport,
  row: Fields,
  field: string,
): { budget: BudgetPlan | null; openingUsd: string } {
  const openingUsd = atMost(usdOf(row.spend) ?? '0');
  const limit = limitOf(report, row.max_budget, `${field}.max_budget`);
  if (limit === null) return { budget: null, openingUsd };
  const duration = textOf(row.budget_duration);
  const period = periodOf(duration);
  if (period === undefined) {
    report.changed(
      `${field}.budget_duration`,
      `"${duration!.slice(0, 20)}" has no counterpart: the limit stays, and never begins anew`,
    );
  } else if (!isCalendarEnd(period, textOf(row.budget_reset_at))) {
    report.changed(`${field}.budget_duration`, `${period}, from the start of a calendar day in UTC`);
  }
  return { budget: { limit_usd: limit, period: period ?? 'never' }, openingUsd };
}

/** null where there is no limit. What is no amount must not become "no limit". */
function limitOf(report: ImportReport, value: unknown, field: string): string | null {
  if (value === null || value === undefined) return null;
  const limit = usdOf(value);
  if (limit === null) {
    report.changed(field, `${JSON.stringify(value).slice(0, 40)} is no amount above zero: the limit is 0`);
    return '0';
  }
  if (atMost(limit) !== limit) report.changed(field, `the highest limit, ${mostUsd}`);
  return atMost(limit);
}

const atMost = (usd: string) => (usd.split('.')[0]!.length > mostUsd.length ? mostUsd : usd);

/** Limits of a key a minute, not above those of its account, which bind the key there. */
export function keyRates(
  report: ImportReport,
  stated: { requests: number | null; tokens: number | null },
  { bounds, fields }: { bounds: RateBounds; fields: { requests: string; tokens: string } },
) {
  const within = (kind: 'requests' | 'tokens', most: number): number | null => {
    const limit = stated[kind];
    if (limit === null || limit <= most) return limit;
    report.changed(
      fields[kind],
      `${limit} ${kind} a minute are more than the account’s limit of ${most}, which holds: raise limits.key_${kind}_per_minute`,
    );
    return null;
  };
  return {
    requestsPerMinute: within('requests', bounds.requestsPerMinute),
    tokensPerMinute: within('tokens', bounds.tokensPerMinute),
  };
}

export function slugOf(alias: string): string {
  return (
    alias
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, 40)
      .replace(/^-+|-+$/g, '') || 'organisation'
  );
}

/** `slug-2` where another has the slug already. */
export function unusedSlug(slug: string, taken: ReadonlySet<string>): string {
  for (let n = 1; ; n++) {
    const each = n === 1 ? slug : `${slug}-${n}`;
    if (!taken.has(each)) return each;
  }
}

export function unusedName(stated: string, taken: ReadonlySet<string>): string {
  const base = stated === 'default' ? 'default (imported)' : stated;
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base} (${n})`;
    if (!taken.has(name)) return name;
  }
}

/** A name as the admin API takes it: without control characters, not blank, and not too long. */
export function nameOf(stated: string | null, max = 100): string {
  const plain = (stated ?? '').replace(/\p{Cc}/gu, ' ').trim();
  return Array.from(plain).slice(0, max).join('').trim() || 'imported';
}

/** The source's id, by which a second run finds what the first has made. */
export function sourceId(id: unknown): string {
  const text = String(id);
  const isPlain = text !== '' && text.length <= idMax && !text.includes('\0');
  return isPlain ? text : `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** The most models that a key can be limited to. */
export const allowedMax = 200;

const emailForm = /^([A-Za-z0-9_'+-]+\.)*[A-Za-z0-9_'+-]*[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/;

/** In lower case; null for what is no email address. */
export function emailOf(value: unknown): string | null {
  const text = (textOf(value) ?? '').trim();
  return text.length <= 254 && emailForm.test(text) ? text.toLowerCase() : null;
}
