/**
 * Reads when a new key expires: `90d`, `12mo`, `never` or an RFC 3339 time. The default is 90 days, the maximum 12 months.
 */
import type { JsonSchema } from '../../base/json-schema.js';
import { gatewayError } from '../../errors/gateway-error.js';

const dayMs = 86_400_000;
const defaultDays = 90;
const monthsMax = 12;
const days = /^(\d{1,5})d$/;
const months = /^(\d{1,3})mo$/;
const rfc3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** The texts that `parseExpiry` accepts. The clock decides whether a time is in the future and within 12 months. */
export const expirySchema: JsonSchema = {
  anyOf: [
    { const: 'never' },
    { type: 'string', pattern: '^0{0,2}([1-9]|[1-9][0-9]|[12][0-9][0-9]|3[0-5][0-9]|36[0-6])d$' },
    { type: 'string', pattern: '^0?([1-9]|1[0-2])mo$' },
    { type: 'string', format: 'date-time' },
  ],
};

/** Epoch milliseconds, or null for a key that never expires. */
export function parseExpiry(text: string | null | undefined, nowMs: number, isBounded = true): number | null {
  if (text === 'never') return null;
  const expiresAt = text === undefined || text === null ? nowMs + defaultDays * dayMs : expiryOf(text, nowMs);
  if (expiresAt === undefined) throw invalid(text, 'but must be like "90d" or "12mo", "never" or an RFC 3339 time');
  if (expiresAt <= nowMs) throw invalid(text, 'but must be in the future');
  if (isBounded && expiresAt > addCalendarMonths(nowMs, monthsMax))
    throw invalid(text, 'but must be at most 12 months ahead, or "never"');
  return expiresAt;
}

function expiryOf(text: string, nowMs: number): number | undefined {
  const inDays = days.exec(text);
  if (inDays) return nowMs + Number(inDays[1]) * dayMs;
  const inMonths = months.exec(text);
  if (inMonths) return addCalendarMonths(nowMs, Number(inMonths[1]));
  return instantOf(text);
}

/** Adds calendar months: the same day and time, or the month's last day where it has no such day. */
export function addCalendarMonths(fromMs: number, count: number): number {
  const date = new Date(fromMs);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + count);
  date.setUTCDate(Math.min(day, daysInMonth(date.getUTCFullYear(), date.getUTCMonth())));
  return date.getTime();
}

function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
}

/** Date.parse alone would roll 30 February over into March. */
function instantOf(text: string): number | undefined {
  const match = rfc3339.exec(text);
  if (!match) return undefined;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month - 1)) return undefined;
  const instant = Date.parse(text.toUpperCase().replace(' ', 'T'));
  return Number.isNaN(instant) ? undefined : instant;
}

function invalid(text: string | null | undefined, rule: string) {
  return gatewayError('field_invalid', {
    param: 'expires',
    reason: `is ${JSON.stringify(text).slice(0, 60)}, ${rule}`,
  });
}
