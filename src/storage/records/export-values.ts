/**
 * Reads values of a binary COPY and writes them as ASCII into a buffer, without a string in between. Every function that writes returns
 * where the next byte goes.
 */

const zero = 0x30;
const dayMs = 86_400_000;

/** Exact up to 2^53, which no count of tokens and no time reaches. */
export const int64 = (row: DataView, at: number): number => row.getInt32(at) * 2 ** 32 + row.getUint32(at + 4);

/** The bytes of a buffer, as what reads and writes several of them at once, at any place. */
export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** A fixed text of ASCII, filled up to whole words. */
export interface Phrase {
  readonly words: DataView;
  readonly length: number;
}

const wordBytes = 8;
/** A phrase is written in words, so up to this many bytes behind it are written too. */
export const wordRest = wordBytes - 1;

export function phraseOf(text: string): Phrase {
  const bytes = new Uint8Array(Math.ceil(text.length / wordBytes) * wordBytes);
  writeAscii(bytes, 0, text);
  return { words: viewOf(bytes), length: text.length };
}

/** Words are copied as doubles, which stay as they are because no eight characters of ASCII are a double that is not a number. */
export function writePhrase(target: DataView, at: number, { words, length }: Phrase): number {
  for (let i = 0; i < length; i += wordBytes) target.setFloat64(at + i, words.getFloat64(i));
  return at + length;
}

export function writeAscii(buffer: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) buffer[at + i] = text.charCodeAt(i);
  return at + text.length;
}

export function writeInteger(buffer: Uint8Array, at: number, value: number): number {
  if (value < 0 || value > 0x7fffffff) return writeAscii(buffer, at, String(value));
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

/** Times have up to three decimals; the engine needs much longer for the text of such a number than this. */
export function writeFloat(buffer: Uint8Array, at: number, value: number): number {
  const whole = Math.floor(value);
  const thousandths = Math.round((value - whole) * 1000);
  if (!(value > 0 && value < 0x7fffffff && thousandths < 1000 && whole + thousandths / 1000 === value))
    return writeAscii(buffer, at, String(value));
  const point = writeInteger(buffer, at, whole);
  if (thousandths === 0) return point;
  buffer[point] = 0x2e;
  return withoutZeros(buffer, writeThree(buffer, point + 1, thousandths));
}

/** Pico-dollars from 0 to 2^53, as dollars. */
export function writePico(buffer: Uint8Array, at: number, pico: number): number {
  const whole = Math.floor(pico / 1e12);
  const rest = pico - whole * 1e12;
  const point = writeInteger(buffer, at, whole);
  if (rest === 0) return point;
  const millionths = Math.floor(rest / 1e6);
  const last = rest - millionths * 1e6;
  const [high, low] = [(millionths / 1e4) | 0, (last / 1e4) | 0];
  buffer[point] = 0x2e;
  const middle = writeFour(buffer, writeTwo(buffer, point + 1, high), millionths - high * 1e4);
  return withoutZeros(buffer, writeFour(buffer, writeTwo(buffer, middle, low), last - low * 1e4));
}

let lastDay = Number.NaN;
/** Such as `2026-11-17T`. Rows come in the order of time, so the date is mostly that of the row before. */
let lastDate = '';

export function writeTime(buffer: Uint8Array, at: number, ms: number): number {
  const day = Math.floor(ms / dayMs);
  if (day !== lastDay) {
    lastDay = day;
    lastDate = new Date(day * dayMs).toISOString().slice(0, 11);
  }
  const rest = ms - day * dayMs;
  let next = writeTwo(buffer, writeAscii(buffer, at, lastDate), (rest / 3_600_000) | 0);
  buffer[next++] = 0x3a;
  next = writeTwo(buffer, next, ((rest / 60_000) | 0) % 60);
  buffer[next++] = 0x3a;
  next = writeTwo(buffer, next, ((rest / 1000) | 0) % 60);
  buffer[next++] = 0x2e;
  next = writeThree(buffer, next, rest % 1000);
  buffer[next++] = 0x5a;
  return next;
}

/**
 * The dollars of a numeric that counts pico-dollars. A numeric is sent in digits of 10,000, so its last three are the twelve decimals,
 * and no arithmetic is needed.
 */
export function writeDollars(buffer: Uint8Array, from: number, row: DataView, start: number): number {
  const count = row.getUint16(start);
  const weight = row.getInt16(start + 2);
  let at = from;
  if (row.getUint16(start + 4) === 0x4000) buffer[at++] = 0x2d;
  if (weight < 3) buffer[at++] = zero;
  for (let power = weight; power >= 3; power--) {
    const digit = digitOf(row, start, count, weight - power);
    at = power === weight ? writeInteger(buffer, at, digit) : writeFour(buffer, at, digit);
  }
  const point = at;
  buffer[at++] = 0x2e;
  for (let power = 2; power >= 0; power--) at = writeFour(buffer, at, digitOf(row, start, count, weight - power));
  at = withoutZeros(buffer, at);
  return at === point + 1 ? point : at;
}

const digitOf = (row: DataView, start: number, count: number, index: number): number =>
  index >= 0 && index < count ? row.getUint16(start + 8 + 2 * index) : 0;

/** `end` without the zeros before it. There is a point before them. */
function withoutZeros(buffer: Uint8Array, end: number): number {
  let at = end;
  while (buffer[at - 1] === zero) at--;
  return at;
}

function writeTwo(buffer: Uint8Array, at: number, value: number): number {
  const tens = (value / 10) | 0;
  buffer[at] = zero + tens;
  buffer[at + 1] = zero + value - tens * 10;
  return at + 2;
}

function writeThree(buffer: Uint8Array, at: number, value: number): number {
  const hundreds = (value / 100) | 0;
  buffer[at] = zero + hundreds;
  return writeTwo(buffer, at + 1, value - hundreds * 100);
}

function writeFour(buffer: Uint8Array, at: number, value: number): number {
  const hundreds = (value / 100) | 0;
  return writeTwo(buffer, writeTwo(buffer, at, hundreds), value - hundreds * 100);
}
