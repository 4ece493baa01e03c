/** Brings the shared state up to what the store says was spent, where it has missed something. */
import type { Logger } from '../../base/logger.js';
import type { PicoUsd } from '../../base/money.js';
import type { SharedSpend, SpendLimit, SpendSubject } from '../../cluster/shared-spend.js';

interface MissedSpendDeps {
  readonly shared: SharedSpend;
  readonly logger: Logger;
  readSpent(subject: SpendSubject): Promise<PicoUsd>;
}

/** Every process has settled a cost this long after it was added: then the sum and the store must be equal. */
export const allSettledMs = 2_000;

export class MissedSpend {
  /** What has to be read from the store again. */
  private readonly queue = new Map<string, SpendSubject>();
  /** What the shared state knows too low, until it is corrected: the correction under way, or null. */
  private readonly doubts = new Map<string, Promise<void> | null>();
  private isRunning = false;

  constructor(private readonly deps: MissedSpendDeps) {}

  /** The shared state was out of reach, and has a sum of before. */
  doubt(subject: SpendSubject): void {
    this.doubts.set(subject.name, null);
    // What another process adds while the store is read may be missing in it.
    setTimeout(() => this.raiseLater(subject), allSettledMs).unref();
    this.raiseLater(subject);
  }

  /** Resolves when nothing is known too low of these any more, as far as the store can be read; null where nothing is. */
  certain(limits: readonly SpendLimit[]): Promise<unknown> | null {
    if (this.doubts.size === 0) return null;
    const raising = limits
      .filter(({ subject }) => this.doubts.has(subject.name))
      .map(({ subject }) => this.doubts.get(subject.name) ?? this.raise(subject));
    return raising.length === 0 ? null : Promise.all(raising);
  }

  raiseLater(subject: SpendSubject): void {
    this.queue.set(subject.name, subject);
    if (!this.isRunning) void this.raiseAll();
  }

  /** One after the other, because an outage leaves many of them to a store that has other work. */
  private async raiseAll(): Promise<void> {
    this.isRunning = true;
    for (const [name, subject] of this.queue) {
      this.queue.delete(name);
      await this.raise(subject);
    }
    this.isRunning = false;
  }

  private raise(subject: SpendSubject): Promise<void> {
    const { name } = subject;
    const raising = this.raiseOne(subject).then(() => {
      // Another doubt may have come meanwhile.
      if (this.doubts.get(name) === raising) this.doubts.delete(name);
    });
    if (this.doubts.has(name)) this.doubts.set(name, raising);
    return raising;
  }

  /** The store has at most what was spent, so a lower sum has missed something. Never rejects. */
  private async raiseOne(subject: SpendSubject): Promise<void> {
    const { shared, logger, readSpent } = this.deps;
    try {
      await shared.setSpent(subject, await readSpent(subject), 'least');
    } catch (error) {
      logger.warn({ error: String(error), subject: subject.name }, 'what was spent could not be read again');
    }
  }
}
