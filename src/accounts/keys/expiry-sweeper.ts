/**
 * Erases the hashes of expired keys at rest: at the start, at each next expiry, and whenever a request
 * shows an expired key. A store that is away delays an erasure; it never loses one.
 */

import type { Logger } from '../../base/logger.js';
import type { Clock } from '../../base/time.js';

/** What the sweeper needs of the directory, which keeps the store and the cached keys in step. */
export interface ExpiringKeys {
  eraseExpired(nowMs: number): Promise<number>;
  nextExpiry(nowMs: number): Promise<number | null>;
}

/** Calls back once after `delayMs`; returns what cancels it. */
export type Schedule = (delayMs: number, callback: () => void) => () => void;

export const timerSchedule: Schedule = (delayMs, callback) => {
  const timer = setTimeout(callback, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
};

/** Longer delays overflow setTimeout; waking up daily also forgives a clock that was set. */
const delayMsMax = 86_400_000;
const retryMs = 30_000;

export class ExpirySweeper {
  private cancel: (() => void) | null = null;
  private wakesAt = Number.POSITIVE_INFINITY;
  private running: Promise<void> | null = null;
  private again = false;
  private stopped = false;

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

  /** A request showed a key that has expired. */
  seen(): void {
    void this.sweep();
  }

  /** A key was created; it may expire before everything that is waited for. */
  keyCreated(expiresAt: number | null): void {
    if (expiresAt !== null && expiresAt < this.wakesAt && !this.stopped) this.wakeAt(expiresAt);
  }

  /** Sweeps asked for while one runs are one more sweep, not many: a flood of expired requests costs two queries. */
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
    const delayMs = Math.min(Math.max(instant - this.clock.now(), 0), delayMsMax);
    this.cancel = this.schedule(delayMs, () => void this.sweep());
  }
}
