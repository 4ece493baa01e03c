/**
 * Settles the journals of a data directory: it reads the streams of all its processes and moves their records to the store in batches,
 * which grow with what waits. The store notes with each batch how far the streams are settled, so a settler that dies is followed by one
 * that goes on behind it, and because settling is idempotent nothing is billed twice.
 */
import fs from 'node:fs';
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import { type JournalOffset, lineText } from '../domain/settlement-row.js';
import { StoreUnavailable } from '../storage/store.js';
import { RecordExpander } from './record-expander.js';
import { SetAsideFile } from './set-aside.js';
import { SettlementWriter } from './settlement-writer.js';
import type { Attachment, Progress, RunPlace, SettlerPort } from './settler-port.js';
import type { Source, Waiting } from './source.js';
import { addCounts, noCounts, type Stream } from './stream.js';
import { Streams } from './streams.js';

export interface SettlerOptions {
  /** The directories that may hold journals. */
  dirs: () => readonly string[];
  settle: (rows: readonly Waiting[], offsets: readonly JournalOffset[]) => Promise<void>;
  offsets: {
    find(run: string): Promise<JournalOffset | null>;
    remove(run: string): Promise<void>;
  };
  clock: Clock;
  logger: Logger;
  flushMs?: number;
  batchRecords?: number;
}

/** A larger settlement could exceed the time limit of a query. */
const batchBytes = 4 << 20;
const defaultBatchRecords = 4_000;

export class Settler implements SettlerPort {
  readonly awaySince = null;
  readonly #streams: Streams;
  readonly #writer: SettlementWriter;
  readonly #asides = new Map<string, SetAsideFile>();
  readonly #expander = new RecordExpander();
  #queue: Waiting[] = [];
  #rounds = 0;
  #waiters: (() => void)[] = [];
  readonly #timer: NodeJS.Timeout;
  /** What happened in streams of processes that are gone and is not told yet. The next process that is attached tells it. */
  readonly untold = noCounts();

  constructor(private readonly options: SettlerOptions) {
    const { logger, flushMs = 250, batchRecords = defaultBatchRecords } = options;
    this.#streams = new Streams({
      ...{ dirs: options.dirs, logger, asideIn: (dir) => this.#asideIn(dir) },
      offset: (run) => options.offsets.find(run),
    });
    this.#writer = new SettlementWriter(this, {
      settle: (rows) => options.settle(rows, this.#offsetsOf(rows)),
      setAside: (row, error) => this.#setAside(row, error),
      isAway: (error) => error instanceof StoreUnavailable,
      logger,
      batchRecords,
    });
    this.#timer = setInterval(() => this.#writer.wake(), flushMs).unref();
  }

  attach(place: RunPlace, progressed: (progress: Progress) => void): Attachment {
    const stream = this.#streams.attach(place, progressed);
    this.#writer.wake();
    return {
      hurry: (position) => {
        stream.wanted = Math.max(stream.wanted, position);
        this.#writer.wake();
      },
      end: () => {
        stream.hasEnded = true;
        this.#writer.wake();
      },
      detach: () => {
        if (stream.listener === progressed) stream.listenTo(null);
        this.#writer.wake();
      },
    };
  }

  async replayed(timeoutMs: number): Promise<boolean> {
    const asked = this.#rounds;
    const until = performance.now() + timeoutMs;
    for (;;) {
      if (this.#rounds > asked && this.#streams.isReplayed) return true;
      const leftMs = until - performance.now();
      if (leftMs <= 0) return false;
      this.#writer.wake();
      await this.#nextChange(leftMs);
    }
  }

  /** Settles nothing more. */
  stop(): Promise<void> {
    clearInterval(this.#timer);
    return this.#writer.stop();
  }

  // What the writer asks for.

  get length(): number {
    return this.#queue.length;
  }

  get isWanted(): boolean {
    return this.#streams.all.some(({ isWanted }) => isWanted);
  }

  /** Reads what was written since. */
  async fill(): Promise<void> {
    await this.#streams.readNew();
    this.#rounds++;
    let bytes = this.#queue.reduce((sum, { start, end }) => sum + end - start, 0);
    for (let found = true; found && bytes < batchBytes; ) {
      found = false;
      for (const stream of this.#streams.all) {
        const rows = stream.source?.isOver === false ? stream.source.read(this.#expander) : [];
        for (const row of rows) bytes += row.end - row.start;
        this.#queue.push(...rows);
        stream.waiting += rows.length;
        found ||= rows.length > 0;
      }
    }
    await this.#tellAll();
  }

  /** The oldest records, at most `max` and as many as one settlement holds. They stay until they are dropped. */
  head(max: number): readonly Waiting[] {
    let count = 0;
    for (let bytes = 0; count < Math.min(max, this.#queue.length); count++) {
      bytes += this.#queue[count]!.end - this.#queue[count]!.start;
      if (count > 0 && bytes > batchBytes) break;
    }
    return this.#queue.slice(0, count);
  }

  /** Drops the first `count` records, which are settled or set aside. */
  async drop(count: number): Promise<void> {
    const streams = this.#bySource();
    for (const row of this.#queue.splice(0, count)) {
      const stream = streams.get(row.source)!;
      stream.waiting--;
      stream.records++;
      stream.settled = Math.max(stream.settled, row.position);
    }
    await this.#tellAll();
  }

  /** Keeps the first record, which the store refused and which could not be set aside, in its file; the others go on. */
  async holdRefused(): Promise<void> {
    const [row] = this.#queue;
    const stream = row && this.#bySource().get(row.source);
    if (stream) {
      stream.held.push(row);
      stream.records--;
    }
    await this.drop(1);
  }

  /** Tries again to set refused records aside. */
  retrySetAside(): void {
    for (const stream of this.#streams.all) {
      const left = stream.held.filter((row) => !this.#setAside(row, 'refused before'));
      stream.records += stream.held.length - left.length;
      stream.held = left;
    }
  }

  async #tellAll(): Promise<void> {
    for (const stream of this.#streams.all) {
      if (stream.listener !== null) {
        addCounts(stream.counts, this.untold);
        Object.assign(this.untold, noCounts());
      }
      stream.advance();
      if (stream.isDone) await this.#finish(stream);
      else stream.tell();
    }
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }

  /** The files first: as long as there is one, the store has to know how far it is settled. */
  async #finish(stream: Stream): Promise<void> {
    try {
      for (const file of stream.source?.files() ?? []) fs.rmSync(file, { force: true });
    } catch (error) {
      // The files of others are settled all the same, and its process need not wait for it.
      if (!stream.isKept)
        this.options.logger.warn(
          { dir: stream.dir, error: String(error) },
          'settled files of the journal cannot be deleted; trying again',
        );
      stream.isKept = true;
      stream.tell(true);
      return;
    }
    if (stream.run !== null) await this.options.offsets.remove(stream.run);
    this.#streams.remove(stream);
    const { records, dir } = stream;
    if (stream.listener === null) addCounts(this.untold, stream.counts);
    if (stream.listener === null && records > 0)
      this.options.logger.info({ dir, records }, 'records of a process that is gone were settled');
    stream.tell(true);
  }

  #bySource(): Map<Source | null, Stream> {
    return new Map(this.#streams.all.map((stream) => [stream.source, stream]));
  }

  #offsetsOf(rows: readonly Waiting[]): JournalOffset[] {
    const last = new Map<Stream, { position: number; count: number }>();
    const streams = this.#bySource();
    for (const { source, position } of rows) {
      const stream = streams.get(source)!;
      last.set(stream, { position, count: (last.get(stream)?.count ?? 0) + 1 });
    }
    const offsets = [...last].map(([stream, { position, count }]) => stream.offsetAt(position, count));
    return offsets.filter((offset) => offset !== null);
  }

  #setAside(row: Waiting, error: unknown): boolean {
    if (!this.#asideIn(row.source.dir).add(lineText(row), error)) return false;
    const stream = this.#bySource().get(row.source);
    if (stream) stream.counts.setAside++;
    return true;
  }

  #asideIn(dir: string): SetAsideFile {
    const aside = this.#asides.get(dir) ?? new SetAsideFile({ ...this.options, dir });
    this.#asides.set(dir, aside);
    return aside;
  }

  #nextChange(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#waiters.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
