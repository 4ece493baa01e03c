/** A directory with settlement journals in it, a store that stands for PostgreSQL, and looks into the files. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { silentLogger } from '../../src/base/logger.js';
import { systemClock } from '../../src/base/time.js';
import type { Generation } from '../../src/domain/generation.js';
import type { SettlementRow } from '../../src/domain/settlement-row.js';
import { type Journal, type JournalOptions, openJournal } from '../../src/journal/journal.js';
import { StoreUnavailable } from '../../src/storage/store.js';
import { aGeneration, generationOf } from './generation.js';

/** Stands for the store: keeps each id once, and can be away or refuse a record. */
export class Settled {
  readonly records = new Map<string, Generation>();
  away = false;
  refuse: (generation: Generation) => boolean = () => false;
  largestBatch = 0;

  readonly settle = async (rows: readonly SettlementRow[]): Promise<void> => {
    this.largestBatch = Math.max(this.largestBatch, rows.length);
    const batch = rows.map(generationOf);
    if (this.away) throw new StoreUnavailable(new Error('ECONNREFUSED'));
    if (batch.some(this.refuse)) throw new TypeError('no such thing');
    for (const generation of batch) this.records.set(generation.id, generation);
  };
}

export class JournalPlace {
  readonly root = mkdtempSync(join(tmpdir(), 'lodestone-journal-'));
  readonly dir = join(this.root, 'journal');
  readonly store = new Settled();
  readonly #open = new Set<Journal>();

  async start(options: Partial<JournalOptions> = {}): Promise<Journal> {
    const { dir, store } = this;
    const common = { dir, settle: store.settle, clock: systemClock, logger: silentLogger, closeMs: 500 };
    const journal = await openJournal({ ...common, ...options });
    this.#open.add(journal);
    return journal;
  }

  close(journal: Journal, report?: (line: string) => void): Promise<number> {
    this.#open.delete(journal);
    return journal.close(report);
  }

  async remove(): Promise<void> {
    this.store.away = false;
    await Promise.all([...this.#open].map((journal) => journal.close()));
    rmSync(this.root, { recursive: true, force: true });
  }

  /** What a `kill -9` at this moment would leave behind, as a directory of its own. */
  afterKill(): string {
    const copy = mkdtempSync(join(this.root, 'killed-'));
    cpSync(this.dir, copy, { recursive: true, filter: (file) => !basename(file).startsWith('lock') });
    return copy;
  }

  segments(at = this.dir): string[] {
    return readdirSync(at).filter((name) => /^\d+\.[234]\.log$/.test(name));
  }

  /** The ids of the records that are in the files at this moment. */
  idsInFiles(at = this.dir): string[] {
    return this.segments(at).flatMap((name) => idsIn(readFileSync(join(at, name), 'utf8')));
  }
}

/** Of the final records; zeros behind the last line are space that was only allocated. */
export function idsIn(text: string): string[] {
  const lines = text
    .split('\u0000', 1)[0]!
    .split('\n')
    .slice(0, -1)
    .filter((line) => !line.startsWith('?'));
  return lines.map((line) => line.slice(0, line.indexOf('\t')));
}

export const many = (count: number): Generation[] => Array.from({ length: count }, () => aGeneration());

/** The journal writes at the end of the turn; this one is behind it. */
export const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
