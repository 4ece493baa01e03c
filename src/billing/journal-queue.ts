/**
 * What is appended and not yet settled, in order: the oldest records in memory, up to a bound; the rest only in the files,
 * from which they are read again when their turn comes. What an earlier process left is such a rest.
 */
import { createReadStream } from 'node:fs';
import type { Generation } from '../storage/records.js';
import { LineWriter } from '../storage/settlement-line.js';
import { chargeOf, readSettlementRow, rowCreatedAt, type SettlementRow } from '../storage/settlement-row.js';
import type { Segment, Segments } from './journal-segments.js';

interface Waiting extends SettlementRow {
  /** Its number among all records of this process. */
  readonly n: number;
  /** Null where the disk did not take it. */
  segment: Segment | null;
}

/** Where the records begin that are only in the files. */
interface Rest {
  segment: Segment;
  offset: number;
  /** The number of the first of them. */
  n: number;
  count: number;
}

export interface QueueEvents {
  /** A line of an earlier process that is no record. */
  unreadable(line: string, error: unknown): void;
  /** An earlier process was stopped in the middle of a line; the request it belonged to was never answered in full. */
  torn(file: string): void;
  diskFailed(error: unknown): void;
  diskWorks(): void;
}

/** Lines are put side by side in pieces of memory of this size; a turn's records fill a part of one. */
const pieceBytes = 1 << 20;
/** Less than this at a piece's end is not worth a try. */
const lineRoom = 2048;
/** More than this in one settlement could take longer than a query may. */
const batchBytes = 4 << 20;
const newline = 10;

export class JournalQueue {
  /** Of this turn, not in a file yet; side by side in one piece of memory. */
  #collected: Waiting[] = [];
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #rest: Rest | null = null;
  #appended = 0;
  #line = new LineWriter(Buffer.allocUnsafeSlow(pieceBytes));

  constructor(
    private readonly segments: Segments,
    private readonly memoryBytes: number,
    private readonly events: QueueEvents,
  ) {}

  /** The number of the record appended last. */
  get appended(): number {
    return this.#appended;
  }

  get depth(): number {
    return this.#collected.length + this.ready;
  }

  /** Records that can be settled: a record goes to the store only when it is in a file, or the disk refused it. */
  get ready(): number {
    return this.#waiting.length + (this.#rest?.count ?? 0);
  }

  /** Everything up to and with this number is settled or set aside. */
  get settled(): number {
    const first = this.#waiting[0]?.n ?? this.#collected[0]?.n ?? this.#appended + 1;
    return Math.min(first, this.#rest?.n ?? first) - 1;
  }

  /** When the oldest record in memory was created, epoch milliseconds; null where there is none. */
  get oldestAt(): number | null {
    const oldest = this.#waiting[0] ?? this.#collected[0];
    return oldest ? rowCreatedAt(oldest) : null;
  }

  /** Takes over what earlier processes left. Called once, before the first append. */
  async adopt(): Promise<void> {
    let count = 0;
    for (let segment = this.segments.first; segment !== this.segments.active; segment = this.segments.after(segment)!) {
      for await (const chunk of createReadStream(segment.file)) count += newlines(chunk as Buffer);
    }
    this.#appended = count;
    this.#rest = { segment: this.segments.first, offset: 0, n: 1, count };
    while (count === 0 && this.#rest) this.#readRest();
  }

  /** Collects the record; `write` brings it into the file. */
  append(generation: Generation): void {
    if (this.#line.at + lineRoom > this.#line.bytes.length) this.#nextPiece(pieceBytes);
    let start = this.#line.at;
    while (!this.#line.write(generation)) {
      this.#nextPiece(start === 0 ? 2 * this.#line.bytes.length : pieceBytes);
      start = 0;
    }
    this.#collected.push({
      bytes: this.#line.bytes,
      start,
      end: this.#line.at,
      accountId: generation.accountId,
      keyId: generation.keyId,
      chargePico: chargeOf(generation),
      n: ++this.#appended,
      segment: null,
    });
  }

  /** Everything collected is in the file when this returns, by one write; where the disk refuses, it is kept in memory. */
  write(): void {
    const rows = this.#collected;
    if (rows.length === 0) return;
    this.#collected = [];
    const { bytes, start, n } = rows[0]!;
    const segment = this.#writeLines(bytes, start, rows[rows.length - 1]!.end);
    if (!segment || (!this.#rest && this.#waitingBytes < this.memoryBytes)) {
      this.#keep(rows, segment);
      return;
    }
    // Everything before these lines is in memory or settled, or they follow what is only in the files already.
    this.#rest ??= { segment, offset: this.segments.writeStart, n, count: 0 };
    this.#rest.count += rows.length;
    this.#line.at = start;
  }

  /** The oldest records, at most `max`. They stay until they are dropped. */
  head(max: number): readonly SettlementRow[] {
    // Only when memory is empty, so that the numbers in it stay in order.
    while (this.#waiting.length === 0 && this.#rest) this.#readRest();
    let count = 0;
    for (let bytes = 0; count < Math.min(max, this.#waiting.length); count++) {
      bytes += sizeOf(this.#waiting[count]!);
      if (count > 0 && bytes > batchBytes) break;
    }
    return this.#waiting.slice(0, count);
  }

  /** The first `count` are settled or set aside. */
  drop(count: number): void {
    for (const row of this.#waiting.splice(0, count)) {
      this.#waitingBytes -= sizeOf(row);
      if (row.segment) row.segment.outstanding--;
    }
    // Behind the last record there may still be a line cut short, or an empty file, that keeps its segment from going.
    while (this.ready === 0 && this.#rest) this.#readRest();
    this.segments.retire(this.#rest?.segment);
    if (this.ready > 0) return;
    this.segments.empty();
    // Nobody needs the lines any more that stand in the present piece.
    if (this.#collected.length === 0) this.#line.at = 0;
  }

  #nextPiece(bytes: number): void {
    this.write();
    this.#line = new LineWriter(Buffer.allocUnsafeSlow(bytes));
  }

  #keep(rows: Waiting[], segment: Segment | null): void {
    if (segment) segment.outstanding += rows.length;
    for (const row of rows) {
      row.segment = segment;
      this.#waitingBytes += sizeOf(row);
      this.#waiting.push(row);
    }
  }

  #diskFailing = false;

  #writeLines(bytes: Buffer, start: number, end: number): Segment | null {
    try {
      const segment = this.segments.append(bytes, start, end);
      if (this.#diskFailing) this.events.diskWorks();
      this.#diskFailing = false;
      return segment;
    } catch (error) {
      if (!this.#diskFailing) this.events.diskFailed(error);
      this.#diskFailing = true;
      return null;
    }
  }

  #readRest(): void {
    const rest = this.#rest!;
    const { segment } = rest;
    const { lines, offset } = this.segments.read(segment, rest.offset);
    rest.offset = offset;
    for (let start = 0; start < lines.length; ) {
      const end = lines.indexOf(newline, start) + 1;
      this.#take(lines, start, end, rest);
      start = end;
    }
    if (lines.length > 0 && offset < segment.bytes) return;
    if (offset < segment.bytes) this.events.torn(segment.file);
    const next = this.segments.after(segment);
    this.#rest = next ? { ...rest, segment: next, offset: 0 } : null;
    this.segments.retire(this.#rest?.segment);
  }

  #take(lines: Buffer, start: number, end: number, rest: Rest): void {
    const n = rest.n++;
    rest.count = Math.max(0, rest.count - 1);
    try {
      this.#keep([{ ...readSettlementRow(lines, start, end), n, segment: null }], rest.segment);
    } catch (error) {
      this.events.unreadable(lines.toString('utf8', start, end - 1), error);
    }
  }
}

const sizeOf = ({ start, end }: SettlementRow): number => end - start;

function newlines(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) count++;
  return count;
}
