/**
 * Writes rows of a binary COPY as lines of JSON or CSV. PostgreSQL needs five times as long for a line of JSON as for the row itself, and
 * this process would only wait meanwhile. Bytes are written straight into the buffer that the reader gets.
 */
import { BillBytes, billBytesMax, billColumns, type Target, tokenColumns } from './bill-bytes.js';
import type { CopyReader } from './copy-out.js';
import {
  int64,
  type Phrase,
  phraseOf,
  viewOf,
  wordRest,
  writeAscii,
  writeDollars,
  writeFloat,
  writeInteger,
  writePhrase,
  writeTime,
} from './export-values.js';

/**
 * How a column is sent and written. `json` is text that is JSON already, `pico` a whole number of pico-dollars that is written as dollars,
 * and `ms` a time in epoch milliseconds.
 */
const types = ['text', 'json', 'integer', 'float', 'boolean', 'pico', 'ms'] as const;
/** Places in `types`. */
const [text, json, integer, float, pico] = [0, 1, 2, 3, 5] as const;
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
  #target = targetOf(bufferBytes);
  #at = 0;
  #begun = false;
  /** The bytes that rows come in, and what reads them. */
  #bytes: Buffer = Buffer.alloc(0);
  #view = viewOf(this.#bytes);
  readonly #asJson: boolean;
  readonly #kinds: Uint8Array;
  /** What stands before each value of JSON. */
  readonly #leads: readonly Phrase[];
  readonly #fixedBytes: number;
  readonly #bill: BillBytes | null;
  /** The place of each column among the tokens of the bill, or -1. */
  readonly #places: Int8Array;

  /**
   * With `bill` the stored bill comes behind the columns, and is written as `billColumns`. What goes on behind an earlier page has no header,
   * so that it can be added to that.
   */
  constructor(columns: readonly LineColumn[], format: 'ndjson' | 'csv', bill = false, goesOn = false) {
    this.#asJson = format === 'ndjson';
    this.#kinds = Uint8Array.from(columns, ({ type }) => types.indexOf(type));
    const names = [...columns, ...(bill ? billColumns : [])].map(({ name }) => name);
    this.#leads = names.map((name, index) => phraseOf(`${index === 0 ? '{' : ','}"${name}":`));
    this.#fixedBytes = this.#leads.reduce((sum, { length }) => sum + length + fixedBytes, wordRest);
    this.#bill = bill ? new BillBytes(this.#asJson ? 'json' : 'csv') : null;
    this.#places = Int8Array.from(columns, ({ name }) => tokenColumns.indexOf(name));
    if (!this.#asJson && !goesOn) this.#at = writeAscii(this.#target.buffer, 0, `${names.join(',')}\n`);
  }

  /** A message has one row. A count of -1 is the end. */
  take(bytes: Buffer, from: number, to: number): Buffer | null {
    const length = to - from;
    const most = this.#fixedBytes + length * growth + (this.#bill ? billBytesMax(length) : 0);
    const full = this.#target.buffer.length - this.#at < most ? this.#flush(most) : null;
    if (bytes !== this.#bytes) [this.#bytes, this.#view] = [bytes, viewOf(bytes)];
    const start = from + (this.#begun ? 0 : copyHeaderBytes);
    this.#begun = true;
    if (bytes[start]! >= 0x80) return full;
    this.#at = this.#asJson ? this.#writeJsonRow(bytes, start + 2) : this.#writeCsvRow(bytes, start + 2);
    return full;
  }

  end(): Buffer | null {
    return this.#at === 0 ? null : this.#flush(0);
  }

  #flush(next: number): Buffer {
    const full = this.#target.buffer.subarray(0, this.#at);
    this.#target = targetOf(Math.max(next, bufferBytes));
    this.#at = 0;
    return full;
  }

  /** One function for each format, so that the engine compiles each for what it does. */
  #writeJsonRow(row: Buffer, first: number): number {
    const { buffer, view: target } = this.#target;
    const [view, kinds, leads] = [this.#view, this.#kinds, this.#leads];
    let [at, from] = [this.#at, first];
    for (let i = 0; i < kinds.length; i++) {
      at = writePhrase(target, at, leads[i]!);
      const length = view.getInt32(from);
      from += 4;
      if (length < 0) {
        at = writeNull(buffer, at);
        continue;
      }
      const to = from + length;
      const kind = kinds[i]!;
      if (kind === text) at = writeJsonText(buffer, at, row, from, to);
      else if (kind === json) for (let j = from; j < to; j++) buffer[at++] = row[j]!;
      else if (kind === integer) at = this.#writeInteger(buffer, at, from, length, i);
      else if (kind < pico) at = writePlain(buffer, at, view, from, kind);
      else {
        buffer[at++] = quote;
        at = kind === pico ? writeDollars(buffer, at, view, from) : writeTime(buffer, at, int64(view, from));
        buffer[at++] = quote;
      }
      from = to;
    }
    if (this.#bill) at = this.#writeJsonBill(this.#bill, at, row, from);
    buffer[at++] = 0x7d;
    buffer[at++] = lineFeed;
    return at;
  }

  #writeJsonBill(bill: BillBytes, start: number, row: Buffer, from: number): number {
    const { buffer, view: target } = this.#target;
    bill.read(row, from + 4, this.#view.getInt32(from));
    let at = start;
    for (let i = 0; i < billColumns.length; i++) {
      at = writePhrase(target, at, this.#leads[this.#kinds.length + i]!);
      if (!bill.has(i)) at = writeNull(buffer, at);
      else if (i > 0) at = bill.write(i, this.#target, at);
      else at = writeJsonText(buffer, at, bill.tierBytes, bill.tierFrom, bill.tierTo);
    }
    return at;
  }

  #writeCsvRow(row: Buffer, first: number): number {
    const { buffer } = this.#target;
    const [view, kinds, bill] = [this.#view, this.#kinds, this.#bill];
    let [at, from] = [this.#at, first];
    for (let i = 0; i < kinds.length; i++) {
      if (i > 0) buffer[at++] = comma;
      const length = view.getInt32(from);
      from += 4;
      if (length < 0) continue;
      const to = from + length;
      const kind = kinds[i]!;
      if (kind <= json) at = writeCsvText(buffer, at, row, from, to);
      else if (kind === integer) at = this.#writeInteger(buffer, at, from, length, i);
      else if (kind < pico) at = writePlain(buffer, at, view, from, kind);
      else at = kind === pico ? writeDollars(buffer, at, view, from) : writeTime(buffer, at, int64(view, from));
      from = to;
    }
    if (bill) {
      bill.read(row, from + 4, view.getInt32(from));
      for (let i = 0; i < billColumns.length; i++) {
        buffer[at++] = comma;
        if (!bill.has(i)) continue;
        if (i > 0) at = bill.write(i, this.#target, at);
        else at = writeCsvText(buffer, at, bill.tierBytes, bill.tierFrom, bill.tierTo);
      }
    }
    buffer[at++] = lineFeed;
    return at;
  }

  #writeInteger(...[buffer, at, from, length, column]: [Buffer, number, number, number, number]): number {
    const value = length === 4 ? this.#view.getInt32(from) : int64(this.#view, from);
    const place = this.#places[column]!;
    if (place >= 0 && this.#bill) this.#bill.tokens[place] = value;
    return writeInteger(buffer, at, value);
  }
}

/** Every byte of it that is sent is written before. */
function targetOf(bytes: number): Target {
  const buffer = Buffer.allocUnsafeSlow(bytes);
  return { buffer, view: viewOf(buffer) };
}

function writeNull(buffer: Uint8Array, at: number): number {
  buffer[at] = 0x6e;
  buffer[at + 1] = 0x75;
  buffer[at + 2] = 0x6c;
  buffer[at + 3] = 0x6c;
  return at + 4;
}

/** A number with decimals or a truth value, which both formats write alike. */
function writePlain(
  ...[buffer, at, row, from, kind]: [buffer: Uint8Array, at: number, row: DataView, from: number, kind: number]
): number {
  if (kind === float) return writeFloat(buffer, at, row.getFloat64(from));
  return writeAscii(buffer, at, row.getUint8(from) === 1 ? 'true' : 'false');
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
