/** Reads the dates of catalogue files. All are of UTC. */
import { field } from '../base/yaml-fields.js';

export const dayMs = 86_400_000;

/** A figure that is older than this is to be looked at again. */
export const oldDays = 90;

/** Whether a date of the catalogue, if it is one, is so old. */
export function isOld(date: string | null, atMs: number): boolean {
  const dateAtMs = date === null ? undefined : dateMs(date);
  return dateAtMs !== undefined && atMs - dateAtMs > oldDays * dayMs;
}

const pattern = /^(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?$/;

/** The first moment that a date may mean, in epoch milliseconds; undefined where it is no date of the calendar. */
export function dateMs(written: string): number | undefined {
  const match = pattern.exec(written);
  if (!match) return undefined;
  const [, year, month = '01', day = '01'] = match;
  const atMs = Date.parse(`${year}-${month}-${day}T00:00:00Z`);
  return new Date(atMs).toISOString().startsWith(`${year}-${month}-${day}`) ? atMs : undefined;
}

/** The first moment of a whole date such as 2026-11-21. */
export function dayMsOf(value: unknown): number | undefined {
  return typeof value === 'string' && value.length === 10 ? dateMs(value) : undefined;
}

export function dayText(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** A day of the calendar, as text. */
export const day = field('a date of the calendar such as 2026-11-21', (value) =>
  dayMsOf(value) === undefined ? undefined : (value as string),
);

/** A day, a month or a year, as text. */
export const partialDate = field('a date such as 2026-08-21, 2026-08 or 2026', (value) =>
  typeof value === 'string' && dateMs(value) !== undefined ? value : undefined,
);
