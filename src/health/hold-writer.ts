/** Brings what memory says of held routes to the store, one write after the other, again and again until it is there. */
import type { Logger } from '../base/logger.js';
import type { HoldRecord, HoldStore } from '../storage/store.js';
import type { HoldFiles } from './hold-files.js';
import { Pause } from './pause.js';

const retryMs = 1_000;
/** At the end of the process: what is not written by then stays in its file for the next start. */
const lastWritesMs = 2_000;

export class HoldWriter {
  /** The records that the store does not have yet, by day and route; a newer one takes the place of an older. */
  private readonly waiting = new Map<string, HoldRecord>();
  private turn: Promise<unknown> = Promise.resolve();
  private running: Promise<void> | null = null;
  /** The fleet knows of everything that has been written in the background. */
  private told: Promise<unknown> = Promise.resolve();
  private readonly pause = new Pause();
  private closing = false;

  constructor(
    private readonly store: Pick<HoldStore, 'put'>,
    private readonly logger: Logger,
    /** Tells the other processes of a fleet. */
    private readonly changed: () => Promise<void>,
    /** Where records wait that a killed process must not lose; null = in memory alone. */
    private readonly files: Pick<HoldFiles, 'keep' | 'drop'> | null = null,
  ) {}

  /** What the store does not have yet. */
  get unwritten(): Iterable<HoldRecord> {
    return this.waiting.values();
  }

  /** In a file at once, in the store in the background; resolves when it is there and known to the fleet, however long that takes. */
  later(record: HoldRecord): Promise<unknown> {
    this.waiting.set(nameOf(record), record);
    this.files?.keep(record);
    this.running ??= this.writeAll();
    return this.running.then(() => this.told);
  }

  /** Now: in the store, and known to the fleet, when it resolves. What waited for that route and day is not written any more, also if it rejects. */
  now(record: HoldRecord): Promise<void> {
    this.waiting.delete(nameOf(record));
    return this.put(record).then(() => {
      if (!this.waiting.has(nameOf(record))) this.files?.drop(record);
      return this.changed();
    });
  }

  /** The last writes are done, or given up after a bound. */
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
    // In the same turn as the look at what waits, so that nothing can come to wait unnoticed.
    this.running = null;
  }

  /** One record that cannot be written keeps no other waiting. */
  private async writeOnce(): Promise<unknown> {
    let failure: unknown = null;
    for (const [name, record] of this.waiting) {
      try {
        await this.put(record);
        this.told = Promise.allSettled([this.told, this.changed()]);
        if (this.waiting.get(name) !== record) continue;
        this.waiting.delete(name);
        this.files?.drop(record);
      } catch (error) {
        failure = error;
      }
    }
    return failure;
  }

  /** In the order of the calls, so that the store ends with the newest. */
  private put(record: HoldRecord): Promise<void> {
    const done = this.turn.then(() => this.store.put(record));
    this.turn = done.catch(() => {});
    return done;
  }
}

const nameOf = ({ utcDay, routeId }: HoldRecord): string => `${utcDay} ${routeId}`;
