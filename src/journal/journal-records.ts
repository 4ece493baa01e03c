/**
 * The records that this process appends. They are collected in one buffer and written to the file with one write a turn; from then on a
 * position stands for them. Only what the disk did not accept stays in memory.
 */
import type { Logger } from '../base/logger.js';
import { atEndOfTurn } from '../base/turn.js';
import type { Generation } from '../domain/generation.js';
import { scanFrames } from './frames.js';
import type { JournalDisk } from './journal-disk.js';
import type { Segments } from './journal-segments.js';
import { idIn, kindIn, RecordWriter, readRecord, recordBytes } from './record.js';

interface RecordsOptions {
  segments: Segments;
  disk: JournalDisk;
  /** How much of what cost nothing is kept in memory while the disk is full. */
  memoryBytes: number;
  /** Returns when the records are on the disk; absent where nobody waits for that. */
  sync?: (() => void) | undefined;
}

/** The records of one turn fill a part of it. */
const bufferBytes = 1 << 20;
/** With less space than this at the end, what is collected is written first. */
const recordRoom = 2048;
/** The times of records are kept for this many moments. */
const marksMax = 4096;
const markMs = 1_000;

interface Unwritten {
  readonly bytes: Buffer;
  readonly keyId: string;
  readonly isCharged: boolean;
}

export class JournalRecords {
  readonly #segments: Segments;
  readonly #disk: JournalDisk;
  #writer = new RecordWriter(Buffer.allocUnsafeSlow(bufferBytes));
  readonly #provisional = new RecordWriter(Buffer.allocUnsafeSlow(16 * 1024));
  /** The keys of the collected records. */
  #keys: string[] = [];
  #appended = 0;
  /** The position after the last record of each key, until everything is settled. */
  readonly #endOfKey = new Map<string, number>();
  /** Streams that have a provisional record. */
  readonly #open = new Set<string>();
  /** What the disk did not accept. */
  #unwritten: Unwritten[] = [];
  #unwrittenBytes = 0;
  /** When records were created, at most one a second. */
  readonly #marks: { position: number; at: number }[] = [];
  #markedAt: number | null = null;

  constructor(private readonly options: RecordsOptions) {
    this.#segments = options.segments;
    this.#disk = options.disk;
  }

  /** How many records were appended. */
  get appended(): number {
    return this.#appended;
  }

  /** The position after the last record; beyond every position while some are only in memory. */
  get end(): number {
    return this.#unwritten.length > 0 ? Number.POSITIVE_INFINITY : this.#segments.end;
  }

  /** The position after the last record of this key; 0 where it has none that may not be settled. */
  endOf(keyId: string): number {
    return this.#endOfKey.get(keyId) ?? 0;
  }

  get unwritten(): readonly Buffer[] {
    return this.#unwritten.map(({ bytes }) => bytes);
  }

  /** About when the oldest record that is not settled was created, in epoch milliseconds; null where there is none. */
  oldestAt(settled: number): number | null {
    if (settled >= this.end && this.#writer.at === 0) return null;
    return this.#marks[0]?.at ?? this.#markedAt;
  }

  /** Reserves space for the records of a running request; false where it must not be forwarded. */
  reserve(bytes: number): boolean {
    return this.#disk.reserve(bytes, this.#writer.at);
  }

  /** Collects the record; `write` writes it to the file. */
  append(generation: Generation): void {
    if (this.#writer.at + recordRoom > this.#writer.bytes.length) this.write();
    while (!this.#writer.write('final', generation)) {
      if (this.#writer.at > 0) this.write();
      else this.#writer = new RecordWriter(Buffer.allocUnsafeSlow(2 * this.#writer.bytes.length));
    }
    this.#appended++;
    this.#keys.push(generation.keyId);
    if (this.#open.size > 0) this.#open.delete(generation.id);
    this.#mark(generation.createdAt);
  }

  /** Writes at once what a generation has cost so far. An update of an earlier one takes no reserved space. */
  appendProvisional(generation: Generation): void {
    const writer = this.#provisional;
    const isUpdate = this.#open.has(generation.id) && generation.streamEnd !== 'client_closed';
    writer.at = 0;
    const fits = writer.write('provisional', generation);
    const record = fits ? writer.bytes.subarray(0, writer.at) : recordBytes('provisional', generation);
    const room = this.#segments.room - this.#disk.reserved - this.#writer.at;
    if (isUpdate && room < record.length) return;
    this.#disk.append(record, 0, record.length);
    this.#open.add(generation.id);
  }

  /** Writes everything collected to the file with one write. Where the disk refuses, the records stay in memory. */
  write(): void {
    const { at: size, bytes } = this.#writer;
    if (size === 0) return;
    this.#writer.at = 0;
    const fits = this.#unwritten.length === 0 && this.#disk.hasRoom(size + this.#disk.reserved);
    if (fits && this.#disk.append(bytes, 0, size)) {
      const { end } = this.#segments;
      for (const keyId of this.#keys) this.#endOfKey.set(keyId, end);
      this.options.sync?.();
    } else this.#writeInShortage(bytes.subarray(0, size));
    this.#keys.length = 0;
    // A record of megabytes must not keep its buffer.
    if (bytes.length > bufferBytes) this.#writer = new RecordWriter(Buffer.allocUnsafeSlow(bufferBytes));
  }

  /** Writes records that the disk did not accept before; false where it still does not. */
  retryWrites(): boolean {
    while (this.#unwritten.length > 0) {
      const [{ bytes, isCharged }] = this.#unwritten as [Unwritten];
      // The reserved space is for records that cost money.
      if (!isCharged && !this.#disk.hasRoom(bytes.length + this.#disk.reserved)) return false;
      if (!this.#disk.append(bytes, 0, bytes.length)) return false;
      this.#written(this.#unwritten.shift()!);
    }
    return true;
  }

  /** They are in the store without having been in a file. */
  dropUnwritten(): void {
    this.#unwritten = [];
    this.#unwrittenBytes = 0;
  }

  /** Everything before this position is settled. */
  settled(position: number): void {
    while (this.#marks[0] && this.#marks[0].position <= position) this.#markedAt = this.#marks.shift()!.at;
    if (position >= this.end && this.#writer.at === 0) this.#endOfKey.clear();
  }

  #written({ keyId, bytes }: Unwritten): void {
    this.#unwrittenBytes -= bytes.length;
    this.#endOfKey.set(keyId, this.#segments.end);
    // Others of the same key may still wait.
    if (this.#unwritten.some((other) => other.keyId === keyId)) this.#endOfKey.set(keyId, Number.POSITIVE_INFINITY);
  }

  /** The reserved space is for records that cost money. The others stay in memory, as many as fit there. */
  #writeInShortage(records: Buffer): void {
    scanFrames(records, true, {
      take: (start, end) => {
        const { keyId, billed, costPico, countedPico } = readRecord(records, start, end);
        const record = {
          keyId,
          isCharged: billed && (costPico !== 0n || (countedPico ?? 0n) !== 0n),
          bytes: Buffer.from(records.subarray(start, end)),
        };
        if (record.isCharged && this.#disk.append(record.bytes, 0, record.bytes.length)) {
          this.#endOfKey.set(keyId, this.#segments.end);
        } else if (record.isCharged || this.#unwrittenBytes < this.options.memoryBytes) {
          this.#unwritten.push(record);
          this.#unwrittenBytes += record.bytes.length;
          this.#endOfKey.set(keyId, Number.POSITIVE_INFINITY);
        } else this.#appended--;
        return true;
      },
      damaged: () => true,
    });
    // Those that cost money are written first.
    this.#unwritten.sort((a, b) => Number(b.isCharged) - Number(a.isCharged));
  }

  #mark(at: number): void {
    const last = this.#marks.at(-1);
    if (last && (at - last.at < markMs || this.#marks.length >= marksMax)) return;
    this.#marks.push({ position: this.#segments.end + this.#writer.at, at });
  }
}

/**
 * Group commit: one write brings the records of one turn of the event loop into the file, and only then the answers that wait
 * for it send their last bytes, in the order of their records.
 */
export class GroupCommit {
  #due: (() => void)[] = [];
  #scheduled = false;

  constructor(
    private readonly records: JournalRecords,
    private readonly logger: Logger,
  ) {}

  append(generation: Generation, whenWritten?: () => void): void {
    this.records.append(generation);
    if (whenWritten) this.#due.push(whenWritten);
    if (this.#scheduled) return;
    this.#scheduled = true;
    atEndOfTurn('records', this.#endOfTurn);
  }

  /** Does at once what the end of the turn would do. */
  flush(): void {
    this.records.write();
    if (this.#due.length === 0) return;
    const due = this.#due;
    // A callback may append again.
    this.#due = [];
    for (const whenWritten of due) this.#run(whenWritten);
  }

  readonly #endOfTurn = (): void => {
    this.#scheduled = false;
    this.flush();
  };

  #run(whenWritten: () => void): void {
    try {
      whenWritten();
    } catch (error) {
      this.logger.error({ error: String(error) }, 'an answer failed after its record was written');
    }
  }
}

/** The records among some bytes that are due: the final ones, and the last provisional one of each generation that has no final one. */
export function* dueRecords(pieces: Iterable<Buffer>): Generator<Generation> {
  const provisional = new Map<string, Generation>();
  for (const bytes of pieces) {
    const found: Generation[] = [];
    scanFrames(bytes, true, {
      take: (start, end) => {
        const kind = kindIn(bytes, start);
        if (kind === 'final' || kind === 'provisional') provisional.delete(idIn(bytes, start, end));
        if (kind === 'final') found.push(readRecord(bytes, start, end));
        if (kind === 'provisional') provisional.set(idIn(bytes, start, end), readRecord(bytes, start, end));
        return true;
      },
      damaged: () => true,
    });
    yield* found;
  }
  yield* provisional.values();
}

/** By the id of the generation or of its request; null where there is none. */
export function finalRecord(pieces: readonly Buffer[], id: string): Generation | null {
  let found: Generation | null = null;
  for (const bytes of pieces) {
    // A search for bytes takes a hundredth of the time that reading takes.
    if (!bytes.includes(id)) continue;
    scanFrames(bytes, true, {
      take: (start, end) => {
        if (kindIn(bytes, start) !== 'final' || !bytes.subarray(start, end).includes(id)) return true;
        const generation = readRecord(bytes, start, end);
        if (generation.id === id || generation.requestId === id) found = generation;
        return found === null;
      },
      damaged: () => true,
    });
  }
  return found;
}
