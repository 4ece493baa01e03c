/**
 * Copies of bytes that were read into a shared buffer. Those that may be kept for long are no part of Node's pool, because a few bytes
 * would keep all of its eight kilobytes.
 */

import { Buffer } from 'node:buffer';

/** The space doubles up to here, and then grows by so much. */
const growthMax = 16 * 1024;

/** Bytes that wait for more: they are copied once, and again when the space is full. */
export class KeptBytes {
  length = 0;
  private space: Buffer;

  constructor(bytes: Buffer, from: number, to: number) {
    this.space = Buffer.allocUnsafeSlow(to - from);
    this.add(bytes, from, to);
  }

  /** The bytes are the first `length` ones of it. */
  get buffer(): Buffer {
    return this.space;
  }

  /** How much space so many bytes more need. */
  static sizeWith(kept: KeptBytes | null, more: number): number {
    if (!kept) return more;
    const length = kept.length + more;
    return length <= kept.space.length ? kept.space.length : length + Math.min(length, growthMax);
  }

  add(bytes: Buffer, from: number, to: number): void {
    const size = KeptBytes.sizeWith(this, to - from);
    if (size > this.space.length) {
      const larger = Buffer.allocUnsafeSlow(size);
      this.space.copy(larger, 0, 0, this.length);
      this.space = larger;
    }
    bytes.copy(this.space, this.length, from, to);
    this.length += to - from;
  }
}

export function copyOf(bytes: Buffer, end: number, start = 0): Buffer {
  const copy = Buffer.allocUnsafe(end - start);
  bytes.copy(copy, 0, start, end);
  return copy;
}

/** The same, for a piece that may be kept for long. */
export function pieceOf(bytes: Buffer, end: number, start = 0): Buffer {
  const copy = Buffer.allocUnsafeSlow(end - start);
  bytes.copy(copy, 0, start, end);
  return copy;
}
