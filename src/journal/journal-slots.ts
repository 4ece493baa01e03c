/**
 * The journals of the processes that share a data directory: slot 0 is `journal`, slot n is `journal-<n>`, and each process
 * writes to one that it has locked. Another process settles what a dead one left: at start, at intervals, and on request.
 */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { LockHeld } from '../base/lock.js';
import { SharedRead } from '../base/shared-read.js';
import type { SettlementRow } from '../domain/settlement-row.js';
import { type Journal, type JournalOptions, openJournal } from './journal.js';
import { holdsSegments } from './journal-segments.js';

export interface SlotOptions extends Omit<JournalOptions, 'dir'> {
  dataDir: string;
  /** Gets each record that could not be settled before the end of the process, as a line of JSON. */
  report?: (line: string) => void;
  /** Whether other live processes may use the directory too; without it a second one is refused. */
  shared: boolean;
  /** How often to look for journals that nobody holds. */
  adoptMs?: number;
  /** How long an adoption waits for the store. */
  settleMs?: number;
}

export interface JournalSlot extends Omit<Journal, 'close'> {
  readonly slot: number;
  /**
   * True when everything that earlier processes left, in this slot and in those that nobody held, is in the store; false
   * where that takes longer than the time limit.
   */
  replayed(timeoutMs: number): Promise<boolean>;
  /** Settles the slots that nobody holds. Resolves to whether nothing is left there; never rejects. */
  adopt(): Promise<boolean>;
  /** Rejects with UnsettledRecords where not everything could be settled. */
  close(): Promise<void>;
}

/** An orderly stop could not settle everything. */
class UnsettledRecords extends Error {
  constructor(readonly count: number) {
    super(
      `${count} records could not be settled. They are on standard error, and those in the journal are settled by the next start.`,
    );
    this.name = 'UnsettledRecords';
  }
}

/** No directory is shared by more processes than this. */
const slotsMax = 4096;
const slotName = /^journal(?:-([1-9]\d*))?$/;

export const slotDir = (dataDir: string, slot: number): string =>
  join(dataDir, slot === 0 ? 'journal' : `journal-${slot}`);

/**
 * Takes the first free slot and settles what is left in it and in the other free ones; resolves early where the store is
 * away.
 */
export async function openJournalSlot(options: SlotOptions): Promise<JournalSlot> {
  const { report = writeToStandardError } = options;
  const { slot, journal } = await openFirstFree(options);
  const leftovers = new Leftovers(options, slot);
  const logFailure = (error: unknown) =>
    options.logger.error({ error: String(error) }, 'journals that nobody holds were not looked for; trying again');
  try {
    let replayed = await leftovers.settleFree();
    const timer = setInterval(() => leftovers.adopt().catch(logFailure), options.adoptMs ?? 30_000).unref();
    return {
      slot,
      append: (generation, whenWritten) => journal.append(generation, whenWritten),
      appendProvisional: (generation) => journal.appendProvisional(generation),
      reserve: (bytes) => journal.reserve(bytes),
      release: (bytes) => journal.release(bytes),
      get fault() {
        return journal.fault;
      },
      settled: (timeoutMs, keyId) => journal.settled(timeoutMs, keyId),
      reportUnsettled: (write) => journal.reportUnsettled(write),
      get depth() {
        return journal.depth;
      },
      figures: () => {
        const own = journal.figures();
        return { ...own, estimated: own.estimated + leftovers.estimated };
      },
      async replayed(timeoutMs) {
        if (!(await journal.settled(timeoutMs))) return false;
        replayed ||= await leftovers.join();
        return replayed;
      },
      adopt: () => leftovers.adopt(),
      async close() {
        clearInterval(timer);
        await leftovers.stop();
        const left = await journal.close(report);
        if (left > 0) throw new UnsettledRecords(left);
      },
    };
  } catch (error) {
    await journal.close();
    throw error;
  }
}

/** Written before the call returns, because the process may end right after it. */
export function writeToStandardError(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function openFirstFree(options: SlotOptions): Promise<{ slot: number; journal: Journal }> {
  for (let slot = 0; ; slot++) {
    try {
      return { slot, journal: await openJournal({ ...options, dir: slotDir(options.dataDir, slot) }) };
    } catch (error) {
      if (!(error instanceof LockHeld) || !options.shared || slot === slotsMax) throw error;
    }
  }
}

class Leftovers {
  /** Bills of processes that are gone, which are a lower bound. */
  estimated = 0;
  readonly #rounds = new SharedRead(() => (this.#stopped ? Promise.resolve(false) : this.#round()));
  #stopped = false;
  /** Directories whose holder cannot be seen from here; each is logged once. */
  readonly #reported = new Set<string>();

  constructor(
    private readonly options: SlotOptions,
    private readonly ownSlot: number,
  ) {}

  /** Starts a round after this call, because a running one may have passed the slot in question. */
  adopt(): Promise<boolean> {
    return this.#rounds.ask();
  }

  /** The running round, or a new one. */
  join(): Promise<boolean> {
    return this.#rounds.join();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#rounds.settled();
  }

  /** Rejects where a journal cannot be read: at start an operator must learn of it. */
  async settleFree(): Promise<boolean> {
    for (const dir of this.#others()) if (!(await this.#settle(dir))) return false;
    return true;
  }

  async #round(): Promise<boolean> {
    try {
      return await this.settleFree();
    } catch (error) {
      this.options.logger.error({ error: String(error) }, 'a journal that nobody holds cannot be settled');
      return false;
    }
  }

  #others(): string[] {
    const { dataDir } = this.options;
    if (!existsSync(dataDir)) return [];
    return readdirSync(dataDir)
      .map((name) => slotName.exec(name))
      .filter((found) => found !== null)
      .map(([, number]) => Number(number ?? 0))
      .filter((slot) => slot !== this.ownSlot)
      .map((slot) => slotDir(dataDir, slot))
      .filter(holdsSegments);
  }

  /** True where nothing is left of it, or another process is responsible for it. */
  async #settle(dir: string): Promise<boolean> {
    const { logger, settleMs = 5_000 } = this.options;
    let records = 0;
    const settle = async (rows: readonly SettlementRow[]) => {
      await this.options.settle(rows);
      records += rows.length;
    };
    let journal: Journal;
    try {
      journal = await openJournal({ ...this.options, dir, settle, closeMs: 0, stepBytes: 0 });
    } catch (error) {
      if (!(error instanceof LockHeld)) throw error;
      this.#tellOfUncertain(dir, error);
      return true;
    }
    const settled = await journal.settled(settleMs);
    if (settled) this.estimated += journal.figures().estimated;
    await journal.close();
    if (records > 0) logger.info({ dir, records }, 'records of a process that is gone were settled');
    return settled;
  }

  #tellOfUncertain(dir: string, { certain, message }: LockHeld): void {
    if (certain || this.#reported.has(dir)) return;
    this.#reported.add(dir);
    this.options.logger.warn({ dir }, message);
  }
}
