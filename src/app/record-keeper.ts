/** Looks after the stored records in the background: partitions ahead of time, rollups and sums of what they lack, and the retention. */
import type { Logger } from '../base/logger.js';
import { Pause } from '../base/pause.js';
import { type Clock, monthOf, monthStart } from '../base/time.js';
import type { Config } from '../config/config.js';
import type { RecordStore } from '../storage/store.js';

const roundMs = 60 * 60_000;
/** Between two parts of a long work, so that requests have the store in between. */
const partPauseMs = 20;
const retryMs = 10_000;

export interface Retention {
  /** As it is configured, such as `13mo`. */
  readonly text: string;
  /** Generations of whole months before this moment are removed. */
  cutOff(nowMs: number): number;
}

/** null where generations are kept. */
export function retentionOf({ storage }: Config): Retention | null {
  const months = storage.retention?.generations ?? null;
  if (months === null || months === 'keep') return null;
  // The month in which the retention ends is kept as a whole.
  return { text: `${months}mo`, cutOff: (nowMs) => monthStart(monthOf(nowMs) - months) };
}

interface KeeperOptions {
  records: RecordStore;
  retention: Retention | null;
  clock: Pick<Clock, 'now'>;
  logger: Logger;
}

export class RecordKeeper {
  private readonly pause = new Pause();
  private closing = false;
  private readonly running: Promise<void>;

  constructor(private readonly options: KeeperOptions) {
    this.running = this.run();
  }

  async close(): Promise<void> {
    this.closing = true;
    this.pause.end();
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.closing) {
      const done = await this.round();
      if (!this.closing) await this.pause.wait(done ? roundMs : retryMs);
    }
  }

  private async round(): Promise<boolean> {
    const { records, retention, clock, logger } = this.options;
    try {
      const made = await records.ensurePartitions(clock.now());
      if (made.length > 0) logger.info({ partitions: made }, 'partitions for the coming months were made');
      while (!this.closing && (await records.backfill(clock.now()))) await this.pause.wait(partPauseMs);
      if (this.closing) return true;
      await records.rollUpLate();
      while (!this.closing && (await records.sumHours(clock.now()))) await this.pause.wait(partPauseMs);
      while (!this.closing && (await records.gatherDay(clock.now()))) await this.pause.wait(partPauseMs);
      if (retention === null) return true;
      for (const month of await records.prunable(retention.cutOff(clock.now()))) {
        if (this.closing) return true;
        await records.prune(month);
        logger.info(
          { month: new Date(month.monthMs).toISOString().slice(0, 7), requests: month.requests },
          'a month was pruned',
        );
      }
      return true;
    } catch (error) {
      if (!this.closing)
        logger.warn({ error: String(error) }, 'the stored records could not be looked after; trying again');
      return false;
    }
  }
}
