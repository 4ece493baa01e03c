/**
 * Runs the changes of each account one after the other, so that memory sees them in the order of the store. Where the store
 * does not answer a change, it may have made it all the same, so memory then reads the account again.
 */
import type { Logger } from '../base/logger.js';
import { StoreUnavailable } from '../storage/store.js';

const lookMs = 1_000;
/** After an error that is not the store's absence: it may last, and each try is logged. */
const failedMs = 10_000;
/** The number of reads: a store that comes back may answer the first one before it completes the change. */
const looks = 2;

export class AccountChanges {
  private readonly queue = new OneAtATime();
  /** The reads that are still to be made, by account. */
  private readonly doubts = new Map<string, number>();
  private closed = false;

  constructor(
    private readonly reread: (accountId: string) => Promise<void>,
    private readonly logger: Logger,
  ) {}

  run<T>(accountId: string, change: () => Promise<T>): Promise<T> {
    return this.queue.run(accountId, async () => {
      try {
        return await change();
      } catch (error) {
        if (error instanceof StoreUnavailable) this.doubt(accountId);
        throw error;
      }
    });
  }

  close(): void {
    this.closed = true;
  }

  private doubt(accountId: string): void {
    const looking = this.doubts.has(accountId);
    this.doubts.set(accountId, looks);
    if (!looking) this.lookLater(accountId);
  }

  private lookLater(accountId: string, ms = lookMs): void {
    setTimeout(() => void this.look(accountId), ms).unref();
  }

  private async look(accountId: string): Promise<void> {
    if (this.closed) return;
    let pauseMs = lookMs;
    try {
      await this.queue.run(accountId, () => this.reread(accountId));
      this.doubts.set(accountId, (this.doubts.get(accountId) ?? 1) - 1);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) {
        pauseMs = failedMs;
        const fields = { account: accountId, error: String(error) };
        this.logger.error(fields, 'an account could not be read again after a change; trying again');
      }
    }
    if (this.doubts.get(accountId) === 0) this.doubts.delete(accountId);
    else this.lookLater(accountId, pauseMs);
  }
}

/** Runs the changes of one subject one after the other, so that memory sees them in the order of the store. */
class OneAtATime {
  private readonly tails = new Map<string, Promise<unknown>>();

  run<T>(subject: string, change: () => Promise<T>): Promise<T> {
    const before = this.tails.get(subject) ?? Promise.resolve();
    const result = before.then(change, change);
    const tail = result.then(
      () => {},
      () => {},
    );
    this.tails.set(subject, tail);
    void tail.then(() => {
      if (this.tails.get(subject) === tail) this.tails.delete(subject);
    });
    return result;
  }
}
