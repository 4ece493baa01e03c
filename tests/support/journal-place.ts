/** A directory with settlement journals in it, a store that stands for PostgreSQL, and looks into the files. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { silentLogger } from '../../src/base/logger.js';
import { systemClock } from '../../src/base/time.js';
import type { Generation } from '../../src/domain/generation.js';
import type { JournalOffset, SettlementRow } from '../../src/domain/settlement-row.js';
import { scanFrames } from '../../src/journal/frames.js';
import { type Journal, type JournalOptions, openJournal } from '../../src/journal/journal.js';
import { idIn, kindIn } from '../../src/journal/record.js';
import { Settler, type SettlerOptions } from '../../src/journal/settler.js';
import { StoreUnavailable } from '../../src/storage/store.js';
import { aGeneration, generationOf } from './generation.js';

/** Stands for the store: keeps each id once, and can be away or refuse a record. */
export class Settled {
  readonly records = new Map<string, Generation>();
  away = false;
  refuse: (generation: Generation) => boolean = () => false;
  largestBatch = 0;

  readonly offsets = new Map<string, JournalOffset>();

  readonly settle = async (rows: readonly SettlementRow[], offsets: readonly JournalOffset[] = []): Promise<void> => {
    this.largestBatch = Math.max(this.largestBatch, rows.length);
    const batch = rows.map(generationOf);
    if (this.away) throw new StoreUnavailable(new Error('ECONNREFUSED'));
    if (batch.some(this.refuse)) throw new TypeError('no such thing');
    for (const generation of batch) this.records.set(generation.id, generation);
    for (const offset of offsets) this.offsets.set(offset.run, offset);
  };

  /** As a settler asks for it. */
  readonly offsetPort: SettlerOptions['offsets'] = {
    find: async (run) => {
      if (this.away) throw new StoreUnavailable(new Error('ECONNREFUSED'));
      return this.offsets.get(run) ?? null;
    },
    remove: async (run) => {
      if (this.away) throw new StoreUnavailable(new Error('ECONNREFUSED'));
      this.offsets.delete(run);
    },
  };
}

export class JournalPlace {
  readonly root = mkdtempSync(join(tmpdir(), 'lodestone-journal-'));
  readonly dir = join(this.root, 'journal');
  readonly store = new Settled();
  readonly #open = new Map<Journal, Settler>();

  /** A journal and the settler of its directory. Resolves when what was left there is settled, or the store turns out to be away. */
  async start(options: Partial<JournalOptions & SettlerOptions> = {}): Promise<Journal> {
    const settler = this.settler(options);
    try {
      const { dir } = this;
      const journal = await openJournal({ dir, settler, logger: silentLogger, closeMs: 500, ...options });
      this.#open.set(journal, settler);
      if (!this.store.away) await settler.replayed(5_000);
      return journal;
    } catch (error) {
      await settler.stop();
      throw error;
    }
  }

  settler({ dir = this.dir, ...options }: Partial<JournalOptions & SettlerOptions> = {}): Settler {
    const { settle, offsetPort: offsets } = this.store;
    const common = { dirs: () => [dir], settle, offsets, clock: systemClock, logger: silentLogger };
    return new Settler({ ...common, ...options });
  }

  async close(journal: Journal, report?: (line: string) => void): Promise<number> {
    const settler = this.#open.get(journal);
    this.#open.delete(journal);
    const left = await journal.close(report);
    await settler?.stop();
    return left;
  }

  async remove(): Promise<void> {
    this.store.away = false;
    await Promise.all([...this.#open.keys()].map((journal) => this.close(journal)));
    rmSync(this.root, { recursive: true, force: true });
  }

  /** What a `kill -9` at this moment would leave behind, as a directory of its own. */
  afterKill(): string {
    const copy = mkdtempSync(join(this.root, 'killed-'));
    cpSync(this.dir, copy, { recursive: true, filter: (file) => !basename(file).startsWith('lock') });
    return copy;
  }

  segments(at = this.dir): string[] {
    return readdirSync(at).filter((name) => /^\d+\.5\.\w+\.\d+\.log$/.test(name));
  }

  /** The ids of the final records that are in the files at this moment. */
  idsInFiles(at = this.dir): string[] {
    return this.segments(at).flatMap((name) => idsIn(readFileSync(join(at, name))));
  }
}

/** Of the final records. */
function idsIn(bytes: Buffer): string[] {
  const ids: string[] = [];
  scanFrames(bytes, true, {
    take: (start, end) => {
      if (kindIn(bytes, start) === 'final') ids.push(idIn(bytes, start, end));
      return true;
    },
    damaged: () => true,
  });
  return ids;
}

export const many = (count: number): Generation[] => Array.from({ length: count }, () => aGeneration());

/** The journal writes at the end of the turn; this one is behind it. */
export const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
