/**
 * Frames, in which records stand one after the other: a sync word (4 bytes), the size of the content (u32), its CRC-32 (u32), the content.
 * Numbers are little endian. Zeros follow the last frame: space that was only allocated. A reader that meets anything else goes on at the
 * next frame that is whole.
 */
import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';

/** 0xF5 and 0xFA are in no UTF-8 text. */
const syncWord = Buffer.from([0xf5, 0x4c, 0x4a, 0xfa]);
const syncNumber = syncWord.readUInt32LE(0);
/** The bytes of a frame before its content. */
export const frameBytes = 12;

/** Writes what stands before the content. */
export function closeFrame(bytes: Buffer, start: number, end: number): void {
  bytes.writeUInt32LE(syncNumber, start);
  bytes.writeUInt32LE(end - start - frameBytes, start + 4);
  bytes.writeUInt32LE(crc32(bytes.subarray(start + frameBytes, end)), start + 8);
}

/** The end of the whole, undamaged frame that begins there; -1 where there is none. */
function frameEnd(bytes: Buffer, start: number): number {
  const content = start + frameBytes;
  if (content >= bytes.length || bytes.readUInt32LE(start) !== syncNumber) return -1;
  const end = content + bytes.readUInt32LE(start + 4);
  if (end > bytes.length || end === content) return -1;
  return crc32(bytes.subarray(content, end)) === bytes.readUInt32LE(start + 8) ? end : -1;
}

/** The start of the next undamaged frame; -1 where there is none. */
function nextFrame(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(syncWord, from); at !== -1; at = bytes.indexOf(syncWord, at + 1))
    if (frameEnd(bytes, at) !== -1) return at;
  return -1;
}

interface FrameTaker {
  /** An undamaged frame. False: stop before it. */
  take(start: number, end: number): boolean;
  /** Bytes that are no frame, before one that is, or at the end. False: stop before them. */
  damaged(start: number, end: number): boolean;
}

/**
 * Hands over frame after frame. `whole`: no bytes will follow these; `full`: nor were any only allocated, so zeros at the end are damage
 * too. Returns where it stopped.
 */
export function scanFrames(bytes: Buffer, whole: boolean, taker: FrameTaker, full = false): number {
  for (let at = 0; at < bytes.length; ) {
    const end = frameEnd(bytes, at);
    if (end !== -1) {
      if (!taker.take(at, end)) return at;
      at = end;
      continue;
    }
    const next = nextFrame(bytes, at + 1);
    if (next === -1 && !whole) return at;
    const until = next !== -1 ? next : full ? bytes.length : usedEnd(bytes, at);
    if (until > at && !taker.damaged(at, until)) return at;
    at = next === -1 ? bytes.length : next;
  }
  return bytes.length;
}

/** The end of the bytes before the zeros at the end. */
function usedEnd(bytes: Buffer, from: number): number {
  let end = bytes.length;
  while (end > from && bytes[end - 1] === 0) end--;
  return end;
}

export const integer = 0;
export const double = 1;
export const text = 2;
const flag = 3;

/** A longer text is written by the system's encoder, which is faster from about this length on. */
const shortText = 64;

export class FieldWriter {
  /** Where the next byte goes. What is written behind the end of the buffer goes nowhere, and only this tells of it. */
  at = 0;

  constructor(readonly bytes: Buffer) {}

  protected flag(number: number, value: boolean): void {
    if (value) this.bytes[this.at++] = (number << 2) | flag;
  }

  /** Zero is left out. */
  protected number(number: number, value: number): void {
    if (value !== 0) this.optional(number, value);
  }

  protected optional(number: number, value: number | null): void {
    if (value === null) return;
    if (Number.isSafeInteger(value) && value >= 0) {
      this.bytes[this.at++] = (number << 2) | integer;
      this.#integer(value);
      return;
    }
    this.bytes[this.at++] = (number << 2) | double;
    if (this.at + 8 <= this.bytes.length) this.bytes.writeDoubleLE(value, this.at);
    this.at += 8;
  }

  /** Zero is left out. */
  protected amount(number: number, value: bigint): void {
    this.#amount(number, value, Number(value), 0);
  }

  /** Amounts beyond the exact numbers are written as text. */
  protected optionalAmount(number: number, value: bigint | null | undefined): void {
    if (value !== null && value !== undefined) this.#amount(number, value, Number(value), null);
  }

  /** `near` is the nearest number: to compare numbers is cheaper than to compare integers of any size. */
  #amount(number: number, value: bigint, near: number, leftOut: number | null): void {
    if (near === leftOut) return;
    if (near >= 0 && near <= Number.MAX_SAFE_INTEGER) this.optional(number, near);
    else this.text(number, String(value));
  }

  #integer(value: number): void {
    let left = value;
    while (left > 0x7fff_ffff) {
      this.bytes[this.at++] = (left % 128) | 128;
      left = Math.floor(left / 128);
    }
    while (left > 127) {
      this.bytes[this.at++] = (left & 127) | 128;
      left >>>= 7;
    }
    this.bytes[this.at++] = left;
  }

  /** An empty text is written, because it is not null. */
  protected text(number: number, value: string | null | undefined): void {
    if (value === null || value === undefined) return;
    const { bytes } = this;
    const { length } = value;
    if (length > shortText) {
      this.#longText(number, value);
      return;
    }
    let at = this.at;
    bytes[at++] = (number << 2) | text;
    bytes[at++] = length;
    for (let i = 0; i < length; i++) {
      const unit = value.charCodeAt(i);
      if (unit > 127) {
        this.#longText(number, value);
        return;
      }
      bytes[at++] = unit;
    }
    this.at = at;
  }

  #longText(number: number, value: string): void {
    const size = Buffer.byteLength(value);
    this.bytes[this.at++] = (number << 2) | text;
    this.#integer(size);
    if (this.at + size <= this.bytes.length) this.bytes.write(value, this.at);
    this.at += size;
  }
}

export type Value = string | number | true;

export class FieldReader {
  number = 0;
  value: Value = true;

  constructor(
    private readonly bytes: Buffer,
    private at: number,
    private readonly end: number,
  ) {}

  next(): boolean {
    if (this.at >= this.end) return false;
    const key = this.bytes[this.at++]!;
    this.number = key >> 2;
    const type = key & 3;
    if (type === flag) this.value = true;
    else if (type === double) {
      this.value = this.bytes.readDoubleLE(this.at);
      this.at += 8;
    } else {
      const value = this.#integer();
      this.value = type === integer ? value : this.#text(value);
    }
    return true;
  }

  #integer(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.at++]!;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  #text(size: number): string {
    const start = this.at;
    this.at += size;
    return this.bytes.toString('utf8', start, this.at);
  }
}
