/** Writes holds from memory to the store, one after the other, and retries until the store has them. */
import type { Logger } from '../base/logger.js';
import { Pause } from '../base/pause.js';
import type { HoldRecord, HoldStore } from '../storage/store.js';
import type { HoldFiles } from './hold-files.js';

const retryMs = 1_000;
/** The time limit at the end of the process. What is not written by then stays in its file for the next start. */
const lastWritesMs = 2_000;

export class HoldWriter {
  /** The records that the store does not have yet, by day and route. A newer record replaces an older one. */
  private readonly waiting = new Map<string, HoldRecord>();
  private turn: Promise<unknown> = Promise.resolve();
  private running: Promise<void> | null = null;
  /** Resolves when the fleet has been notified of everything written in the background. */
  private notified: Promise<unknown> = Promise.resolve();
  private readonly pause = new Pause();
  private closing = false;

  constructor(
    private readonly store: Pick<HoldStore, 'put'>,
    private readonly logger: Logger,
    /** Notifies the other processes of a fleet. */
    private readonly changed: () => Promise<void>,
    /** Keeps waiting records through a crash; null where they are only in memory. */
    private readonly files: Pick<HoldFiles, 'keep' | 'drop'> | null = null,
  ) {}

  /** The records that the store does not have yet. */
  get unwritten(): Iterable<HoldRecord> {
    return this.waiting.values();
  }

  /**
   * Writes the record to a file at once and to the store in the background. Resolves when the store has it and the fleet has
   * been notified, however long that takes.
   */
  later(record: HoldRecord): Promise<unknown> {
    this.waiting.set(nameOf(record), record);
    this.files?.keep(record);
    this.running ??= this.writeAll();
    return this.running.then(() => this.notified);
  }

  /**
   * Writes the record to the store and notifies the fleet before it resolves. A record that waits for the same route and day
   * is dropped, also where this rejects.
   */
  now(record: HoldRecord): Promise<void> {
    this.waiting.delete(nameOf(record));
    return this.put(record).then(() => {
      if (!this.waiting.has(nameOf(record))) this.files?.drop(record);
      return this.changed();
    });
  }

  /** Waits for the last writes, up to a bound. */
  async close(): Promise<void> {
    this.closing = true;
    this.pause.end();
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, lastWritesMs);
    });
    await Promise.race([this.running, tooLate]).finally(() => clearTimeout(timer));
    if (this.waiting.size > 0) this.logger.warn({ holds: this.waiting.size }, 'quota holds were not stored');
  }

  private async writeAll(): Promise<void> {
    while (this.waiting.size > 0) {
      const failure = await this.writeOnce();
      if (failure === null) continue;
      if (this.closing) break;
      this.logger.warn(
        { error: String(failure), holds: this.waiting.size },
        'quota holds cannot be stored; trying again',
      );
      await this.pause.wait(retryMs);
    }
    // In the same turn as the check of what waits, so that no record is missed.
    this.running = null;
  }

  /** A record that cannot be written does not delay the others. */
  private async writeOnce(): Promise<unknown> {
    let failure: unknown = null;
    for (const [name, record] of this.waiting) {
      try {
        await this.put(record);
        this.notified = Promise.allSettled([this.notified, this.changed()]);
        if (this.waiting.get(name) !== record) continue;
        this.waiting.delete(name);
        this.files?.drop(record);
      } catch (error) {
        failure = error;
      }
    }
    return failure;
  }

  /** Writes in the order of the calls, so that the store ends with the newest record. */
  private put(record: HoldRecord): Promise<void> {
    const done = this.turn.then(() => this.store.put(record));
    this.turn = done.catch(() => {});
    return done;
  }
}

const nameOf = ({ utcDay, routeId }: HoldRecord): string => `${utcDay} ${routeId}`;
