/**
 * The figures of a process as plain data that can cross a process boundary, and how those of several processes are merged.
 */
import { type Across, type MetricName, metricTable } from './metric-table.js';

export interface Sample {
  /** In the order of the metric's label names. */
  readonly labels: readonly string[];
  /** For a histogram: the sum of the observations. */
  readonly value: number;
  /** Only for a histogram: the number of observations in each bucket, the last without a bound; not cumulative. */
  readonly counts?: readonly number[];
}

export type Figures = { readonly [Name in MetricName]?: readonly Sample[] };

export const metricNames = Object.keys(metricTable) as MetricName[];

/**
 * Sums counters and histograms, and merges gauges by their definition. Names that this version does not know are left out.
 */
export function mergeFigures(all: readonly Figures[]): Figures {
  const merged: Partial<Record<MetricName, Sample[]>> = {};
  for (const name of metricNames) {
    const byLabels = new Map<string, Sample>();
    for (const figures of all) {
      for (const sample of figures[name] ?? []) {
        const key = sample.labels.join('\0');
        const other = byLabels.get(key);
        byLabels.set(key, other ? mergedSample(metricTable[name].across, other, sample) : sample);
      }
    }
    if (byLabels.size > 0) merged[name] = [...byLabels.values()];
  }
  return merged;
}

/** The figures that only grow. The others describe a process only while it runs. */
export function countersOf(figures: Figures): Figures {
  return Object.fromEntries(
    metricNames
      .filter((name) => metricTable[name].type !== 'gauge' && figures[name])
      .map((name) => [name, figures[name]]),
  );
}

function mergedSample(across: Across, a: Sample, b: Sample): Sample {
  const value = across === 'sum' ? a.value + b.value : Math[across](a.value, b.value);
  if (!a.counts || !b.counts) return { labels: a.labels, value };
  const { counts } = b;
  return { labels: a.labels, value, counts: a.counts.map((count, i) => count + (counts[i] ?? 0)) };
}

/** A histogram in memory: an observation is a short search and two additions, without allocation. */
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

/** Counters by a label with few values, all from fixed lists. */
export class Tally {
  protected readonly counts = new Map<string, number>();

  add(label: string, amount = 1): void {
    this.counts.set(label, (this.counts.get(label) ?? 0) + amount);
  }

  samples(labelsOf: (label: string) => readonly string[] = (label) => [label]): Sample[] {
    return [...this.counts].map(([label, value]) => ({ labels: labelsOf(label), value }));
  }
}

/** Accounts that a metric names. */
const namedAccountsMax = 100;

/** Counters by account: those that come later count together, so that customers add no series without end. A restart begins anew. */
export class AccountTally extends Tally {
  override add(accountId: string): void {
    super.add(this.counts.has(accountId) || this.counts.size < namedAccountsMax ? accountId : 'other');
  }
}
