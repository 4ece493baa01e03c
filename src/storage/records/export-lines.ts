/**
 * Writes rows of a binary COPY as lines of JSON or CSV. PostgreSQL needs three times as long for a line as for the row itself, and this
 * process would only wait meanwhile. Bytes are written straight into the buffer that the reader gets.
 */
import type { CopyReader } from './copy-out.js';

/**
 * How a column is sent and written. `json` is text that is JSON already, `pico` a whole number of pico-dollars that is written as dollars,
 * and `ms` a time in epoch milliseconds.
 */
export type ColumnType = 'text' | 'json' | 'integer' | 'float' | 'boolean' | 'pico' | 'ms';

export interface LineColumn {
  name: string;
  type: ColumnType;
}

const bufferBytes = 1 << 18;
/** The most that a value of a fixed length is written as: a time in quotes. */
const fixedBytes = 48;
/** A byte of text is written as at most six, such as \u0001. */
const growth = 6;
/** Signature, flags and the length of an extension, which has never been used. */
const headerBytes = 19;
const dayMs = 86_400_000;
const [quote, backslash, comma, lineFeed, carriageReturn, zero] = [0x22, 0x5c, 0x2c, 0x0a, 0x0d, 0x30];
const shortEscapes = new Map<number, string>([8, 9, 10, 12, 13].map((byte, index) => [byte, `\\${'btnfr'[index]}`]));

export class LineWriter implements CopyReader {
  #buffer = new Uint8Array(bufferBytes);
  #at = 0;
  #begun = false;
  readonly #asJson: boolean;
  readonly #types: readonly ColumnType[];
  /** What stands before each value, and after the last one. */
  readonly #leads: readonly Uint8Array[];
  readonly #last: Uint8Array;
  readonly #leadBytes: number;

  constructor(columns: readonly LineColumn[], format: 'ndjson' | 'csv') {
    this.#asJson = format === 'ndjson';
    this.#types = columns.map(({ type }) => type);
    const encoder = new TextEncoder();
    this.#leads = columns.map(({ name }, index) =>
      encoder.encode(this.#asJson ? `${index === 0 ? '{' : ','}"${name}":` : index === 0 ? '' : ','),
    );
    this.#last = encoder.encode(this.#asJson ? '}\n' : '\n');
    this.#leadBytes = this.#leads.reduce((sum, lead) => sum + lead.length + fixedBytes, this.#last.length);
    if (!this.#asJson) this.#at = ascii(this.#buffer, 0, `${columns.map(({ name }) => name).join(',')}\n`);
  }

  /** A message has one row. A count of -1 is the end. */
  take(message: Buffer): Buffer | null {
    // As a plain array of bytes, which is read faster than a Buffer.
    const row = new Uint8Array(message.buffer, message.byteOffset, message.length);
    const most = this.#leadBytes + row.length * growth;
    const full = this.#buffer.length - this.#at < most ? this.#flush(most) : null;
    const start = this.#begun ? 0 : headerBytes;
    this.#begun = true;
    if (row[start]! < 0x80) this.#writeRow(row, start + 2);
    return full;
  }

  end(): Buffer | null {
    return this.#at === 0 ? null : this.#flush(0);
  }

  #flush(next: number): Buffer {
    const full = Buffer.from(this.#buffer.buffer, 0, this.#at);
    this.#buffer = new Uint8Array(Math.max(next, bufferBytes));
    this.#at = 0;
    return full;
  }

  /** The loops are written out, because calls for every value take longer than the copying. */
  #writeRow(row: Uint8Array, start: number): void {
    const [buffer, types, leads, asJson] = [this.#buffer, this.#types, this.#leads, this.#asJson];
    let at = this.#at;
    let from = start;
    for (let i = 0; i < types.length; i++) {
      const lead = leads[i]!;
      for (let j = 0; j < lead.length; j++) buffer[at++] = lead[j]!;
      const length = int32(row, from);
      from += 4;
      if (length < 0) {
        if (asJson) at = ascii(buffer, at, 'null');
        continue;
      }
      const to = from + length;
      const type = types[i]!;
      if (type === 'text' || type === 'json') {
        const quoted = asJson ? type === 'text' : needsQuotes(row, from, to);
        if (quoted) {
          const before = asJson ? backslash : quote;
          buffer[at++] = quote;
          for (let j = from; j < to; j++) {
            const byte = row[j]!;
            if (byte === quote || (asJson && byte === backslash)) buffer[at++] = before;
            else if (byte < 0x20 && asJson) {
              at = ascii(buffer, at, shortEscapes.get(byte) ?? `\\u${byte.toString(16).padStart(4, '0')}`);
              continue;
            }
            buffer[at++] = byte;
          }
          buffer[at++] = quote;
        } else for (let j = from; j < to; j++) buffer[at++] = row[j]!;
      } else if (type === 'integer') {
        at = integer(buffer, at, length === 4 ? int32(row, from) : int64(row, from));
      } else if (asJson && (type === 'pico' || type === 'ms')) {
        buffer[at++] = quote;
        at = ascii(buffer, at, textOf(type, row, from));
        buffer[at++] = quote;
      } else at = ascii(buffer, at, textOf(type, row, from));
      from = to;
    }
    const last = this.#last;
    for (let j = 0; j < last.length; j++) buffer[at++] = last[j]!;
    this.#at = at;
  }
}

/** An empty text is quoted, because nothing at all stands for null. */
function needsQuotes(row: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const byte = row[i]!;
    if (byte === comma || byte === quote || byte === lineFeed || byte === carriageReturn) return true;
  }
  return from === to;
}

const int16 = (row: Uint8Array, at: number): number => (row[at]! << 8) | row[at + 1]!;

const int32 = (row: Uint8Array, at: number): number =>
  (row[at]! << 24) | (row[at + 1]! << 16) | (row[at + 2]! << 8) | row[at + 3]!;

/** Exact up to 2^53, which no count of tokens and no time reaches. */
const int64 = (row: Uint8Array, at: number): number => int32(row, at) * 2 ** 32 + (int32(row, at + 4) >>> 0);

/** Returns where the next byte goes. */
function ascii(buffer: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) buffer[at + i] = text.charCodeAt(i);
  return at + text.length;
}

function integer(buffer: Uint8Array, at: number, value: number): number {
  if (value < 0 || value > 0x7fffffff) return ascii(buffer, at, String(value));
  let end = at + 1;
  for (let rest = value; rest >= 10; rest = (rest / 10) | 0) end++;
  let rest = value | 0;
  for (let i = end - 1; i >= at; i--) {
    const tenth = (rest / 10) | 0;
    buffer[i] = zero + rest - tenth * 10;
    rest = tenth;
  }
  return end;
}

function textOf(type: ColumnType, row: Uint8Array, from: number): string {
  if (type === 'pico') return dollarsOf(row, from);
  if (type === 'ms') return timeOf(int64(row, from));
  if (type === 'boolean') return row[from] === 1 ? 'true' : 'false';
  for (let i = 0; i < 8; i++) doubleBytes[i] = row[from + 7 - i]!;
  return String(double[0]);
}

/** Doubles are sent with the highest byte first; every machine that Node runs on has the lowest first. */
const double = new Float64Array(1);
const doubleBytes = new Uint8Array(double.buffer);

let lastDay = Number.NaN;
let lastDate = '';

/** Rows come in the order of time, so the date is mostly that of the row before. */
function timeOf(ms: number): string {
  const day = Math.floor(ms / dayMs);
  if (day !== lastDay) {
    lastDay = day;
    lastDate = new Date(day * dayMs).toISOString().slice(0, 11);
  }
  const rest = ms - day * dayMs;
  const [hours, minutes, seconds] = [
    Math.floor(rest / 3_600_000),
    Math.floor(rest / 60_000) % 60,
    Math.floor(rest / 1000) % 60,
  ];
  return `${lastDate}${two[hours]}:${two[minutes]}:${two[seconds]}.${three[rest % 1000]}Z`;
}

const two = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'));
const three = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0'));
const four = Array.from({ length: 10_000 }, (_, number) => String(number).padStart(4, '0'));

/**
 * The dollars of a numeric that counts pico-dollars. A numeric is sent in digits of 10,000, so its last three are the twelve decimals,
 * and no arithmetic is needed.
 */
function dollarsOf(row: Uint8Array, from: number): string {
  const [count, weight] = [int16(row, from), (int16(row, from + 2) << 16) >> 16];
  const digit = (power: number): number => {
    const index = weight - power;
    return index >= 0 && index < count ? int16(row, from + 8 + 2 * index) : 0;
  };
  let text = int16(row, from + 4) === 0x4000 ? '-' : '';
  text += String(digit(Math.max(weight, 3)));
  for (let power = weight - 1; power >= 3; power--) text += four[digit(power)];
  const decimals = `${four[digit(2)]}${four[digit(1)]}${four[digit(0)]}`;
  let end = decimals.length;
  while (end > 0 && decimals.charCodeAt(end - 1) === 0x30) end--;
  return end === 0 ? text : `${text}.${decimals.slice(0, end)}`;
}
