/**
 * Reserves disk space for the records of running requests and checks whether the disk accepts writes. A request is forwarded
 * only while there is space for its record, so that a full disk loses no charge.
 */
import type { Segments } from './journal-segments.js';

interface DiskOptions {
  /** The space kept beyond what requests have reserved. With less free space than this the disk counts as full. */
  stepBytes: number;
  /** The store keeps its data on the same disk, so it cannot take records either when the disk is full. */
  sharesStore: boolean;
  /** Frees space in the file where all of its records are settled. */
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

  /** Reserves space for the records of a request. `collected` bytes will be written soon. False where there is no space. */
  reserve(bytes: number, collected: number): boolean {
    if (this.#fault !== null || !this.hasRoom(this.#reserved + bytes + collected)) return false;
    this.#reserved += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#reserved -= bytes;
  }

  /** Allocates space where necessary; false where the disk refuses. */
  hasRoom(bytes: number): boolean {
    if (bytes <= this.segments.room) return true;
    try {
      this.segments.makeRoom(bytes);
      return true;
    } catch (error) {
      if (this.#hasRoomAfterReuse(bytes)) return true;
      this.#recordFault(error);
      return false;
    }
  }

  /** False where the disk does not accept the records. */
  append(bytes: Buffer, start: number, end: number): boolean {
    try {
      this.segments.append(bytes, start, end, this.#reserved);
      return true;
    } catch (error) {
      this.#recordFault(error);
      return false;
    }
  }

  /** Checks whether the disk accepts writes. `retryWrites` writes the records that are only in memory. */
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
      this.#recordFault(error);
    }
  }

  #hasRoomAfterReuse(bytes: number): boolean {
    try {
      this.options.reuse();
    } catch {
      // The disk does not delete or overwrite either: its first error is the reason.
    }
    return bytes <= this.segments.room;
  }

  #recordFault(error: unknown): void {
    const isNew = this.#fault === null;
    this.#fault = reasonOf(error);
    if (isNew) this.options.failed(this.#fault);
  }
}

/** Without the path at the end of the system's errors, because readiness shows the reason to anybody. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split(', ', 1)[0]!;
}
