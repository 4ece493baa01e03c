/** Formats counts, durations and shares in the reader's locale; an unknown value is a dash. */
import { locale } from './locale.js';

const counts = new Intl.NumberFormat(locale);
const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 });
const shares = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });

export const unknown = '–';

export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? unknown : counts.format(value);
}

export function shortCount(value: number): string {
  return value < 10_000 ? counts.format(value) : compact.format(value);
}

export function share(part: number, whole: number): string {
  return shares.format(whole === 0 ? 0 : part / whole);
}

export function percent(value: number | null): string {
  return value === null ? unknown : shares.format(value);
}

export function milliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return unknown;
  if (value < 10) return `${Math.round(value * 10) / 10} ms`;
  if (value < 1000) return `${Math.round(value)} ms`;
  return `${(value / 1000).toFixed(value < 10_000 ? 2 : 1)} s`;
}

/** A median or percentile of many: it is true to within a twentieth, so two digits of it are shown. */
export function roughMilliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined || value < 100) return milliseconds(value);
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1);
  const rounded = Math.round(value / unit) * unit;
  return rounded < 1000 ? `${rounded} ms` : `${rounded / 1000} s`;
}

export function carbon(value: number | null | undefined): string {
  return value === null || value === undefined ? unknown : `${counts.format(Math.round(value))} g`;
}

/** From here on a factor is easier to read than per cent. */
const factorFrom = 10;

/** The change from the previous period; null without one. */
export function change(now: number, before: number): { text: string; up: boolean } | null {
  if (before === 0 || now === before) return null;
  if (now / before >= factorFrom) return { text: `× ${shortCount(Math.round(now / before))}`, up: true };
  const ratio = (now - before) / before;
  const sign = ratio > 0 ? '+' : '−';
  return { text: `${sign}${shares.format(Math.abs(ratio))}`, up: ratio > 0 };
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${counts.format(value)} ${value === 1 ? one : many}`;
}
