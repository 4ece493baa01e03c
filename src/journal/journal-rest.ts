/**
 * The records that are only in the files: from a position to the end of the last segment, in the order of their lines. Among them are
 * provisional ones of earlier processes: the last of a stream is due where no final record follows it.
 */
import { rowId } from '../domain/settlement-row.js';
import type { Segment, Segments } from './journal-segments.js';

export interface RestPlace {
  segment: Segment;
  offset: number;
  /** The number of its first record. */
  n: number;
  count: number;
}

/** A line without the mark of a provisional one. */
export interface Line {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** The first byte of a provisional line. No generation's id begins with it. */
export const provisionalMark = 63;

const newline = 10;

export class Rest {
  #segment: Segment;
  #offset: number;
  #n: number;
  #count: number;
  /** Records in memory although they stand after the beginning of the rest. */
  readonly #alsoInMemory = new Set<string>();

  constructor(
    private readonly segments: Segments,
    private readonly left: LeftProvisionals,
    { segment, offset, n, count }: RestPlace,
  ) {
    this.#segment = segment;
    this.#offset = offset;
    this.#n = n;
    this.#count = count;
  }

  get segment(): Segment {
    return this.#segment;
  }

  get n(): number {
    return this.#n;
  }

  get count(): number {
    return this.#count;
  }

  /** More records were written at the end. */
  add(count: number): void {
    this.#count += count;
  }

  passOver(id: string): void {
    this.#alsoInMemory.add(id);
  }

  /**
   * Takes the next piece of a segment. Returns false where it was the last. `torn` gets the file of a segment that ends in
   * part of a line.
   */
  read(take: (line: Line, n: number, segment: Segment) => void, torn: (file: string) => void): boolean {
    const segment = this.#segment;
    const from = this.#offset;
    const { lines, offset } = this.segments.read(segment, from);
    this.#offset = offset;
    for (const line of this.#records(lines, segment, from)) {
      if (this.#alsoInMemory.delete(rowId(line))) continue;
      this.#count = Math.max(0, this.#count - 1);
      take(line, this.#n++, segment);
    }
    if (lines.length > 0 && offset < segment.bytes) return true;
    if (offset < segment.bytes) torn(segment.file);
    const next = this.segments.after(segment);
    if (!next) return false;
    this.#segment = next;
    this.#offset = 0;
    return true;
  }

  /** All lines that are still to be taken, without taking them. */
  *lines(): Generator<Line> {
    let segment: Segment | undefined = this.#segment;
    let from = this.#offset;
    while (segment) {
      const { lines, offset } = this.segments.read(segment, from);
      for (const line of this.#records(lines, segment, from)) if (!this.#alsoInMemory.has(rowId(line))) yield line;
      const hasMore = lines.length > 0 && offset < segment.bytes;
      from = hasMore ? offset : 0;
      if (!hasMore) segment = this.segments.after(segment);
    }
  }

  /** A provisional line counts only where it is the last one of its generation from an earlier process. */
  *#records(lines: Buffer, segment: Segment, from: number): Generator<Line> {
    for (let start = 0; start < lines.length; ) {
      const end = lines.indexOf(newline, start) + 1;
      if (lines[start] !== provisionalMark) yield { bytes: lines, start, end };
      else if (this.left.isDue(lines, start, segment, from + start)) yield { bytes: lines, start: start + 1, end };
      start = end;
    }
  }
}

/**
 * The provisional records of earlier processes: the position of each line, unless a later line of the same generation exists.
 */
export class LeftProvisionals {
  readonly #left = new Map<string, { segment: Segment; offset: number }>();

  get size(): number {
    return this.#left.size;
  }

  /** Reads lines in the order of the files; returns the number of final records among them. */
  scan(lines: Buffer, segment: Segment, offset: number): number {
    let finals = 0;
    for (let start = 0; start < lines.length; start = lines.indexOf(newline, start) + 1) {
      if (lines[start] === provisionalMark) {
        this.#left.set(idIn(lines, start + 1), { segment, offset: offset + start });
      } else {
        finals++;
        if (this.#left.size > 0) this.#left.delete(idIn(lines, start));
      }
    }
    return finals;
  }

  /** Whether the provisional line at this position is the last one of its generation. */
  isDue(lines: Buffer, start: number, segment: Segment, offset: number): boolean {
    const place = this.#left.get(idIn(lines, start + 1));
    return place !== undefined && place.segment === segment && place.offset === offset;
  }
}

/** Reads every whole line of the earlier segments once; other work may run in between. */
export async function scanSegments(segments: Segments, left: LeftProvisionals): Promise<number> {
  let finals = 0;
  for (let segment = segments.first; segment !== segments.active; segment = segments.after(segment)!) {
    for (let offset = 0; offset < segment.bytes; ) {
      const { lines, offset: next } = segments.read(segment, offset);
      finals += left.scan(lines, segment, offset);
      if (lines.length === 0) break;
      offset = next;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return finals + left.size;
}

const idIn = (lines: Buffer, start: number): string => rowId({ bytes: lines, start });
