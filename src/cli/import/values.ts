/** Reads the values of other systems: amounts that are floats there, periods as text, fields of unknown shape. */
import type { BudgetPeriod } from '../../domain/organisation.js';

export type Fields = Record<string, unknown>;

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

const decimals = 12;

/** A float by its shortest decimal text, rounded half up to pico-dollars. null for what is no amount. */
export function usdOf(value: unknown): string | null {
  if (typeof value !== 'number' && typeof value !== 'string') return null;
  const plain = decimalOf(String(value));
  return plain === null ? null : rounded(plain, decimals);
}

/** The price of a million tokens from the price of one, as decimal text. */
export function perMillion(value: unknown): string | null {
  if (typeof value !== 'number' && typeof value !== 'string') return null;
  const plain = decimalOf(String(value), 6);
  return plain === null ? null : rounded(plain, decimals);
}

/** A decimal without an exponent, its point moved to the right. */
function decimalOf(text: string, shift = 0): string | null {
  const match = /^(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i.exec(text.trim());
  if (!match || `${match[1]}${match[2] ?? ''}` === '') return null;
  const [whole, fraction, exponent] = [match[1]!, match[2] ?? '', Number(match[3] ?? 0) + shift];
  const digits = whole + fraction;
  const point = whole.length + exponent;
  const left = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  const right = point >= 0 ? digits.slice(point) : '0'.repeat(-point) + digits;
  return `${left.replace(/^0+(?=\d)/, '') || '0'}.${right || '0'}`;
}

function rounded(plain: string, places: number): string {
  const [whole, fraction = ''] = plain.split('.');
  const kept = fraction.slice(0, places).padEnd(places, '0');
  const up = (fraction[places] ?? '0') >= '5' ? 1n : 0n;
  const total = (BigInt(whole + kept) + up).toString().padStart(places + 1, '0');
  const shown = total.slice(-places).replace(/0+$/, '');
  return shown === '' ? total.slice(0, -places) : `${total.slice(0, -places)}.${shown}`;
}

const periods: Record<string, BudgetPeriod> = {
  ...{
    '1d': 'daily',
    '24h': 'daily',
    '7d': 'weekly',
    '1w': 'weekly',
    '30d': 'monthly',
    '1mo': 'monthly',
    '1M': 'monthly',
  },
};

/** A period of another system; `never` for none, undefined for one that has no counterpart. */
export function periodOf(text: string | null): BudgetPeriod | undefined {
  return text === null ? 'never' : periods[text];
}

/** Whether a period that ends at a moment began at the start of a calendar day, week or month. */
export function isCalendarEnd(period: BudgetPeriod, endsAt: string | null): boolean {
  if (period === 'never') return true;
  if (endsAt === null) return false;
  const at = new Date(endsAt);
  if (Number.isNaN(at.getTime()) || at.getTime() % 86_400_000 !== 0) return false;
  if (period === 'weekly') return at.getUTCDay() === 1;
  return period === 'daily' || at.getUTCDate() === 1;
}

/** A whole number above zero; null otherwise. */
export function countOf(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : null;
}
