/**
 * The settlement journal (architecture 3, ruling 16): a record is in a local file before its answer's last byte leaves, and
 * a writer moves records to the store in batches for as long as it takes. Nothing is lost by a killed process or an absent
 * store, and since settling is idempotent nothing is billed twice.
 */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { type Lock, takeLock } from '../storage/lock.js';
import type { Generation } from '../storage/records.js';
import { lineText, type SettlementRow } from '../storage/settlement-row.js';
import { StoreUnavailable } from '../storage/store.js';
import { GroupCommit } from './group-commit.js';
import { JournalQueue } from './journal-queue.js';
import { Segments } from './journal-segments.js';
import { SettlementWriter } from './settlement-writer.js';

export interface Journal {
  /**
   * Takes the record; at the end of this turn of the event loop it is in a file, durable against the death of the process,
   * and `whenWritten` is called: the answer's last bytes go there. A full disk is no error: the record is kept in memory.
   */
  append(generation: Generation, whenWritten?: () => void): void;
  /** True once everything appended before the call is in the store; false after `timeoutMs`. Writes and settles at once. */
  settled(timeoutMs: number): Promise<boolean>;
  /** Records that are not yet in the store. */
  readonly depth: number;
  /** For the metrics: read at a scrape, not on the request path. */
  figures(): JournalFigures;
  /** Settles what it can within a bound; what is left stays in the files for the next start. */
  close(): Promise<void>;
}

export interface JournalFigures {
  readonly depth: number;
  /** When the oldest record that waits was created, epoch milliseconds; null where none waits. */
  readonly oldestAt: number | null;
  /** Records that have left the journal, since this process began; those set aside among them. */
  readonly settled: number;
  readonly setAside: number;
}

export interface JournalOptions {
  /** Of this process alone. */
  dir: string;
  settle: (rows: readonly SettlementRow[]) => Promise<void>;
  clock: Clock;
  logger: Logger;
  flushMs?: number;
  batchRecords?: number;
  segmentBytes?: number;
  memoryBytes?: number;
  closeMs?: number;
}

/** Resolves when what earlier processes left is settled, or when the store turned out to be away. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { dir, settle, logger, flushMs = 250, batchRecords = 1000, closeMs = 10_000 } = options;
  const lock = await takeLock(join(dir, 'lock'), `The settlement journal ${dir}`);
  try {
    const segments = new Segments(dir, options.segmentBytes ?? 8 << 20);
    const aside = Object.assign(
      (line: string, error: unknown) => {
        aside.count++;
        setAside(options, line, error);
      },
      { count: 0 },
    );
    const queue = new JournalQueue(segments, options.memoryBytes ?? 16 << 20, {
      unreadable: aside,
      torn: (file) => logger.warn({ file }, 'the journal ends in a record that was cut short; it is skipped'),
      diskFailed: (error) =>
        logger.error({ error: String(error) }, 'the journal cannot be written; records are kept in memory'),
      diskWorks: () => logger.info({}, 'the journal can be written again'),
    });
    await queue.adopt();
    const writer = new SettlementWriter(queue, {
      settle,
      setAside: (row, error) => aside(lineText(row), error),
      isAway: (error) => error instanceof StoreUnavailable,
      logger,
      flushMs,
      batchRecords,
    });
    await writer.replay();
    const commit = new GroupCommit(queue, () => writer.appended(), logger);
    return journalOf({ queue, commit, writer, segments, lock, closeMs, setAside: () => aside.count });
  } catch (error) {
    lock.release();
    throw error;
  }
}

interface Parts {
  queue: JournalQueue;
  commit: GroupCommit;
  writer: SettlementWriter;
  segments: Segments;
  lock: Lock;
  closeMs: number;
  setAside: () => number;
}

function journalOf({ queue, commit, writer, segments, lock, closeMs, setAside }: Parts): Journal {
  const settled = (timeoutMs: number): Promise<boolean> => {
    commit.flush();
    return writer.settled(timeoutMs);
  };
  return {
    append: (generation, whenWritten) => commit.append(generation, whenWritten),
    settled,
    get depth() {
      return queue.depth;
    },
    figures: () => {
      const { depth, oldestAt, settled } = queue;
      return { depth, oldestAt, settled, setAside: setAside() };
    },
    async close() {
      await settled(closeMs);
      commit.flush();
      writer.stop();
      segments.close(queue.depth === 0);
      lock.release();
    },
  };
}

/** A record that the store will never take goes into a file of its own, for a person to look at, and the rest flows on. */
function setAside({ dir, clock, logger }: JournalOptions, line: string, cause: unknown): void {
  const entry = JSON.stringify({ at: new Date(clock.now()).toISOString(), error: String(cause), record: line });
  try {
    const fd = openSync(join(dir, 'set-aside.log'), 'a', 0o600);
    writeSync(fd, `${entry}\n`);
    fsyncSync(fd);
    closeSync(fd);
    logger.error({ error: String(cause) }, 'a record cannot be settled; it was set aside in set-aside.log');
  } catch (error) {
    // The log is then the only place left; a record holds no prompt, answer or secret.
    logger.error(
      { error: String(cause), record: line, asideError: String(error) },
      'a record can neither be settled nor set aside',
    );
  }
}
