/**
 * What the journal may ask of its disk: room that is reserved for the records of requests in flight, and whether the disk takes
 * writes at all. A request is forwarded only while there is room for its record, so that a full disk loses no bill.
 */
import type { Segment, Segments } from './journal-segments.js';

export interface DiskOptions {
  /** Room that is kept beyond what requests have reserved; less free space than this counts as a full disk. */
  stepBytes: number;
  /** The store keeps its data on the same disk, so it cannot take records either when that is full. */
  sharesStore: boolean;
  /** Frees room in the file where all of its records are settled. */
  reuse(): void;
  failed(reason: string): void;
  works(): void;
}

export class JournalDisk {
  #fault: string | null = null;
  #reserved = 0;

  constructor(
    private readonly segments: Segments,
    private readonly options: DiskOptions,
  ) {}

  /** Why no request that costs money may be forwarded; null while they may. */
  get fault(): string | null {
    return this.#fault;
  }

  get reserved(): number {
    return this.#reserved;
  }

  /** Reserves room for the records of a request; `collected` bytes are on their way into the file. False where there is none. */
  reserve(bytes: number, collected: number): boolean {
    if (this.#fault !== null || !this.hasRoom(this.#reserved + bytes + collected)) return false;
    this.#reserved += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#reserved -= bytes;
  }

  /** Allocates where necessary; false where the disk does not give it. */
  hasRoom(bytes: number): boolean {
    if (bytes <= this.segments.room) return true;
    try {
      this.segments.makeRoom(bytes);
      return true;
    } catch (error) {
      if (this.#hasRoomAfterReuse(bytes)) return true;
      this.#failed(error);
      return false;
    }
  }

  /** The segment that holds the lines now; null where the disk does not take them. */
  append(bytes: Buffer, start: number, end: number): Segment | null {
    try {
      return this.segments.append(bytes, start, end, this.#reserved);
    } catch (error) {
      this.#failed(error);
      return null;
    }
  }

  /** Looks whether the disk takes writes. `retryWrites` brings records into the file that are only in memory. */
  probe(retryWrites: () => boolean): void {
    try {
      this.segments.checkWritable();
      const free = this.options.sharesStore ? this.segments.freeBytes() : null;
      if (free !== null && free < this.options.stepBytes) throw new Error('the disk is full');
      if (!retryWrites()) return;
      this.options.reuse();
      this.segments.makeRoom(this.#reserved + this.options.stepBytes / 2);
      if (this.#fault === null) return;
      this.#fault = null;
      this.options.works();
    } catch (error) {
      this.#failed(error);
    }
  }

  #hasRoomAfterReuse(bytes: number): boolean {
    try {
      this.options.reuse();
    } catch {
      // A disk that does not delete or overwrite either: what it said first is the reason.
    }
    return bytes <= this.segments.room;
  }

  #failed(error: unknown): void {
    const isNew = this.#fault === null;
    this.#fault = reasonOf(error);
    if (isNew) this.options.failed(this.#fault);
  }
}

/** Without the path that the system's errors end in: the reason is shown to anybody who asks for readiness. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split(', ', 1)[0]!;
}
