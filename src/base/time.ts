/** Clocks and durations. Wall time is for records and calendar deadlines; monotonic time is for durations. */
import { performance } from 'node:perf_hooks';

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds from an arbitrary start; never goes back. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** Durations as written in the configuration (`250ms`, `1m30s`) and in the message of a 504 (Go's form). */
const part = /(\d+(?:\.\d+)?)(ms|h|m|s)/gy;
const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** The milliseconds of a duration text; undefined where it is not a duration. */
export function parseDurationMs(text: string): number | undefined {
  part.lastIndex = 0;
  let total = 0;
  let end = 0;
  for (let match = part.exec(text); match; match = part.exec(text)) {
    total += Number(match[1]) * unitMs[match[2] as keyof typeof unitMs];
    end = part.lastIndex;
  }
  return text.length > 0 && end === text.length ? total : undefined;
}

/** Go's form: `30s`, `1m30s`, `5m0s`, `1h0m0s`, `250ms`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${trim(ms)}ms`;
  const hours = Math.floor(ms / unitMs.h);
  const minutes = Math.floor((ms % unitMs.h) / unitMs.m);
  const seconds = trim((ms % unitMs.m) / 1000);
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}

function trim(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}

/** Daily quotas begin at midnight UTC. The local time zone does not matter. */
const dayMs = 86_400_000;

/** Whole days since the epoch. */
export function utcDay(nowMs: number): number {
  return Math.floor(nowMs / dayMs);
}

/** The midnight at which a day begins, in epoch milliseconds. */
export function startOfUtcDay(day: number): number {
  return day * dayMs;
}

/** The first midnight UTC after the given moment, in epoch milliseconds. */
export function nextMidnightUtc(nowMs: number): number {
  return startOfUtcDay(utcDay(nowMs) + 1);
}

/** Whole seconds until then, 1 to 86400. Whoever waits that long is past it. */
export function secondsToMidnightUtc(nowMs: number): number {
  return Math.ceil((nextMidnightUtc(nowMs) - nowMs) / 1000);
}

/** Whole calendar months since the year 0, in UTC. */
export function monthOf(ms: number): number {
  const date = new Date(ms);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** The midnight at which a month begins, in epoch milliseconds. */
export function monthStart(month: number): number {
  return Date.UTC(Math.floor(month / 12), month % 12, 1);
}

const date = '(19[7-9]\\d|[2-9]\\d{3})-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])';
const offset = '(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)';
const timeOfDay = `([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d{1,9})?)?${offset}?`;
/** Both the checks and the OpenAPI document use them. */
export const datePattern = `^${date}$`;
export const instantPattern = `^${date}(T${timeOfDay})?$`;
const instantRule = new RegExp(instantPattern);
const lacksOffset = new RegExp(`T(?!.*${offset}$)`);

/** A date, or a time of RFC 3339, in epoch milliseconds. Without an offset it is UTC, in whatever time zone the process runs. */
export function instantMs(text: string): number | undefined {
  if (!instantRule.test(text) || !isCalendarDay(text)) return undefined;
  // The first day may begin before 1970 where its offset says so.
  return Math.max(0, Date.parse(lacksOffset.test(text) ? `${text}Z` : text));
}

/** Whether the date that a text begins with, such as `2026-02-28`, is one of the calendar. */
function isCalendarDay(text: string): boolean {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number);
  return new Date(Date.UTC(year!, month! - 1, day!)).getUTCDate() === day;
}
