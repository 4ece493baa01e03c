/** The types of metrics-page.mjs, for the test that holds page and table together. */
import type { MetricDefinition } from '../src/observability/metrics/metric-table.js';

type Metrics = Readonly<Record<string, MetricDefinition>>;

export const metricsPage: string;
export function renderMetricsPage(parts: {
  requestMetrics: Metrics;
  routeMetrics: Metrics;
  partMetrics: Metrics;
  processMetrics: Metrics;
}): string;
