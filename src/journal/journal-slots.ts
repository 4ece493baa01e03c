/**
 * The journals of the processes that share a data directory: slot 0 is `journal`, slot n is `journal-<n>`, and each process writes to one
 * that it has locked. The settler of the directory settles them all, also what a dead process left.
 */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { LockHeld } from '../base/lock.js';
import { type Journal, type JournalOptions, openJournal } from './journal.js';
import { segmentsIn } from './segment-names.js';

export interface SlotOptions extends Omit<JournalOptions, 'dir'> {
  dataDir: string;
  /** Gets each record that could not be settled before the end of the process, as a line of JSON. */
  report?: (line: string) => void;
  /** Whether other live processes may use the directory too; without it a second one is refused. */
  shared: boolean;
}

export interface JournalSlot extends Omit<Journal, 'close'> {
  readonly slot: number;
  /** Whether no settler has been reached for some seconds. One that is being replaced is away for less. */
  readonly settlerAway: boolean;
  /** True when everything that processes left which are gone is in the store; false where that takes longer than the time limit. */
  replayed(timeoutMs: number): Promise<boolean>;
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
const settlerAwayMs = 5_000;
const slotName = /^journal(?:-([1-9]\d*))?$/;

export const slotDir = (dataDir: string, slot: number): string =>
  join(dataDir, slot === 0 ? 'journal' : `journal-${slot}`);

/** The directories of the slots that there are. */
export function slotDirs(dataDir: string): string[] {
  if (!existsSync(dataDir)) return [];
  return readdirSync(dataDir)
    .map((name) => slotName.exec(name))
    .filter((found) => found !== null)
    .map(([, number]) => slotDir(dataDir, Number(number ?? 0)));
}

/** Takes the first free slot. Rejects where another version left files in any: an operator must learn of it. */
export async function openJournalSlot(options: SlotOptions): Promise<JournalSlot> {
  const { report = writeToStandardError, settler, dataDir } = options;
  for (const dir of slotDirs(dataDir)) segmentsIn(dir);
  const { slot, journal } = await openFirstFree(options);
  return {
    slot,
    append: journal.append.bind(journal),
    appendProvisional: journal.appendProvisional.bind(journal),
    reserve: journal.reserve.bind(journal),
    release: journal.release.bind(journal),
    get fault() {
      return journal.fault;
    },
    settled: (timeoutMs, keyId) => journal.settled(timeoutMs, keyId),
    unsettled: (id) => journal.unsettled(id),
    reportUnsettled: (write) => journal.reportUnsettled(write),
    get depth() {
      return journal.depth;
    },
    figures: () => journal.figures(),
    get settlerAway() {
      return settler.awaySince !== null && performance.now() - settler.awaySince > settlerAwayMs;
    },
    replayed: (timeoutMs) => settler.replayed(timeoutMs),
    async close() {
      const left = await journal.close(report);
      if (left > 0) throw new UnsettledRecords(left);
    },
  };
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
