/**
 * Erases the stored hashes of expired keys, and removes keys of workloads that are over: at start, at each next expiry, and when a request uses an expired key. A store
 * that is away delays an erasure but never loses one.
 */

import type { Logger } from '../../base/logger.js';
import type { Clock } from '../../base/time.js';

/** The part of the directory that the sweeper needs. It keeps the store and memory in step. */
interface ExpiringKeys {
  eraseExpired(nowMs: number): Promise<number>;
  nextExpiry(nowMs: number): Promise<number | null>;
}

/** Calls back once after `delayMs`; returns a function that cancels the call. */
export type Schedule = (delayMs: number, callback: () => void) => () => void;

const timerSchedule: Schedule = (delayMs, callback) => {
  const timer = setTimeout(callback, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
};

/** Longer delays overflow setTimeout. Waking up daily also corrects for a clock that was changed. */
const delayMsMax = 86_400_000;
const retryMs = 30_000;
/** Keys of workloads end all the time, so sweeps have at least this between them. */
const restMs = 1_000;

export class ExpirySweeper {
  private cancel: (() => void) | null = null;
  private wakesAt = Number.POSITIVE_INFINITY;
  private running: Promise<void> | null = null;
  private again = false;
  private stopped = false;
  private sweptAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly keys: ExpiringKeys,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly schedule: Schedule = timerSchedule,
  ) {}

  start(): Promise<void> {
    this.stopped = false;
    return this.sweep();
  }

  stop(): void {
    this.stopped = true;
    this.cancel?.();
    this.cancel = null;
  }

  /** A request used an expired key. */
  noteExpiredKey(): void {
    void this.sweep();
  }

  /** A key was created; it may expire before all others. */
  noteNewKey(expiresAt: number | null): void {
    if (expiresAt !== null && expiresAt < this.wakesAt && !this.stopped) this.wakeAt(expiresAt);
  }

  /** Further calls during a sweep cause one more sweep, so a flood of expired requests costs two queries. */
  private sweep(): Promise<void> {
    if (this.running) {
      this.again = true;
      return this.running;
    }
    this.running = this.sweepUntilQuiet().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  private async sweepUntilQuiet(): Promise<void> {
    do {
      this.again = false;
      await this.sweepOnce();
    } while (this.again);
  }

  private async sweepOnce(): Promise<void> {
    try {
      const now = this.clock.now();
      this.sweptAt = now;
      const erased = await this.keys.eraseExpired(now);
      if (erased > 0) this.logger.info({ erased }, 'erased the hashes of expired keys');
      const next = await this.keys.nextExpiry(now);
      if (!this.stopped) this.wakeAt(next ?? Number.POSITIVE_INFINITY);
    } catch (error) {
      this.logger.warn({ error: String(error) }, 'expired keys could not be erased; trying again');
      this.again = false;
      if (!this.stopped) this.wakeAt(this.clock.now() + retryMs);
    }
  }

  private wakeAt(instant: number): void {
    this.cancel?.();
    this.wakesAt = instant;
    const delayMs = Math.min(Math.max(Math.max(instant, this.sweptAt + restMs) - this.clock.now(), 0), delayMsMax);
    this.cancel = this.schedule(delayMs, () => void this.sweep());
  }
}
