/** Costs from the end of their requests until they are in the store. */
import type { SpendSubject } from '../../cluster/shared-spend.js';

export interface UnsettledCost {
  readonly subject: SpendSubject;
  readonly pico: bigint;
}

interface UnsettledCostsDeps {
  /** Resolves when every cost so far is in the store; rejects while that is not possible. */
  settled(): Promise<unknown>;
  /** Never rejects. */
  pause(ms: number): Promise<unknown>;
  /** The cost is in the store. It counts here until `forget` is called, because somebody may be reading what the store had before. */
  onSettled(cost: UnsettledCost): void;
}

const retryMs = 500;

export class UnsettledCosts {
  /** By the names of the subjects. */
  private readonly sums = new Map<string, bigint>();
  /** Those for which no settlement was asked yet. */
  private fresh: UnsettledCost[] = [];
  private isSettling = false;

  constructor(private readonly deps: UnsettledCostsDeps) {}

  of({ name }: SpendSubject): bigint {
    return this.sums.get(name) ?? 0n;
  }

  add(cost: UnsettledCost): void {
    this.sums.set(cost.subject.name, this.of(cost.subject) + cost.pico);
    this.fresh.push(cost);
    if (!this.isSettling) void this.settle();
  }

  forget({ subject, pico }: UnsettledCost): void {
    const left = this.of(subject) - pico;
    if (left === 0n) this.sums.delete(subject.name);
    else this.sums.set(subject.name, left);
  }

  /** All costs of a turn of the event loop share a settlement. */
  private async settle(): Promise<void> {
    this.isSettling = true;
    await Promise.resolve();
    while (this.fresh.length > 0) {
      const costs = this.fresh;
      this.fresh = [];
      try {
        await this.deps.settled();
      } catch {
        this.fresh.unshift(...costs);
        await this.deps.pause(retryMs);
        continue;
      }
      for (const cost of costs) this.deps.onSettled(cost);
    }
    this.isSettling = false;
  }
}
