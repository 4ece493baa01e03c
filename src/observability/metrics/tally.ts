/** Counters by a label whose values are few and ours: a word, a condition, an outcome. */
import type { Sample } from './figures.js';

export class Tally {
  private readonly counts = new Map<string, number>();

  add(label: string, amount = 1): void {
    this.counts.set(label, (this.counts.get(label) ?? 0) + amount);
  }

  samples(labelsOf: (label: string) => readonly string[] = (label) => [label]): Sample[] {
    return [...this.counts].map(([label, value]) => ({ labels: labelsOf(label), value }));
  }
}
