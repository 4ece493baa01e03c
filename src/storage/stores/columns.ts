/** Column types that give the records' own: amounts as bigint, times as epoch milliseconds, text that PostgreSQL can keep. */
import { customType } from 'drizzle-orm/pg-core';

/** PostgreSQL keeps every character but U+0000; a name that holds one must not make its record unwritable. */
export function withoutNul(text: string): string {
  return text.includes('\u0000') ? text.replaceAll('\u0000', '') : text;
}

/** JSON for a column, without the one character that PostgreSQL cannot give back as text. */
export function jsonWithoutNul(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\u0000')) return text;
  return JSON.stringify(value, (_name, inner) => (typeof inner === 'string' ? withoutNul(inner) : inner));
}

export const cleanText = customType<{ data: string; driverData: string }>({
  dataType: () => 'text',
  toDriver: withoutNul,
});

/** Pico-dollars (ruling 9). */
export const pico = customType<{ data: bigint; driverData: string }>({
  dataType: () => 'numeric(38,0)',
  toDriver: (amount) => amount.toString(),
  fromDriver: (text) => BigInt(text),
});

export const epochMs = customType<{ data: number; driverData: string }>({
  dataType: () => 'timestamp with time zone',
  toDriver: (ms) => new Date(ms).toISOString(),
  fromDriver: (text) => Date.parse(text),
});

export const bytes = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' });

export const cleanJson = customType<{ data: unknown; driverData: string }>({
  dataType: () => 'json',
  toDriver: jsonWithoutNul,
});

/** JSON that is only ever read whole: as text it costs the server no check, and it may hold every character. */
export const jsonText = customType<{ data: unknown; driverData: string }>({
  dataType: () => 'text',
  toDriver: (value) => JSON.stringify(value),
  fromDriver: (text) => JSON.parse(text),
});
