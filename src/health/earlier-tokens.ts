/**
 * What earlier processes have used of the routes' quotas today (ruling 5). Summed up once, in the background: with millions
 * of generations a day it takes seconds (measured: 3.5 s for two millions), which no start shall wait for without a quota.
 */
import type { Logger } from '../base/logger.js';
import { startOfUtcDay } from '../base/midnight.js';
import type { HoldStore } from '../storage/store.js';
import { Pause } from './pause.js';

const retryMs = 1_000;

export class EarlierTokens {
  private readonly pause = new Pause();
  private summing: Promise<void> = Promise.resolve();
  private closing = false;

  constructor(
    private readonly store: Pick<HoldStore, 'tokensBetween'>,
    private readonly logger: Logger,
  ) {}

  /** Hands over the tokens of each route that were used on the day before that moment. */
  sum(utcDay: number, beforeMs: number, take: (tokens: ReadonlyMap<string, number>) => void): void {
    this.summing = this.untilDone(utcDay, beforeMs, take);
  }

  /** Resolves when they have been handed over. */
  get handedOver(): Promise<void> {
    return this.summing;
  }

  close(): void {
    this.closing = true;
    this.pause.end();
  }

  private async untilDone(utcDay: number, beforeMs: number, take: (tokens: ReadonlyMap<string, number>) => void) {
    while (!this.closing) {
      try {
        take(await this.store.tokensBetween(startOfUtcDay(utcDay), beforeMs));
        return;
      } catch (error) {
        if (this.closing) return;
        this.logger.warn({ error: String(error) }, 'the tokens used today cannot be summed up; trying again');
        await this.pause.wait(retryMs);
      }
    }
  }
}
