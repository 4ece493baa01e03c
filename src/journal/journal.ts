/**
 * The settlement journal: a record is in a local file before its answer's last byte leaves, and a writer moves records to the
 * store in batches for as long as it takes. A killed process, an absent store or a full disk lose nothing, and because
 * settling is idempotent nothing is billed twice.
 */
import { join } from 'node:path';
import { type Lock, takeLock } from '../base/lock.js';
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import { atEndOfTurn } from '../base/turn.js';
import type { Generation } from '../domain/generation.js';
import { lineText, recordText, type SettlementRow } from '../domain/settlement-row.js';
import { StoreUnavailable } from '../storage/store.js';
import { JournalDisk } from './journal-disk.js';
import { JournalQueue } from './journal-queue.js';
import { type JournalFiles, Segments } from './journal-segments.js';
import { SetAsideFile } from './set-aside.js';
import { SettlementWriter } from './settlement-writer.js';

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
  /** The number of bills since this process began that are a lower bound, those included that earlier processes left. */
  readonly estimated: number;
}

export interface JournalOptions {
  /** The directory of this process alone. */
  dir: string;
  settle: (rows: readonly SettlementRow[]) => Promise<void>;
  clock: Clock;
  logger: Logger;
  flushMs?: number;
  batchRecords?: number;
  segmentBytes?: number;
  memoryBytes?: number;
  closeMs?: number;
  /** Space is allocated in steps of this size, the first at start; 0 where nothing will be appended. */
  stepBytes?: number;
  /** Whether the store keeps its data on the same disk. */
  sharesStoreDisk?: boolean;
  /** How often to check whether the disk accepts writes. */
  probeMs?: number;
  files?: JournalFiles;
}

const defaultStepBytes = 1 << 20;
const fullDiskCloseMs = 2_000;

/** Resolves when the records of earlier processes are settled, or when the store turns out to be away. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { dir, settle, logger, flushMs = 250, batchRecords = 1000, closeMs = 10_000 } = options;
  const lock = await takeLock(join(dir, 'lock'), `The settlement journal ${dir}`);
  try {
    const { stepBytes = defaultStepBytes, sharesStoreDisk = false, probeMs = 1_000 } = options;
    const segments = new Segments(dir, {
      segmentBytes: options.segmentBytes ?? 8 << 20,
      stepBytes: stepBytes || defaultStepBytes,
      files: options.files,
    });
    const disk = new JournalDisk(segments, {
      stepBytes: stepBytes || defaultStepBytes,
      sharesStore: sharesStoreDisk,
      reuse: () => queue.reuse(),
      failed: (reason) =>
        logger.error({ reason }, 'the journal cannot be written; requests that cost money are refused until it can'),
      works: () => logger.info({}, 'the journal can be written again'),
    });
    const aside = new SetAsideFile(options);
    const memoryBytes = options.memoryBytes ?? 16 << 20;
    const queue: JournalQueue = new JournalQueue({
      ...{ segments, disk, memoryBytes },
      unreadable: (line, error) => aside.add(line, error),
      torn: (file) => logger.warn({ file }, 'the journal ends in a record that was cut short; it is skipped'),
    });
    const estimated = await queue.adopt();
    const writer = new SettlementWriter(queue, {
      settle,
      setAside: (row, error) => aside.add(lineText(row), error),
      isAway: (error) => error instanceof StoreUnavailable,
      logger,
      flushMs,
      batchRecords,
    });
    await writer.replay();
    const commit = new GroupCommit(queue, () => writer.appended(), logger);
    const probe = () => {
      disk.probe(() => queue.retryWrites());
      queue.retrySetAside((row) => aside.add(lineText(row), 'refused before'));
    };
    if (stepBytes > 0) probe();
    const timer = stepBytes > 0 ? setInterval(probe, probeMs).unref() : undefined;
    return journalOf({
      queue,
      estimated,
      disk,
      commit,
      writer,
      segments,
      lock,
      closeMs,
      sharesStoreDisk,
      timer,
      probe,
      aside,
    });
  } catch (error) {
    lock.release();
    throw error;
  }
}

interface Parts {
  queue: JournalQueue;
  /** Bills of earlier processes that are a lower bound. */
  estimated: number;
  disk: JournalDisk;
  commit: GroupCommit;
  writer: SettlementWriter;
  segments: Segments;
  lock: Lock;
  closeMs: number;
  sharesStoreDisk: boolean;
  timer: NodeJS.Timeout | undefined;
  probe: () => void;
  aside: SetAsideFile;
}

function journalOf(parts: Parts): Journal {
  let { estimated } = parts;
  const { queue, disk, commit, writer, segments, lock, closeMs, sharesStoreDisk, timer, probe, aside } = parts;
  const settled = (timeoutMs: number, keyId?: string): Promise<boolean> => {
    commit.flush();
    return writer.settled(timeoutMs, keyId === undefined ? queue.appended : queue.lastOf(keyId));
  };
  const reportUnsettled = (write: (line: string) => void): number => {
    commit.flush();
    let count = 0;
    for (const row of queue.unsettled()) {
      write(recordText(row));
      count++;
    }
    return count;
  };
  return {
    append(generation, whenWritten) {
      if (generation.usageSource === 'estimated') estimated++;
      commit.append(generation, whenWritten);
    },
    appendProvisional: (generation) => commit.appendProvisional(generation),
    reserve: (bytes) => queue.reserve(bytes),
    release: (bytes) => disk.release(bytes),
    get fault() {
      return disk.fault;
    },
    settled,
    get depth() {
      return queue.depth;
    },
    figures: () => {
      const { depth, oldestAt, settled } = queue;
      return { depth, oldestAt, settled, setAside: aside.count, estimated };
    },
    reportUnsettled,
    async close(report) {
      commit.flush();
      queue.closeProvisionals();
      // A store on a full disk accepts nothing either.
      await settled(sharesStoreDisk && disk.fault !== null ? Math.min(closeMs, fullDiskCloseMs) : closeMs);
      commit.flush();
      writer.stop();
      clearInterval(timer);
      if (!queue.isEmpty) probe();
      const left = report ? reportUnsettled(report) : queue.depth;
      segments.close(queue.isEmpty);
      lock.release();
      return left;
    },
  };
}

/**
 * Group commit: one write brings the records of one turn of the event loop into the file, and only then the answers that wait
 * for it send their last bytes, in the order of their records.
 */
class GroupCommit {
  #due: (() => void)[] = [];
  #scheduled = false;

  constructor(
    private readonly queue: JournalQueue,
    /** Called after every write. */
    private readonly written: () => void,
    private readonly logger: Logger,
  ) {}

  append(generation: Generation, whenWritten?: () => void): void {
    this.queue.append(generation);
    if (whenWritten) this.#due.push(whenWritten);
    if (this.#scheduled) return;
    this.#scheduled = true;
    atEndOfTurn('records', this.#endOfTurn);
  }

  /** Writes the record at once; `append` replaces it. */
  appendProvisional(generation: Generation): void {
    this.queue.appendProvisional(generation);
  }

  /** Does at once what the end of the turn would do. */
  flush(): void {
    this.queue.write();
    this.written();
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
