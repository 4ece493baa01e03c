/** The records that are only in the files: from a position to the end of the last segment, in the order of their lines. */
import { rowId } from '../domain/settlement-row.js';
import { type LeftProvisionals, provisionalMark } from './journal-provisionals.js';
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
