/** The kinds of fields in configuration and catalogue files. Each names what it expects in its fault. */
import { z } from 'zod';
import { parseDurationMs } from './time.js';

/** One field: `read` returns its value, or undefined where it is not `expected`. A secret is never quoted. */
export function field<T>(expected: string, read: (value: unknown) => T | undefined, secret = false) {
  return z.unknown().transform((value, context): T => {
    const result = read(value);
    if (result !== undefined) return result;
    context.addIssue({ code: 'custom', message: expected, params: { secret } });
    return z.NEVER;
  });
}

/** A mapping with these fields and no others. */
export function fields<Shape extends z.ZodRawShape>(shape: Shape) {
  const names = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? names : `a mapping with the fields ${names}`),
  });
}

export function listOf<Item extends z.ZodType>(item: Item, what: string) {
  return z.array(item, { error: `a list of ${what}` });
}

export const anything = z.unknown();

export const text = field('a text', (value) => (typeof value === 'string' && value.trim() !== '' ? value : undefined));

/** `true` and `false` may also be text, because environment variables are text. */
export const yesOrNo = field('true or false', (value) => {
  if (value === true || value === 'true') return true;
  return value === false || value === 'false' ? false : undefined;
});

export function integerFrom(min: number, max = Number.MAX_SAFE_INTEGER) {
  const expected =
    max === Number.MAX_SAFE_INTEGER ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`;
  return field(expected, (value) => {
    const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
    return Number.isSafeInteger(number) && (number as number) >= min && (number as number) <= max
      ? (number as number)
      : undefined;
  });
}

export function numberFrom(min: number, max = Number.MAX_VALUE) {
  const expected = max === Number.MAX_VALUE ? `a number of at least ${min}` : `a number from ${min} to ${max}`;
  return field(expected, (value) => (typeof value === 'number' && value >= min && value <= max ? value : undefined));
}

export function oneOf<const Values extends readonly string[]>(values: Values) {
  return field<Values[number]>(`one of: ${values.join(', ')}`, (value) =>
    typeof value === 'string' && values.includes(value) ? value : undefined,
  );
}

/** The longest delay that a timer of the runtime can hold. */
const durationMsMax = 2 ** 31 - 1;

export const duration = field('a duration above zero, such as 250ms, 30s or 1m30s', (value) => {
  const ms = typeof value === 'string' ? parseDurationMs(value) : undefined;
  return ms !== undefined && ms >= 1 && ms <= durationMsMax ? Math.round(ms) : undefined;
});

const unitBytes: Record<string, number> = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

export const byteSize = field('a size above zero, such as 512MiB, 2GiB or a number of bytes', (value) => {
  const [, digits, unit = ''] = /^(\d{1,15})\s*([KMG]iB)?$/.exec(String(value)) ?? [];
  const bytes = Number(digits) * (unitBytes[unit] ?? Number.NaN);
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined;
});

/** Without a trailing slash, because paths are appended. */
export const httpAddress = field('an http:// or https:// address without query, fragment and credentials', (value) => {
  const url =
    typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value) ? new URL(value) : undefined;
  if (!url || url.username || url.password || /[?#\s]/.test(value as string)) return undefined;
  return (value as string).replace(/\/+$/, '');
});

/** A credential that fits into a header. Surrounding blanks, such as a file's last line break, are dropped. */
export function readCredential(value: unknown): string | undefined {
  const credential = typeof value === 'string' ? value.trim() : '';
  return /^[\x21-\x7e]+$/.test(credential) ? credential : undefined;
}
export const credential = field('a credential of visible ASCII characters', readCredential, true);

/** Whether a text can be the provider segment of an id. `auto` and `alias` have a meaning in ids, so they cannot. */
export function isProviderId(value: string): boolean {
  return /^[a-z0-9._-]{1,64}$/.test(value) && value !== 'auto' && value !== 'alias';
}
export const providerIdExpected = 'a provider id of a-z, 0-9, ".", "_" and "-", other than auto and alias';

/** ISO 3166-1 alpha-2, in upper case. */
export const country = field('an ISO 3166-1 code of two letters', (value) =>
  typeof value === 'string' && /^[a-z]{2}$/i.test(value) ? value.toUpperCase() : undefined,
);

/** ISO 3166-1 alpha-2 or ISO 3166-2, in upper case. */
export const territory = field('an ISO 3166-1 or 3166-2 code, such as CU or UA-43', (value) =>
  typeof value === 'string' && /^[a-z]{2}(-[a-z0-9]{1,3})?$/i.test(value) ? value.toUpperCase() : undefined,
);
