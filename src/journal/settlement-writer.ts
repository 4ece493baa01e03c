/**
 * Moves records to the store, one batch at a time. It waits with growing pauses while the store is away, and finds a record that the
 * store refuses by halving its batch, so that one bad record stops no other.
 */

import type { Logger } from '../base/logger.js';
import { Pause } from '../base/pause.js';
import type { Waiting } from './source.js';

/** What is to be settled, oldest first. */
interface WaitingQueue {
  readonly length: number;
  /** Whether somebody waits for a record. */
  readonly isWanted: boolean;
  /** Reads what has come. */
  fill(): Promise<void>;
  head(max: number): readonly Waiting[];
  /** Drops the first records, which are settled or set aside. */
  drop(count: number): Promise<void>;
  /** The first record was refused and could not be set aside: the others go on. */
  holdRefused(): Promise<void>;
  retrySetAside(): void;
}

interface WriterOptions {
  settle: (rows: readonly Waiting[]) => Promise<void>;
  /** False where the record could not be set aside: it then stays in the journal. */
  setAside: (row: Waiting, error: unknown) => boolean;
  /** Whether an error means that the store is away and not that a record is at fault. */
  isAway: (error: unknown) => boolean;
  logger: Logger;
  batchRecords: number;
}

const pauseMinMs = 100;
const pauseMaxMs = 5_000;
/** Fewer records than this wait for more, unless somebody waits for them. */
const smallBatch = 1_000;

export class SettlementWriter {
  #running: Promise<void> | null = null;
  #again = false;
  #stopped = false;
  readonly #pause = new Pause();
  #pauseMs = 0;
  /** The most records in a batch; fewer while a faulty record is searched for. */
  #window: number;
  /** How many records are left of the batch in which one is searched for. */
  #looking = 0;

  constructor(
    private readonly queue: WaitingQueue,
    private readonly options: WriterOptions,
  ) {
    this.#window = options.batchRecords;
  }

  /** Settles what there is, soon. */
  wake(): void {
    if (this.#stopped) return;
    this.#again = true;
    if (this.#running) {
      if (this.queue.isWanted) this.#pause.end();
      return;
    }
    this.#running = this.#run().finally(() => {
      this.#running = null;
      if (this.#again) this.wake();
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#again = false;
    this.#pause.end();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false;
      while (!this.#stopped && (await this.#step()));
    }
  }

  /** False where there is nothing to do for now. */
  async #step(): Promise<boolean> {
    try {
      this.queue.retrySetAside();
      await this.queue.fill();
      if (this.queue.length === 0) {
        this.#storeBack();
        return false;
      }
      await this.#settleHead();
    } catch (error) {
      if (this.options.isAway(error)) this.#storeAway(error);
      else this.#reportFailure(error);
      if (!this.#stopped) await this.#pause.wait(this.#pauseMs);
      return true;
    }
    return this.queue.length >= smallBatch || this.queue.isWanted || this.#looking > 0;
  }

  /** Settles one batch. Throws where the store is away. */
  async #settleHead(): Promise<void> {
    const batch = this.queue.head(this.#window);
    try {
      await this.options.settle(batch);
    } catch (error) {
      if (this.options.isAway(error)) throw error;
      return this.#handleRefusal(batch, error);
    }
    this.#storeBack();
    await this.#drop(batch.length);
  }

  async #handleRefusal(batch: readonly Waiting[], error: unknown): Promise<void> {
    this.#storeBack();
    const [first] = batch;
    if (batch.length > 1 || !first) {
      this.#looking = Math.max(this.#looking, batch.length);
      this.#window = Math.floor(batch.length / 2);
      return;
    }
    this.#window = this.options.batchRecords;
    if (this.options.setAside(first, error)) await this.#drop(1);
    else {
      await this.queue.holdRefused();
      this.#looking = Math.max(0, this.#looking - 1);
    }
  }

  async #drop(count: number): Promise<void> {
    this.#looking = Math.max(0, this.#looking - count);
    if (this.#looking === 0) this.#window = this.options.batchRecords;
    await this.queue.drop(count);
  }

  #storeAway(error: unknown): void {
    const { cause } = error as Error;
    const fields = { error: String(cause ?? error) };
    if (this.#pauseMs === 0) this.options.logger.warn(fields, 'the store is away; settlements wait in the journal');
    this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, pauseMinMs), pauseMaxMs);
  }

  /** The journal's own files cannot be read or deleted. */
  #reportFailure(error: unknown): void {
    this.options.logger.error({ error: String(error) }, 'the journal cannot be read; trying again');
    this.#pauseMs = pauseMaxMs;
  }

  #storeBack(): void {
    if (this.#pauseMs > 0) this.options.logger.info({}, 'the store is back; settling');
    this.#pauseMs = 0;
  }
}
