/** Every metric of `GET /metrics`, once. The docs page is generated from this table, and tests hold dashboard and alerts against it. */
import type { MetricDefinition } from './definition.js';
import { partMetrics, processMetrics } from './table-process.js';
import { requestMetrics } from './table-requests.js';
import { routeMetrics } from './table-routes.js';

const table = { ...requestMetrics, ...routeMetrics, ...partMetrics, ...processMetrics };

export type MetricName = keyof typeof table;

export const metricTable: Readonly<Record<MetricName, MetricDefinition>> = table;
