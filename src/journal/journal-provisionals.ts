/**
 * Provisional records: what a stream has cost so far, in the journal while it is delivered, so that a crash does not make it
 * free. The final record of the same generation replaces it. A provisional record is settled only where no final one was
 * written.
 */
import type { Generation } from '../domain/generation.js';
import { chargeOf, LineWriter, rowId, type SettlementRow } from '../domain/settlement-row.js';
import type { Segment, Segments } from './journal-segments.js';

export interface Provisional {
  readonly row: SettlementRow;
  /** null where the disk did not accept it. */
  readonly segment: Segment | null;
}

/** The first byte of a provisional line. No generation's id begins with it. */
export const provisionalMark = 63;

const newline = 10;

/** The provisional records of this process that wait for their final record. */
export class OpenProvisionals {
  readonly #open = new Map<string, Provisional>();
  #line = new LineWriter(Buffer.allocUnsafeSlow(16 * 1024));

  get size(): number {
    return this.#open.size;
  }

  get(id: string): Provisional | undefined {
    return this.#open.get(id);
  }

  /** The line with its mark, in a buffer that the next call overwrites. */
  lineOf(generation: Generation): { bytes: Buffer; end: number } {
    for (;;) {
      const line = this.#line;
      line.bytes[0] = provisionalMark;
      line.at = 1;
      if (line.write(generation)) return { bytes: line.bytes, end: line.at };
      this.#line = new LineWriter(Buffer.allocUnsafeSlow(2 * line.bytes.length));
    }
  }

  /** Replaces an earlier provisional record of the same generation. */
  put(generation: Generation, { bytes, end }: { bytes: Buffer; end: number }, segment: Segment | null): void {
    this.release(generation.id);
    const line = Buffer.allocUnsafe(end - 1);
    bytes.copy(line, 0, 1, end);
    const { accountId, keyId } = generation;
    const row = { bytes: line, start: 0, end: end - 1, accountId, keyId, chargePico: chargeOf(generation) };
    this.#open.set(generation.id, { row, segment });
    if (segment) segment.outstanding++;
  }

  /** Drops a provisional record whose final record is in a file or settled. */
  release(id: string): void {
    const provisional = this.#open.get(id);
    if (!provisional) return;
    this.#open.delete(id);
    if (provisional.segment) provisional.segment.outstanding--;
  }

  /** Takes all of them. They are then final, because their requests will not end any more. */
  takeAll(): Provisional[] {
    const all = [...this.#open.values()];
    this.#open.clear();
    return all;
  }

  rows(): SettlementRow[] {
    return [...this.#open.values()].map(({ row }) => row);
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
