/**
 * Reads values of a binary COPY and writes them as ASCII into a buffer, without a string in between. Every function that writes returns
 * where the next byte goes.
 */

const zero = 0x30;
const dayMs = 86_400_000;

const int16 = (row: Uint8Array, at: number): number => (row[at]! << 8) | row[at + 1]!;

export const int32 = (row: Uint8Array, at: number): number =>
  (row[at]! << 24) | (row[at + 1]! << 16) | (row[at + 2]! << 8) | row[at + 3]!;

/** Exact up to 2^53, which no count of tokens and no time reaches. */
export const int64 = (row: Uint8Array, at: number): number => int32(row, at) * 2 ** 32 + (int32(row, at + 4) >>> 0);

/** Doubles are sent with the highest byte first; every machine that Node runs on has the lowest first. */
const double = new Float64Array(1);
const doubleBytes = new Uint8Array(double.buffer);

export function float64(row: Uint8Array, at: number): number {
  for (let i = 0; i < 8; i++) doubleBytes[i] = row[at + 7 - i]!;
  return double[0]!;
}

export function writeAscii(buffer: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) buffer[at + i] = text.charCodeAt(i);
  return at + text.length;
}

export function writeBytes(buffer: Uint8Array, at: number, bytes: Uint8Array): number {
  for (let i = 0; i < bytes.length; i++) buffer[at + i] = bytes[i]!;
  return at + bytes.length;
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
export function writeDollars(buffer: Uint8Array, from: number, row: Uint8Array, start: number): number {
  const count = int16(row, start);
  const weight = (int16(row, start + 2) << 16) >> 16;
  let at = from;
  if (int16(row, start + 4) === 0x4000) buffer[at++] = 0x2d;
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

const digitOf = (row: Uint8Array, start: number, count: number, index: number): number =>
  index >= 0 && index < count ? int16(row, start + 8 + 2 * index) : 0;

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
