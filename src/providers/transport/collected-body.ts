/**
 * The bytes of a body while it arrives. A large one is kept in one piece of memory that grows in its place: pieces that are put together at
 * the end would take twice as much, and stay until the next full collection.
 */
import { collectSoon } from '../../base/v8-settings.js';

const largeBytes = 256 * 1024;
const growthBytes = 4 * 1024 * 1024;
/** What is read of a larger one leaves so much garbage that it is collected soon. */
const collectedBytes = 1024 * 1024;

export class CollectedBody {
  length = 0;
  private pieces: Buffer[] = [];
  private memory: ArrayBuffer | null = null;

  /** `bytesMax` is as much as is ever added. */
  constructor(readonly bytesMax: number) {}

  /** Copies the bytes. */
  add(bytes: Buffer): void {
    if (this.length + bytes.length > largeBytes) bytes.copy(this.room(bytes.length));
    else this.pieces.push(Buffer.from(bytes));
    this.length += bytes.length;
  }

  /** All bytes; of a large body it is memory of its own. Nothing is left here. */
  take(): Buffer {
    const { pieces, memory, length } = this;
    this.clear();
    if (memory === null) return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    memory.resize(length);
    return Buffer.from(memory);
  }

  clear(): void {
    if (this.length > collectedBytes) collectSoon();
    this.pieces = [];
    this.memory = null;
  }

  /** The memory behind what is there. */
  private room(bytes: number): Uint8Array {
    const needed = this.length + bytes;
    if (this.memory === null) {
      this.memory = new ArrayBuffer(needed, { maxByteLength: this.bytesMax });
      let at = 0;
      for (const piece of this.pieces) at += piece.copy(new Uint8Array(this.memory, at));
      this.pieces = [];
    } else if (needed > this.memory.byteLength) {
      this.memory.resize(Math.min(this.bytesMax, needed + growthBytes));
    }
    return new Uint8Array(this.memory, this.length);
  }
}
