/**
 * Moves records from the journal to the store, one batch at a time. It waits with growing pauses while the store is away, and
 * finds a record that the store refuses by halving its batch, so that one bad record stops no other.
 */

import type { Logger } from '../base/logger.js';
import { Pause } from '../base/pause.js';
import type { SettlementRow } from '../domain/settlement-row.js';
import type { JournalQueue } from './journal-queue.js';

export interface WriterOptions {
  settle: (rows: readonly SettlementRow[]) => Promise<void>;
  /** False where the record could not be set aside: it then stays in the journal. */
  setAside: (row: SettlementRow, error: unknown) => boolean;
  /** Whether an error means that the store is away and not that a record is at fault. */
  isAway: (error: unknown) => boolean;
  logger: Logger;
  flushMs: number;
  batchRecords: number;
}

interface Waiter {
  /** The record that it waits for. */
  n: number;
  resolve(settled: boolean): void;
}

const pauseMinMs = 100;
const pauseMaxMs = 5_000;

export class SettlementWriter {
  #running = false;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the timer is set for a full batch. */
  #soon = false;
  #waiters: Waiter[] = [];
  readonly #pause = new Pause();
  #pauseMs = 0;
  /** The most records in a batch; fewer while a faulty record is searched for. */
  #window: number;
  #lookingUntil = 0;

  constructor(
    private readonly queue: JournalQueue,
    private readonly options: WriterOptions,
  ) {
    this.#window = options.batchRecords;
  }

  /** Settles what is there. Returns early where the store is away, and goes on in the background. */
  async replay(): Promise<void> {
    while (this.queue.ready > 0) {
      if (await this.#settleHead()) continue;
      void this.#run();
      return;
    }
  }

  /** Called once for all records of a turn. */
  appended(): void {
    if (this.#running || this.#stopped || this.queue.ready === 0) return;
    // A full batch goes soon, but not inside the call that filled it, which is on a request's path.
    const full = this.queue.ready >= this.options.batchRecords;
    if (full ? !this.#soon : !this.#timer) this.#schedule(full ? 0 : this.options.flushMs);
    this.#soon = full;
  }

  /** Waits for the records up to the one with the number `n`. */
  settled(timeoutMs: number, n = this.queue.appended): Promise<boolean> {
    if (this.queue.settled >= n) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiter: Waiter = { n, resolve };
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        resolve(false);
      }, timeoutMs);
      waiter.resolve = (settled) => {
        clearTimeout(timer);
        resolve(settled);
      };
      this.#waiters.push(waiter);
      if (this.#running) this.#pause.end();
      else void this.#run();
    });
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#pause.end();
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#run(), ms).unref();
  }

  async #run(): Promise<void> {
    if (this.#running || this.#stopped) return;
    this.#running = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#soon = false;
    while (!this.#stopped && this.queue.ready > 0) {
      if (!(await this.#settleHead().catch((error) => this.#reportFailure(error))))
        await this.#pause.wait(this.#pauseMs);
      // A small rest waits for more records, unless somebody waits for it.
      else if (this.#waiters.length === 0 && this.queue.ready < this.options.batchRecords) break;
    }
    this.#running = false;
    this.appended();
  }

  /** Settles one batch; false where the store is away. */
  async #settleHead(): Promise<boolean> {
    const batch = this.queue.head(this.#window);
    if (batch.length > 0) {
      try {
        await this.options.settle(batch);
      } catch (error) {
        return this.options.isAway(error) ? this.#storeAway(error) : this.#handleRefusal(batch, error);
      }
      if (this.#stopped) return true;
      this.#storeBack();
      this.queue.drop(batch.length);
    }
    this.#progress();
    return true;
  }

  #handleRefusal(batch: readonly SettlementRow[], error: unknown): true {
    this.#storeBack();
    const [first] = batch;
    if (batch.length === 1 && first) {
      if (this.options.setAside(first, error)) this.queue.drop(1);
      else this.queue.holdRefused();
      this.#window = this.options.batchRecords;
      this.#progress();
      return true;
    }
    this.#lookingUntil = Math.max(this.#lookingUntil, this.queue.settled + batch.length);
    this.#window = Math.floor(batch.length / 2);
    return true;
  }

  #progress(): void {
    const { settled } = this.queue;
    if (settled >= this.#lookingUntil) this.#window = this.options.batchRecords;
    if (this.#waiters.length === 0) return;
    const due = this.#waiters.filter(({ n }) => n <= settled);
    this.#waiters = this.#waiters.filter(({ n }) => n > settled);
    for (const waiter of due) waiter.resolve(true);
  }

  #storeAway(error: unknown): false {
    const { cause } = error as Error;
    const fields = { depth: this.queue.depth, error: String(cause ?? error) };
    if (this.#pauseMs === 0) this.options.logger.warn(fields, 'the store is away; settlements wait in the journal');
    this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, pauseMinMs), pauseMaxMs);
    return false;
  }

  /** The journal's own files cannot be read or deleted. */
  #reportFailure(error: unknown): false {
    this.options.logger.error(
      { error: String(error), depth: this.queue.depth },
      'the journal cannot be read; trying again',
    );
    this.#pauseMs = pauseMaxMs;
    return false;
  }

  #storeBack(): void {
    if (this.#pauseMs > 0) this.options.logger.info({ depth: this.queue.depth }, 'the store is back; settling');
    this.#pauseMs = 0;
  }
}
