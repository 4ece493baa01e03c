/**
 * The records that are appended and not settled, in order: the oldest in memory, up to a bound, and the rest only in the
 * files, from which they are read again later. The records of earlier processes are such a rest.
 */
import type { Generation } from '../domain/generation.js';
import {
  chargeOf,
  LineWriter,
  readSettlementRow,
  rowCreatedAt,
  rowId,
  type SettlementRow,
} from '../domain/settlement-row.js';
import type { JournalDisk } from './journal-disk.js';
import { LeftProvisionals, type Line, Rest, scanSegments } from './journal-rest.js';
import type { Segment, Segments } from './journal-segments.js';
import { OpenProvisionals, type Waiting, WaitingRecords } from './waiting-records.js';

export interface QueueOptions {
  segments: Segments;
  disk: JournalDisk;
  memoryBytes: number;
  /** Handles a line of an earlier process that is not a record; false where it could not be set aside. */
  unreadable(line: string, error: unknown): boolean;
  /** An earlier process was stopped in the middle of a line; its request was never answered in full. */
  torn(file: string): void;
}

/** Lines stand side by side in pieces of memory of this size; the records of one turn fill a part of one. */
const pieceBytes = 1 << 20;
/** A piece with less space than this at its end is not tried. */
const lineRoom = 2048;
export class JournalQueue {
  readonly #segments: Segments;
  readonly #disk: JournalDisk;
  /** The records of this turn that are not in a file yet, side by side in one piece of memory. */
  #collected: Waiting[] = [];
  readonly #waiting = new WaitingRecords();
  #rest: Rest | null = null;
  #appended = 0;
  /** The number of the last record of each key, until everything is settled. */
  readonly #lastOfKey = new Map<string, number>();
  /** The number of the last record of earlier processes; whose they are is not read. */
  #adopted = 0;
  #line = new LineWriter(Buffer.allocUnsafeSlow(pieceBytes));
  readonly #provisionals = new OpenProvisionals();
  readonly #left = new LeftProvisionals();
  /** Records that cost money and that the disk did not accept. */
  readonly #unwritten = new Set<Waiting>();
  /** Records that the store refused and that are not set aside yet. */
  #refused: Waiting[] = [];

  constructor(private readonly options: QueueOptions) {
    this.#segments = options.segments;
    this.#disk = options.disk;
  }

  /** The number of the last appended record. */
  get appended(): number {
    return this.#appended;
  }

  /** The number of the last appended record that may be of this key. */
  lastOf(keyId: string): number {
    return Math.max(this.#adopted, this.#lastOfKey.get(keyId) ?? 0);
  }

  get depth(): number {
    return this.#collected.length + this.ready + this.#refused.length;
  }

  /** Whether anything in the files is still needed. */
  get isEmpty(): boolean {
    return this.depth === 0 && this.#provisionals.size === 0;
  }

  /**
   * The number of records that can be settled: a record goes to the store only when it is in a file or the disk refused it.
   */
  get ready(): number {
    return this.#waiting.length + (this.#rest?.count ?? 0);
  }

  /** Everything up to and including this number is settled or set aside. */
  get settled(): number {
    const first = this.#waiting.oldest?.n ?? this.#collected[0]?.n ?? this.#appended + 1;
    return Math.min(first, this.#rest?.n ?? first) - 1;
  }

  /** When the oldest record in memory was created, in epoch milliseconds; null where there is none. */
  get oldestAt(): number | null {
    const oldest = this.#waiting.oldest ?? this.#collected[0];
    return oldest ? rowCreatedAt(oldest) : null;
  }

  get #collectedBytes(): number {
    const last = this.#collected[this.#collected.length - 1];
    return last ? last.end - this.#collected[0]!.start : 0;
  }

  /** Takes over the records of earlier processes; resolves to how many of them are provisional. Called once, before the first append. */
  async adopt(): Promise<number> {
    const count = await scanSegments(this.#segments, this.#left);
    this.#appended = count;
    this.#adopted = count;
    this.#rest = this.#restFrom(this.#segments.first, 0, 1, count);
    while (count === 0 && this.#rest) this.#readRest();
    return this.#left.size;
  }

  /** Reserves space for the records of a running request; false where it must not be forwarded. */
  reserve(bytes: number): boolean {
    return this.#disk.reserve(bytes, this.#collectedBytes);
  }

  /** Collects the record; `write` writes it to the file. */
  append(generation: Generation): void {
    if (this.#line.at + lineRoom > this.#line.bytes.length) this.#nextPiece(pieceBytes);
    let start = this.#line.at;
    while (!this.#line.write(generation)) {
      this.#nextPiece(start === 0 ? 2 * this.#line.bytes.length : pieceBytes);
      start = 0;
    }
    const { id, keyId } = generation;
    this.#lastOfKey.set(keyId, this.#appended + 1);
    this.#collected.push({
      bytes: this.#line.bytes,
      start,
      end: this.#line.at,
      accountId: generation.accountId,
      keyId,
      chargePico: chargeOf(generation),
      n: ++this.#appended,
      segment: null,
      replaces: this.#provisionals.get(id) ? id : null,
    });
  }

  /** Writes at once what a generation has cost so far. An update of an earlier one takes no reserved space. */
  appendProvisional(generation: Generation): void {
    const line = this.#provisionals.lineOf(generation);
    const isUpdate = this.#provisionals.get(generation.id) !== undefined && generation.streamEnd !== 'client_closed';
    const room = this.#segments.room - this.#disk.reserved - this.#collectedBytes;
    if (isUpdate && room < line.end) return;
    this.#provisionals.put(generation, line, this.#disk.append(line.bytes, 0, line.end));
  }

  /** Writes everything collected to the file with one write. Where the disk refuses, the records stay in memory. */
  write(): void {
    const rows = this.#collected;
    if (rows.length === 0) return;
    const size = this.#collectedBytes;
    this.#collected = [];
    const { bytes, start, n } = rows[0]!;
    const fits = this.#unwritten.size === 0 && this.#disk.hasRoom(size + this.#disk.reserved);
    const segment = fits ? this.#disk.append(bytes, start, start + size) : null;
    if (!segment) {
      for (const row of rows) this.#writeInShortage(row);
      return;
    }
    for (const { replaces } of rows) if (replaces !== null) this.#provisionals.release(replaces);
    if (!this.#rest && this.#waiting.bytes < this.options.memoryBytes) {
      segment.outstanding += rows.length;
      for (const row of rows) this.#keep(row, segment);
      return;
    }
    // Everything before these lines is in memory or settled, or they follow records that are only in the files.
    this.#rest ??= this.#restFrom(segment, this.#segments.writeStart, n, 0);
    this.#rest.add(rows.length);
    this.#line.at = start;
  }

  /** Writes records that the disk did not accept before; false where it still does not. */
  retryWrites(): boolean {
    for (const row of this.#unwritten) if (!this.#writeAlone(row)) return false;
    return true;
  }

  /** Where everything is settled, the file is used from its beginning again. */
  reuse(): void {
    if (this.ready === 0 && this.#collected.length === 0) this.#retire();
  }

  /** The oldest records, at most `max`. They stay until they are dropped. */
  head(max: number): readonly SettlementRow[] {
    // Only when memory is empty, so that the numbers in it stay in order.
    while (this.#waiting.length === 0 && this.#rest) this.#readRest();
    return this.#waiting.batch(max);
  }

  /** Drops the first `count` records, which are settled or set aside. */
  drop(count: number): void {
    for (const row of this.#waiting.take(count)) this.#release(row);
    this.#retire();
  }

  /** Keeps the first record, which the store refused and which could not be set aside, in its file; the others go on. */
  holdRefused(): void {
    const [row] = this.#waiting.take(1);
    if (row) this.#refused.push(row);
  }

  /** Tries again to set refused records aside. */
  retrySetAside(setAside: (row: SettlementRow) => boolean): void {
    if (this.#refused.length === 0) return;
    const left = this.#refused.filter((row) => !setAside(row));
    for (const row of this.#refused) if (!left.includes(row)) this.#release(row);
    this.#refused = left;
    this.#retire();
  }

  /** Makes the provisional records final, because their requests will not end any more. */
  closeProvisionals(): void {
    for (const { row, segment } of this.#provisionals.takeAll())
      this.#keep({ ...row, n: ++this.#appended, segment, replaces: null }, segment);
  }

  /** Everything that is not settled, without removing it. */
  *unsettled(): Generator<SettlementRow> {
    yield* this.#refused;
    yield* this.#waiting.rows;
    for (const line of this.#rest?.lines() ?? []) yield { ...line, accountId: '', keyId: '', chargePico: 0n };
    yield* this.#collected;
    yield* this.#provisionals.rows();
  }

  #release(row: Waiting): void {
    this.#waiting.forget(row);
    if (row.segment) row.segment.outstanding--;
    if (row.replaces !== null) this.#provisionals.release(row.replaces);
    this.#unwritten.delete(row);
  }

  #retire(): void {
    // After the last record there may still be a partial line, or an empty file, that keeps its segment from being deleted.
    while (this.ready === 0 && this.#rest) this.#readRest();
    this.#segments.retire(this.#rest?.segment);
    if (this.ready > 0 || this.#collected.length > 0) return;
    this.#segments.empty(this.#disk.reserved);
    this.#lastOfKey.clear();
    // The lines in the present piece are not needed any more.
    if (this.#refused.length === 0) this.#line.at = 0;
  }

  #nextPiece(bytes: number): void {
    this.write();
    this.#line = new LineWriter(Buffer.allocUnsafeSlow(bytes));
  }

  #keep(row: Waiting, segment: Segment | null): void {
    row.segment = segment;
    this.#waiting.add(row);
  }

  /** The reserved space is for records that cost money. The others stay in memory, as many as fit there. */
  #writeInShortage(row: Waiting): void {
    if (row.chargePico === 0n) {
      if (row.replaces !== null) this.#provisionals.release(row.replaces);
      if (this.#waiting.bytes < this.options.memoryBytes) this.#keep(row, null);
      return;
    }
    this.#keep(row, null);
    this.#unwritten.add(row);
    this.#writeAlone(row);
  }

  #writeAlone(row: Waiting): boolean {
    const segment = this.#disk.append(row.bytes, row.start, row.end);
    if (!segment) return false;
    row.segment = segment;
    segment.outstanding++;
    this.#unwritten.delete(row);
    if (row.replaces !== null) this.#provisionals.release(row.replaces);
    this.#rest?.passOver(rowId(row));
    return true;
  }

  #restFrom(segment: Segment, offset: number, n: number, count: number): Rest {
    return new Rest(this.#segments, this.#left, { segment, offset, n, count });
  }

  #readRest(): void {
    if (!this.#rest!.read(this.#take, this.options.torn)) this.#rest = null;
    this.#segments.retire(this.#rest?.segment);
  }

  readonly #take = (line: Line, n: number, segment: Segment): void => {
    const { bytes, start, end } = line;
    segment.outstanding++;
    try {
      this.#keep({ ...readSettlementRow(bytes, start, end), n, segment, replaces: null }, segment);
    } catch (error) {
      const place = { ...line, accountId: '', keyId: '', chargePico: 0n, n, segment, replaces: null };
      this.#waiting.count(place);
      if (this.options.unreadable(bytes.toString('utf8', start, end - 1), error)) this.#release(place);
      else this.#refused.push(place);
    }
  };
}
