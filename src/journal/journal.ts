/**
 * The settlement journal of a process: a record is in a local file before its answer's last byte leaves. The settler of the data directory
 * reads it there and moves it to the store, for as long as that takes. A killed process, an absent store or a full disk lose nothing, and
 * because settling is idempotent nothing is billed twice.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Lock, takeLock } from '../base/lock.js';
import type { Logger } from '../base/logger.js';
import type { Generation } from '../domain/generation.js';
import { recordText, type SettlementRow, settlementRow } from '../domain/settlement-row.js';
import { JournalDisk } from './journal-disk.js';
import { dueRecords, finalRecord, GroupCommit, JournalRecords } from './journal-records.js';
import { type JournalFiles, Segments } from './journal-segments.js';
import { SettledPosition } from './settled-position.js';
import type { SettlerPort } from './settler-port.js';

/** A record takes half a kilobyte, so these are some thousands. */
const lookBytes = 4 << 20;

export interface Journal {
  /**
   * Takes the record. At the end of this turn of the event loop it is in a file, so it survives the process, and
   * `whenWritten` is called to send the answer's last bytes. A full disk is no error: the record stays in memory.
   */
  append(generation: Generation, whenWritten?: () => void): void;
  /**
   * When this returns, what a generation has cost so far is in a file. `append` replaces it; after a crash it is settled.
   */
  appendProvisional(generation: Generation): void;
  /** Reserves space for the records of a request that costs money; false where it must not be forwarded. */
  reserve(bytes: number): boolean;
  /** Gives back what `reserve` took. */
  release(bytes: number): void;
  /** Why nothing can be reserved now; null where it can. */
  readonly fault: string | null;
  /**
   * True when everything appended before the call is in the store; false after `timeoutMs`. Writes and settles at once. With a key
   * it waits for that key's records only, so that a key without any does not wait while many of others are on their way. Never rejects.
   */
  settled(timeoutMs: number, keyId?: string): Promise<boolean>;
  /**
   * The final record of a generation, by its id or that of its request, that is not in the store yet. Only the last megabytes are looked
   * through, which is where a client finds the answer that it has just had.
   */
  unsettled(id: string): Generation | null;
  /** The number of records that are not in the store yet. */
  readonly depth: number;
  /** For the metrics: read at a scrape and not on the request path. */
  figures(): JournalFigures;
  /**
   * Writes what was collected to the file, and passes on every unsettled record, also provisional ones, as a line of JSON.
   */
  reportUnsettled(write: (line: string) => void): number;
  /**
   * Settles what it can within a time limit. The rest stays in the files for the next start. Resolves to the number of
   * records left, each of which was reported.
   */
  close(report?: (line: string) => void): Promise<number>;
}

export interface JournalFigures {
  readonly depth: number;
  /** When the oldest waiting record was created, in epoch milliseconds; null where none waits. */
  readonly oldestAt: number | null;
  /** The number of records that have left the journal since this process began, including those set aside. */
  readonly settled: number;
  readonly setAside: number;
  /** Damaged places in journals of this process and of those that are gone. */
  readonly damaged: number;
  /** The number of bills since this process began that are a lower bound, those included that earlier processes left. */
  readonly estimated: number;
}

/** When records are flushed to the disk: before their answers end, once a second, or when the system does it. */
type JournalSync = 'always' | 'interval' | 'never';

export interface JournalOptions {
  /** The directory of this process alone. */
  dir: string;
  settler: SettlerPort;
  logger: Logger;
  sync?: JournalSync;
  segmentBytes?: number;
  memoryBytes?: number;
  closeMs?: number;
  /** Space is allocated in steps of this size, the first at start. */
  stepBytes?: number;
  /** Whether the store keeps its data on the same disk. */
  sharesStoreDisk?: boolean;
  /** How often to check whether the disk accepts writes. */
  probeMs?: number;
  files?: JournalFiles;
  /** Writes records to the store without the settler; absent where that cannot be done. Rejects where the store does not take them. */
  settleDirectly?: (rows: readonly SettlementRow[]) => Promise<void>;
}

const defaultStepBytes = 1 << 20;
const fullDiskCloseMs = 2_000;
const syncEveryMs = 1_000;
/** How often somebody who waits tries whether the disk accepts writes again. */
const unwrittenPauseMs = 100;

export async function openJournal(options: JournalOptions): Promise<Journal> {
  const lock = await takeLock(join(options.dir, 'lock'), `The settlement journal ${options.dir}`);
  try {
    return new FileJournal(options, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

class FileJournal implements Journal {
  readonly #segments: Segments;
  readonly #disk: JournalDisk;
  readonly #records: JournalRecords;
  readonly #settled: SettledPosition;
  readonly #commit: GroupCommit;
  readonly #timers: NodeJS.Timeout[];
  #estimated = 0;
  /** Whether something was written since the last flush to the disk. */
  #unsynced = false;

  constructor(
    private readonly options: JournalOptions,
    private readonly lock: Lock,
  ) {
    const { dir, logger, stepBytes = defaultStepBytes, probeMs = 1_000, sync = 'never' } = options;
    const run = randomBytes(8).toString('hex');
    const { segmentBytes = 8 << 20, files, sharesStoreDisk: sharesStore = false } = options;
    this.#segments = new Segments(dir, { run, segmentBytes, stepBytes, files });
    this.#disk = new JournalDisk(this.#segments, {
      ...{ stepBytes, sharesStore, reuse: () => this.#reuse() },
      failed: (reason) =>
        logger.error(
          { dir, reason },
          'the journal cannot be written; requests that cost money are refused until it can: free space on its disk, or mount it writable',
        ),
      works: () => logger.info({ dir }, 'the journal can be written again'),
    });
    const { memoryBytes = 16 << 20 } = options;
    const written = { always: () => this.#segments.syncNow(), interval: () => this.#noteUnsynced(), never: undefined }[
      sync
    ];
    this.#records = new JournalRecords({ segments: this.#segments, disk: this.#disk, memoryBytes, sync: written });
    this.#settled = new SettledPosition(options.settler, { dir, run }, () => this.#progressed());
    this.#commit = new GroupCommit(this.#records, logger);
    this.#probe();
    this.#timers = [setInterval(() => this.#probe(), probeMs).unref()];
    if (sync === 'interval') this.#timers.push(setInterval(() => this.#sync(), syncEveryMs).unref());
  }

  append(generation: Generation, whenWritten?: () => void): void {
    if (generation.usageSource === 'estimated') this.#estimated++;
    this.#commit.append(generation, whenWritten);
  }

  appendProvisional(generation: Generation): void {
    this.#records.appendProvisional(generation);
  }

  reserve(bytes: number): boolean {
    return this.#records.reserve(bytes);
  }

  release(bytes: number): void {
    this.#disk.release(bytes);
  }

  get fault(): string | null {
    return this.#disk.fault;
  }

  async settled(timeoutMs: number, keyId?: string): Promise<boolean> {
    this.#commit.flush();
    const end = () => (keyId === undefined ? this.#records.end : this.#records.endOf(keyId));
    if (end() !== Number.POSITIVE_INFINITY) return this.#settled.reaches(end(), timeoutMs);
    // Some records are only in memory, because the disk did not accept them.
    const startedAt = performance.now();
    for (let leftMs = timeoutMs; leftMs > 0; leftMs = timeoutMs - (performance.now() - startedAt)) {
      this.#probe();
      if (end() !== Number.POSITIVE_INFINITY) return this.#settled.reaches(end(), leftMs);
      await pause(Math.min(leftMs, unwrittenPauseMs));
    }
    return false;
  }

  unsettled(id: string): Generation | null {
    this.#commit.flush();
    const from = Math.max(this.#settled.progress.settled, this.#segments.end - lookBytes);
    return finalRecord([...this.#segments.from(from), ...this.#records.unwritten], id);
  }

  get depth(): number {
    return Math.max(0, this.#records.appended - this.#settled.progress.records);
  }

  figures(): JournalFigures {
    const { records, settled, setAside, damaged, estimated } = this.#settled.progress;
    const oldestAt = this.#records.oldestAt(settled);
    return { depth: this.depth, oldestAt, settled: records, setAside, damaged, estimated: this.#estimated + estimated };
  }

  reportUnsettled(write: (line: string) => void): number {
    this.#commit.flush();
    let count = 0;
    for (const generation of dueRecords(this.#unsettledBytes())) {
      write(recordText(settlementRow(generation)));
      count++;
    }
    return count;
  }

  async close(report?: (line: string) => void): Promise<number> {
    this.#commit.flush();
    this.#probe();
    await this.#settleUnwritten();
    const { closeMs = 10_000, sharesStoreDisk = false } = this.options;
    // A store on a full disk accepts nothing either.
    const waitMs = sharesStoreDisk && this.#disk.fault !== null ? Math.min(closeMs, fullDiskCloseMs) : closeMs;
    const isWritten = () => this.#records.unwritten.length === 0;
    // A process that has written nothing need not wait for the settler.
    const isUnused = () => isWritten() && this.#segments.end === 0;
    const isDone = isUnused() || (isWritten() && (await this.#settled.finishes(waitMs)) && isWritten());
    for (const timer of this.#timers) clearInterval(timer);
    if (!isDone) this.#probe();
    const left = isDone ? 0 : this.reportUnsettled(report ?? (() => {}));
    try {
      this.#segments.close(isDone);
    } catch (error) {
      // What cannot be cut off or deleted is settled or skipped by the next start.
      this.options.logger.warn({ dir: this.options.dir, error: String(error) }, 'the journal could not be tidied up');
    }
    this.lock.release();
    this.#settled.close();
    return left;
  }

  /** What no disk has taken would end with the process. */
  async #settleUnwritten(): Promise<void> {
    const { settleDirectly, logger } = this.options;
    const rows = [...dueRecords(this.#records.unwritten)].map(settlementRow);
    if (rows.length === 0 || !settleDirectly) return;
    try {
      await settleDirectly(rows);
      this.#records.dropUnwritten();
      logger.info({ records: rows.length }, 'records that the disk did not take went to the store at once');
    } catch (error) {
      logger.warn({ error: String(error) }, 'records that the disk did not take could not go to the store either');
    }
  }

  *#unsettledBytes(): Generator<Buffer> {
    yield* this.#segments.from(this.#settled.progress.free);
    yield* this.#records.unwritten;
  }

  #progressed(): void {
    const { free, settled } = this.#settled.progress;
    this.#records.settled(settled);
    try {
      this.#segments.retire(free);
    } catch (error) {
      this.options.logger.warn(
        { error: String(error) },
        'a settled file of the journal cannot be deleted; trying again',
      );
    }
  }

  /** Where everything is settled, a file that cannot grow is used from its beginning again. */
  #reuse(): void {
    if (this.#settled.progress.free >= this.#segments.end) this.#segments.reuse(this.#disk.reserved);
  }

  #probe(): void {
    this.#disk.probe(() => this.#records.retryWrites());
  }

  #noteUnsynced(): void {
    this.#unsynced = true;
  }

  #sync(): void {
    if (!this.#unsynced) return;
    this.#unsynced = false;
    this.#segments.sync((error) => {
      if (error) this.options.logger.error({ error: String(error) }, 'the journal cannot be flushed to the disk');
    });
  }
}
