/**
 * Reads the stream of one process while that writes it, and after it is gone. Provisional records wait for their final one. When the
 * process is gone, the last one of a generation counts as final.
 */
import fs from 'node:fs';
import { scanFrames } from './frames.js';
import { idIn, kindIn } from './record.js';
import type { RecordExpander } from './record-expander.js';
import type { BinarySegment } from './segment-names.js';
import { type Source, type SourceEvents, type Waiting, waitingRow } from './source.js';

interface Open {
  readonly start: number;
  readonly bytes: Buffer;
}

const readBytes = 1 << 18;

export class Tail implements Source {
  #segments: readonly BinarySegment[] = [];
  #position: number;
  #ended = false;
  #closed = false;
  /** Where damage was seen once. A record that is being written looks like it, so it counts when it is seen again. */
  #suspect = -1;
  readonly #open = new Map<string, Open>();

  /** `settled`: what the store says of the stream. Records before that position are only looked at for provisional ones. */
  constructor(
    readonly dir: string,
    readonly run: string,
    private readonly settled: number,
    private readonly events: SourceEvents,
  ) {
    this.#position = -1;
  }

  /** The files as they are now, oldest first. */
  update(segments: readonly BinarySegment[]): void {
    this.#segments = segments;
    if (this.#position === -1) this.#position = segments[0]?.base ?? this.settled;
  }

  /** No record will be written any more. */
  end(): void {
    this.#ended = true;
  }

  get position(): number {
    return Math.max(0, this.#position);
  }

  /** The position of the first provisional record that waits. */
  get needed(): number {
    const [first] = this.#open.values();
    return first ? first.start : this.position;
  }

  /** Whether everything was read, and nothing will follow. */
  get isOver(): boolean {
    return this.#closed;
  }

  files(): readonly string[] {
    return this.#segments.map(({ file }) => file);
  }

  /** The records that follow, up to about half a megabyte; none where there are no more at present. */
  read(expander: RecordExpander): Waiting[] {
    const rows: Waiting[] = [];
    while (rows.length === 0 && this.#readPiece(expander, rows));
    if (rows.length === 0 && this.#ended && !this.#closed) this.#close(expander, rows);
    return rows;
  }

  /** False where there is nothing more at present. */
  #readPiece(expander: RecordExpander, rows: Waiting[]): boolean {
    const at = this.#segments.findLastIndex(({ base }) => base <= this.#position);
    const segment = this.#segments[at];
    if (!segment) return false;
    const next = this.#segments[at + 1];
    const isWhole = next !== undefined || this.#ended;
    const from = this.#position;
    // While the process writes, zeros are space for what comes. Whether they are damage shows when the segment is complete.
    if (!isWhole && isBlank(segment, from)) return false;
    const { bytes, isLast } = readFrom(segment, from, next?.base ?? null);
    const taker = {
      take: (start: number, end: number) => this.#take(bytes, start, end, from, expander, rows),
      damaged: (start: number, end: number) => this.#damaged(segment.file, from + start, from + end, isWhole),
    };
    const done = scanFrames(bytes, isWhole && isLast, taker, next !== undefined);
    this.#position = from + done;
    if (next && this.#position < next.base && isLast && done === bytes.length) {
      // The file is shorter than the stream says.
      this.#damaged(segment.file, this.#position, next.base, true);
      this.#position = next.base;
    }
    return this.#position > from;
  }

  #take(bytes: Buffer, start: number, end: number, from: number, expander: RecordExpander, rows: Waiting[]): boolean {
    const kind = kindIn(bytes, start);
    if (kind === 'void') return true;
    if (kind === undefined)
      return (
        from + end <= this.settled || this.events.unknown(bytes.subarray(start, end), 'a record of an unknown kind')
      );
    const id = idIn(bytes, start, end);
    // Behind the others, so that the first is the oldest.
    this.#open.delete(id);
    if (kind === 'provisional')
      this.#open.set(id, { start: from + start, bytes: Buffer.from(bytes.subarray(start, end)) });
    else if (from + end > this.settled) return this.#add(bytes, start, end, expander, rows, from + start, from + end);
    return true;
  }

  /** False where it can neither be read nor kept elsewhere. */
  #add(
    bytes: Buffer,
    start: number,
    end: number,
    expander: RecordExpander,
    rows: Waiting[],
    place: number,
    position: number,
  ): boolean {
    try {
      rows.push(waitingRow(this, expander.expand(bytes, start, end), place, position));
      return true;
    } catch (error) {
      return this.events.unknown(bytes.subarray(start, end), String(error));
    }
  }

  /** False: look again later. */
  #damaged(file: string, start: number, end: number, isCertain: boolean): boolean {
    if (end <= this.settled) return true;
    if (!isCertain && this.#suspect !== start) {
      this.#suspect = start;
      return false;
    }
    this.#suspect = -1;
    this.events.damaged(file, start, end);
    return true;
  }

  #close(expander: RecordExpander, rows: Waiting[]): void {
    for (const [id, { start, bytes }] of this.#open) {
      if (!this.#add(bytes, 0, bytes.length, expander, rows, start, this.#position)) return;
      this.#open.delete(id);
      this.events.estimated(1);
    }
    this.#closed = true;
  }
}

const peeked = Buffer.alloc(4);

function isBlank(segment: BinarySegment, position: number): boolean {
  const fd = fs.openSync(segment.file, 'r');
  try {
    return fs.readSync(fd, peeked, 0, 4, position - segment.base) < 4 || peeked.readUInt32LE(0) === 0;
  } finally {
    fs.closeSync(fd);
  }
}

/** At least one whole record where there is one. `isLast`: the segment has no more. */
function readFrom(segment: BinarySegment, position: number, end: number | null): { bytes: Buffer; isLast: boolean } {
  const fd = fs.openSync(segment.file, 'r');
  try {
    const offset = position - segment.base;
    const limit = Math.max(offset, end === null ? fs.fstatSync(fd).size : end - segment.base);
    for (let size = readBytes; ; size *= 4) {
      const buffer = Buffer.allocUnsafe(Math.min(size, limit - offset));
      const bytes = buffer.subarray(0, fs.readSync(fd, buffer, 0, buffer.length, offset));
      const isLast = offset + bytes.length >= limit || bytes.length < buffer.length;
      if (isLast || holdsFrame(bytes)) return { bytes, isLast };
    }
  } finally {
    fs.closeSync(fd);
  }
}

/** Whether a whole record is in it. */
function holdsFrame(bytes: Buffer): boolean {
  let found = false;
  scanFrames(bytes, false, {
    take: () => {
      found = true;
      return false;
    },
    damaged: () => true,
  });
  return found;
}
