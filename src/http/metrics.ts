/** What `GET /metrics` tells (contract 9). Everything is computed at the scrape; the request path pays nothing for it. */
import { performance } from 'node:perf_hooks';
import type { HttpDeps } from './deps.js';
import { type MetricFamily, prometheusText, type Sample } from './prometheus-text.js';

const breakerNumbers = { closed: 0, half_open: 1, open: 2 } as const;

export function metricsText(deps: Pick<HttpDeps, 'catalogue' | 'health' | 'holds'>): string {
  return prometheusText([...routeMetrics(deps), ...processMetrics()]);
}

/** Figures that a route does not have yet are left out, not written as zero. */
function routeMetrics({ catalogue, health, holds }: Pick<HttpDeps, 'catalogue' | 'health' | 'holds'>): MetricFamily[] {
  const breakers: Sample[] = [];
  const held: Sample[] = [];
  const firstBytes: Sample[] = [];
  const errorRates: Sample[] = [];
  for (const route of catalogue.current?.routes.keys() ?? []) {
    const labels = { route };
    const { breaker, latency_ms, error_rate } = health.view(route);
    breakers.push({ labels, value: breakerNumbers[breaker] });
    held.push({ labels, value: holds.isHeld(route) ? 1 : 0 });
    if (latency_ms !== null) firstBytes.push({ labels, value: latency_ms });
    if (error_rate !== null) errorRates.push({ labels, value: error_rate });
  }
  return [
    gauge('lodestone_route_breaker_state', 'The route’s circuit breaker: 0 closed, 1 half-open, 2 open.', breakers),
    gauge('lodestone_route_held', '1 while the route is quota-held, until midnight UTC.', held),
    gauge('lodestone_route_first_byte_ms', 'Smoothed time to the first byte, in milliseconds.', firstBytes),
    gauge('lodestone_route_error_rate', 'Share of the attempts of the last five minutes that failed.', errorRates),
  ];
}

/** Under the names that Prometheus clients for Node use, so that existing dashboards fit. */
function processMetrics(): MetricFamily[] {
  const cpu = process.cpuUsage();
  const memory = process.memoryUsage();
  const one = (value: number): Sample[] => [{ value }];
  const versionInfo = [{ labels: { version: process.version }, value: 1 }];
  return [
    counter('process_cpu_user_seconds_total', 'User CPU time of the process.', one(cpu.user / 1e6)),
    counter('process_cpu_system_seconds_total', 'System CPU time of the process.', one(cpu.system / 1e6)),
    counter('process_cpu_seconds_total', 'CPU time of the process.', one((cpu.user + cpu.system) / 1e6)),
    gauge('process_start_time_seconds', 'Start of the process, Unix time.', one(performance.timeOrigin / 1000)),
    gauge('process_resident_memory_bytes', 'Resident memory.', one(memory.rss)),
    gauge('nodejs_heap_size_total_bytes', 'Size of the heap.', one(memory.heapTotal)),
    gauge('nodejs_heap_size_used_bytes', 'Used part of the heap.', one(memory.heapUsed)),
    gauge('nodejs_external_memory_bytes', 'Memory of objects outside the heap.', one(memory.external)),
    gauge('nodejs_version_info', 'The version of Node.', versionInfo),
  ];
}

function gauge(name: string, help: string, samples: readonly Sample[]): MetricFamily {
  return { name, help, type: 'gauge', samples };
}

function counter(name: string, help: string, samples: readonly Sample[]): MetricFamily {
  return { name, help, type: 'counter', samples };
}
