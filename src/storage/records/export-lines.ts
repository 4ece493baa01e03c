/**
 * Writes rows of a binary COPY as lines of JSON or CSV. PostgreSQL needs five times as long for a line of JSON as for the row itself, and
 * this process would only wait meanwhile. Bytes are written straight into the buffer that the reader gets.
 */
import type { CopyReader } from './copy-out.js';
import {
  float64,
  int32,
  int64,
  writeAscii,
  writeDollars,
  writeFloat,
  writeInteger,
  writeTime,
} from './export-values.js';

/**
 * How a column is sent and written. `json` is text that is JSON already, `pico` a whole number of pico-dollars that is written as dollars,
 * `ms` a time in epoch milliseconds, and `ready` what stands in the line as it is.
 */
const types = ['text', 'json', 'integer', 'float', 'boolean', 'pico', 'ms', 'ready'] as const;
/** Places in `types`. */
const [text, json, integer, float, pico, ready] = [0, 1, 2, 3, 5, 7] as const;
export type ColumnType = (typeof types)[number];

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
export const copyHeaderBytes = 19;
const [quote, apostrophe, backslash, comma, lineFeed, carriageReturn] = [0x22, 0x27, 0x5c, 0x2c, 0x0a, 0x0d];
const shortEscapes = new Map<number, string>([8, 9, 10, 12, 13].map((byte, index) => [byte, `\\${'btnfr'[index]}`]));

/** 1 for the bytes that cannot stand in a JSON string, and for those that need quotes in CSV. */
const escaped = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(byte < 0x20 || byte === quote || byte === backslash),
);
/** What a spreadsheet takes for a formula begins with one of these. No JSON text of a column does. */
const formula = Uint8Array.from({ length: 256 }, (_, byte) => Number('=+-@\t\r'.includes(String.fromCharCode(byte))));
const separating = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number([quote, comma, lineFeed, carriageReturn].includes(byte)),
);

export class LineWriter implements CopyReader {
  #buffer = new Uint8Array(bufferBytes);
  #at = 0;
  #begun = false;
  readonly #asJson: boolean;
  readonly #kinds: Uint8Array;
  /** What stands before each value of JSON, one after another, and where each ends. */
  readonly #leads: Uint8Array;
  readonly #leadEnds: Uint32Array;
  readonly #fixedBytes: number;

  constructor(columns: readonly LineColumn[], format: 'ndjson' | 'csv') {
    this.#asJson = format === 'ndjson';
    this.#kinds = Uint8Array.from(columns, ({ type }) => types.indexOf(type));
    const leads = columns.map(({ name }, index) => `${index === 0 ? '{' : ','}"${name}":`);
    this.#leads = new TextEncoder().encode(leads.join(''));
    this.#leadEnds = Uint32Array.from(leads, (_, index) => leads.slice(0, index + 1).join('').length);
    this.#fixedBytes = this.#leads.length + columns.length * fixedBytes;
    if (!this.#asJson) this.#at = writeAscii(this.#buffer, 0, `${columns.map(({ name }) => name).join(',')}\n`);
  }

  /** A message has one row. A count of -1 is the end. */
  take(row: Buffer): Buffer | null {
    const most = this.#fixedBytes + row.length * growth;
    const full = this.#buffer.length - this.#at < most ? this.#flush(most) : null;
    const start = this.#begun ? 0 : copyHeaderBytes;
    this.#begun = true;
    if (row[start]! >= 0x80) return full;
    const target = {
      ...{ buffer: this.#buffer, at: this.#at, kinds: this.#kinds, leads: this.#leads, leadEnds: this.#leadEnds },
    };
    this.#at = this.#asJson ? writeJsonRow(target, row, start + 2) : writeCsvRow(target, row, start + 2);
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
}

/** What a row is written with. */
interface Target {
  readonly buffer: Uint8Array;
  readonly at: number;
  readonly kinds: Uint8Array;
  readonly leads: Uint8Array;
  readonly leadEnds: Uint32Array;
}

/** One function for each format, so that the engine compiles each for what it does. */
function writeJsonRow({ buffer, at: start, kinds, leads, leadEnds }: Target, row: Buffer, first: number): number {
  let [at, from, lead] = [start, first, 0];
  for (let i = 0; i < kinds.length; i++) {
    const leadEnd = leadEnds[i]!;
    while (lead < leadEnd) buffer[at++] = leads[lead++]!;
    const length = int32(row, from);
    from += 4;
    if (length < 0) {
      at = writeAscii(buffer, at, 'null');
      continue;
    }
    const to = from + length;
    const kind = kinds[i]!;
    if (kind === text) at = writeJsonText(buffer, at, row, from, to);
    else if (kind === json) for (let j = from; j < to; j++) buffer[at++] = row[j]!;
    else if (kind < pico) at = writePlain(buffer, at, row, from, length, kind);
    else if (kind === ready) at += row.copy(buffer, at, from, to);
    else {
      buffer[at++] = quote;
      at = kind === pico ? writeDollars(buffer, at, row, from) : writeTime(buffer, at, int64(row, from));
      buffer[at++] = quote;
    }
    from = to;
  }
  buffer[at++] = 0x7d;
  buffer[at++] = lineFeed;
  return at;
}

function writeCsvRow({ buffer, at: start, kinds }: Target, row: Buffer, first: number): number {
  let [at, from] = [start, first];
  for (let i = 0; i < kinds.length; i++) {
    if (i > 0) buffer[at++] = comma;
    const length = int32(row, from);
    from += 4;
    if (length < 0) continue;
    const to = from + length;
    const kind = kinds[i]!;
    if (kind <= json) at = writeCsvText(buffer, at, row, from, to);
    else if (kind < pico) at = writePlain(buffer, at, row, from, length, kind);
    else if (kind === ready) at += row.copy(buffer, at, from, to);
    else at = kind === pico ? writeDollars(buffer, at, row, from) : writeTime(buffer, at, int64(row, from));
    from = to;
  }
  buffer[at++] = lineFeed;
  return at;
}

/** A number or a truth value, which both formats write alike. */
function writePlain(
  ...[buffer, at, row, from, length, kind]: [Uint8Array, number, Uint8Array, number, number, number]
): number {
  if (kind === integer) return writeInteger(buffer, at, length === 4 ? int32(row, from) : int64(row, from));
  if (kind === float) return writeFloat(buffer, at, float64(row, from));
  return writeAscii(buffer, at, row[from] === 1 ? 'true' : 'false');
}

function writeJsonText(buffer: Uint8Array, start: number, row: Uint8Array, from: number, to: number): number {
  let at = start;
  buffer[at++] = quote;
  for (let i = from; i < to; i++) {
    const byte = row[i]!;
    if (escaped[byte] === 0) buffer[at++] = byte;
    else if (byte >= 0x20) {
      buffer[at++] = backslash;
      buffer[at++] = byte;
    } else at = writeAscii(buffer, at, shortEscapes.get(byte) ?? `\\u${byte.toString(16).padStart(4, '0')}`);
  }
  buffer[at++] = quote;
  return at;
}

/** An empty text is quoted, because nothing at all stands for null. A formula gets an apostrophe before it. */
function writeCsvText(buffer: Uint8Array, start: number, row: Uint8Array, from: number, to: number): number {
  let at = start;
  let isSeparating = from === to ? 1 : 0;
  const isFormula = isSeparating === 0 && formula[row[from]!] === 1;
  if (isFormula) buffer[at++] = apostrophe;
  for (let i = from; i < to; i++) {
    const byte = row[i]!;
    isSeparating |= separating[byte]!;
    buffer[at++] = byte;
  }
  if (isSeparating === 0) return at;
  at = start;
  buffer[at++] = quote;
  if (isFormula) buffer[at++] = apostrophe;
  for (let i = from; i < to; i++) {
    const byte = row[i]!;
    if (byte === quote) buffer[at++] = quote;
    buffer[at++] = byte;
  }
  buffer[at++] = quote;
  return at;
}
