/** What is said about a metric, once: its type, its labels, its meaning, and how the figures of several processes become one. */

/** How the figures of several processes become one: their sum, the highest, or the lowest. */
export type Across = 'sum' | 'max' | 'min';

export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** A sentence, as Prometheus and the docs page show it. */
  readonly help: string;
  readonly labels: readonly string[];
  readonly across: Across;
  /** The upper bounds of a histogram's buckets, without infinity. */
  readonly bounds?: readonly number[];
}

export function counter(help: string, ...labels: string[]): MetricDefinition {
  return { type: 'counter', help, labels, across: 'sum' };
}

export function gauge(across: Across, help: string, ...labels: string[]): MetricDefinition {
  return { type: 'gauge', help, labels, across };
}

export function histogram(bounds: readonly number[], help: string, ...labels: string[]): MetricDefinition {
  return { type: 'histogram', help, labels, across: 'sum', bounds };
}
