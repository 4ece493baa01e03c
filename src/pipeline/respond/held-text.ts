/**
 * Text in latin1 that is added at its end and taken at its beginning, in memory outside of the garbage-collected heap. As strings it
 * would live just long enough to reach the old part of the heap, which is collected only after it has grown by tens of megabytes.
 */

/** Sizes of memory, each four times the one before: a short text takes little. */
const bytesMin = 3 * 1024;
/** The usual size of a long text is used again: memory that is merely dropped waits for a collection too. */
const bytesReused = 48 * 1024;
const sparesMax = 16;
const spares: Buffer[] = [];
const nothing: Buffer = Buffer.alloc(0);

export class HeldText {
  private bytes = nothing;
  private start = 0;
  private end = 0;
  /** The memory of the part that was lent and is not given back yet. */
  private lent: Buffer | null = null;

  /** Without what is lent. */
  get length(): number {
    return this.end - this.start;
  }

  append(text: string): void {
    if (this.end + text.length > this.bytes.length) this.makeRoom(0, text.length);
    this.bytes.write(text, this.end, 'latin1');
    this.end += text.length;
  }

  indexOf(byte: number, from: number): number {
    const at = this.bytes.subarray(0, this.end).indexOf(byte, this.start + from);
    return at === -1 ? -1 : at - this.start;
  }

  at(index: number): number | undefined {
    return this.bytes[this.start + index];
  }

  /** Takes the first characters out. They stay readable until `giveBack`; one part is lent at a time. */
  lend(length: number): Buffer {
    const part = this.bytes.subarray(this.start, Math.min(this.start + length, this.end));
    this.start += part.length;
    this.lent = this.bytes;
    return part;
  }

  /** The lent part is not read any more; `rest` of it comes before all other text again. */
  giveBack(rest: string): void {
    const { lent } = this;
    this.lent = null;
    if (lent !== this.bytes && lent) reuse(lent);
    if (rest.length > this.start) this.makeRoom(rest.length, 0);
    this.start -= rest.length;
    this.bytes.write(rest, this.start, 'latin1');
  }

  toString(): string {
    return this.bytes.toString('latin1', this.start, this.end);
  }

  /** Leaves what is lent where it is. */
  private makeRoom(before: number, after: number): void {
    const { bytes, start, end, length } = this;
    const isFree = this.lent !== bytes;
    const needed = before + length + after;
    const target =
      isFree && needed <= bytes.length ? bytes : memoryFor(Math.max(needed, Math.min(bytes.length, bytesReused)));
    bytes.copy(target, before, start, end);
    this.bytes = target;
    this.start = before;
    this.end = before + length;
    if (isFree && target !== bytes) reuse(bytes);
  }
}

function memoryFor(needed: number): Buffer {
  let size = bytesMin;
  while (size < needed) size *= 4;
  return (size === bytesReused ? spares.pop() : undefined) ?? Buffer.allocUnsafeSlow(size);
}

function reuse(bytes: Buffer): void {
  if (bytes.length === bytesReused && spares.length < sparesMax) spares.push(bytes);
}
