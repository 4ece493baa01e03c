/** Dates and times in the reader's locale and time zone. */
import { locale } from './locale.js';

const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
const times = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
const exact = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
const days = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric' });
const hours = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' });
const dayHours = new Intl.DateTimeFormat(locale, { weekday: 'short', hour: '2-digit', minute: '2-digit' });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });

export const date = (iso: string) => dates.format(new Date(iso));
export const dateTime = (iso: string) => times.format(new Date(iso));
const rowTimes = new Intl.DateTimeFormat(locale, {
  ...{ month: 'short', day: '2-digit', hour: '2-digit', minute: '2-digit' },
});
/** In a list of requests: without the year. */
export const rowTime = (iso: string) => rowTimes.format(new Date(iso));
export const exactTime = (iso: string) => exact.format(new Date(iso));

const utcDates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });
/** A day of the catalogue, which is of UTC. A month or a year stays as it is. */
export const dateText = (written: string) =>
  /^\d{4}-\d\d-\d\d$/.test(written) ? utcDates.format(new Date(written)) : written;

/** A day of UTC, such as the end of a budget's period. */
export const utcDay = (at: number) => utcDates.format(new Date(at));

/** A point of a series, as precise as its step. */
export function stepLabel(at: number, stepSeconds: number): string {
  const moment = new Date(at * 1000);
  if (stepSeconds >= 86_400) return days.format(moment);
  return stepSeconds >= 21_600 ? dayHours.format(moment) : hours.format(moment);
}

const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** `in 3 months`, `2 hours ago`, `now`. Rounded, so that a new key of 90 days expires in three months, not two. */
export function fromNow(iso: string, now = Date.now()): string {
  const seconds = (Date.parse(iso) - now) / 1000;
  for (const [unit, size] of units) {
    if (Math.abs(seconds) >= size) return relative.format(Math.round(seconds / size), unit);
  }
  return relative.format(0, 'second');
}
