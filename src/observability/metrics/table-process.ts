/** The metrics of the parts behind the requests: journal, shared state, connections, workers, and the process itself. */
import { counter, gauge, histogram } from './definition.js';

export const gcBounds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1];

export const partMetrics = {
  lodestone_journal_records: gauge('sum', 'Settlements that are not yet in the store.'),
  lodestone_journal_oldest_seconds: gauge('max', 'Age of the oldest settlement that is not yet in the store.'),
  lodestone_journal_settled_total: counter('Settlements that have left the journal.'),
  lodestone_journal_set_aside_total: counter('Settlements that the store refused, set aside for a person to look at.'),
  lodestone_redis_up: gauge('min', '1 while Redis can be reached; absent where none is configured.'),
  lodestone_redis_fallbacks_total: counter('Requests that were admitted without Redis, by local limits.'),
  lodestone_upstream_connections: gauge('sum', 'Connections to upstreams, by state.', 'state'),
  lodestone_catalogue_loaded_timestamp_seconds: gauge('min', 'When the routing snapshot in use was loaded.'),
  lodestone_workers: gauge('sum', 'Processes that these figures are of.'),
  lodestone_workers_missing: gauge('max', 'Processes that did not tell their figures in time.'),
  lodestone_build_info: gauge('max', 'The version that is running.', 'version'),
};

/** Under the names that Prometheus clients for Node use, so that existing dashboards fit. */
export const processMetrics = {
  process_cpu_user_seconds_total: counter('User CPU time.'),
  process_cpu_system_seconds_total: counter('System CPU time.'),
  process_cpu_seconds_total: counter('CPU time.'),
  process_start_time_seconds: gauge('min', 'Start of the process, Unix time.'),
  process_resident_memory_bytes: gauge('sum', 'Resident memory.'),
  nodejs_heap_size_total_bytes: gauge('sum', 'Size of the heap.'),
  nodejs_heap_size_used_bytes: gauge('sum', 'Used part of the heap.'),
  nodejs_external_memory_bytes: gauge('sum', 'Memory of objects outside the heap.'),
  nodejs_eventloop_lag_mean_seconds: gauge('max', 'Mean delay of the event loop since the scrape before.'),
  nodejs_eventloop_lag_p50_seconds: gauge('max', 'Median delay of the event loop since the scrape before.'),
  nodejs_eventloop_lag_p99_seconds: gauge('max', 'The 99th percentile of that delay.'),
  nodejs_eventloop_lag_max_seconds: gauge('max', 'The longest delay.'),
  nodejs_eventloop_active_seconds_total: counter('Time that the event loop was at work; its rate is the utilisation.'),
  nodejs_eventloop_idle_seconds_total: counter('Time that the event loop waited for something to do.'),
  nodejs_gc_duration_seconds: histogram(gcBounds, 'Garbage collections, by kind.', 'kind'),
  nodejs_version_info: gauge('max', 'The version of Node.', 'version'),
};
