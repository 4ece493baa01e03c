/** A histogram in memory: an observation is a short search and two additions, and allocates nothing. */
import type { Sample } from './figures.js';

export class Histogram {
  private readonly counts: number[];
  private sum = 0;

  constructor(private readonly bounds: readonly number[]) {
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const { bounds } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]!) bucket++;
    this.counts[bucket]!++;
    this.sum += value;
  }

  sample(labels: readonly string[]): Sample {
    return { labels, value: this.sum, counts: [...this.counts] };
  }
}
