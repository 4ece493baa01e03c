/**
 * Lists every metric of `GET /metrics`, once. The docs page is generated from this table, and tests compare dashboards and
 * alerts with it.
 */

export const gcBounds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1];

export const partMetrics = {
  lodestone_journal_records: gauge('sum', 'Settlements that are not yet in the store.'),
  lodestone_journal_oldest_seconds: gauge('max', 'Age of the oldest settlement that is not yet in the store.'),
  lodestone_journal_settled_total: counter('Settlements that have left the journal.'),
  lodestone_journal_set_aside_total: counter('Settlements that the store refused, set aside for a person to look at.'),
  lodestone_journal_damaged_total: counter(
    'Places in the journal that were damaged, so that no record could be read there.',
  ),
  lodestone_estimated_bills_total: notOnDashboard(
    counter(
      'Bills by the fewest tokens that a text can have, because the process or its count died before it was counted.',
    ),
  ),
  lodestone_settler_up: gauge('min', '1 while the process that settles the journals is reached.'),
  lodestone_postgres_up: gauge('min', '1 while PostgreSQL answers within a second.'),
  lodestone_log_size: gauge('max', 'Receipts in the log.'),
  lodestone_log_unsealed_oldest_seconds: gauge(
    'max',
    'Age of the oldest settlement that is not yet in the log of receipts.',
  ),
  lodestone_log_sealer_fault: gauge(
    'max',
    '1 while receipts are not sealed or set aside, by reason; else 0.',
    'reason',
  ),
  lodestone_secrets_key_fault: notOnDashboard(
    gauge(
      'max',
      '1 while credentials of customers cannot be opened with the keys in secrets.key_file and secrets.previous_key_files; else 0.',
    ),
  ),
  lodestone_redis_up: gauge('min', '1 while Redis can be reached; absent where none is configured.'),
  lodestone_redis_fallbacks_total: counter('Requests that were admitted without Redis, by local limits.'),
  lodestone_upstream_connections: gauge('sum', 'Connections to upstreams, by state.', 'state'),
  lodestone_catalogue_loaded_timestamp_seconds: gauge('min', 'When the routing snapshot in use was loaded.'),
  lodestone_workers: gauge('sum', 'Processes that these figures are of.'),
  lodestone_workers_missing: gauge('max', 'Processes that did not tell their figures in time.'),
  lodestone_build_info: gauge('max', 'The version that is running.', 'version'),
};

/** Named like those of Prometheus clients for Node, so that existing dashboards fit. */
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

/** Seconds; the last ones are the time limits of a request. */
export const answerBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 90, 150, 300];
/** Seconds of Lodestone's own work, which takes milliseconds. */
export const overheadBounds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

export const requestMetrics = {
  lodestone_requests_total: counter(
    'Requests that were answered or given up, by endpoint and outcome.',
    'endpoint',
    'outcome',
  ),
  lodestone_sandbox_requests_total: notOnDashboard(
    counter(
      'Those of them that asked for a model of the sandbox. They cost nothing and fail on purpose, so alerts subtract them.',
      'endpoint',
      'outcome',
    ),
  ),
  lodestone_errors_total: counter(
    'Errors that callers were given, by the row of the error table.',
    'condition',
    'code',
    'status',
  ),
  lodestone_limit_refusals_total: counter('Requests that a rate limit refused, by limit.', 'limit'),
  lodestone_request_body_bytes_total: counter('Bytes of the bodies of chat requests.'),
  lodestone_chat_duration_seconds: histogram(
    answerBounds,
    'From the arrival of a request for a model to the end of its answer.',
    'door',
    'stream',
    'outcome',
  ),
  lodestone_chat_first_byte_seconds: histogram(
    answerBounds,
    'From the arrival of a chat request to the first byte of its 200.',
    'stream',
  ),
  lodestone_chat_overhead_seconds: histogram(
    overheadBounds,
    'Time that a chat request spent in Lodestone itself, until its 200 began; the figure of x-router-overhead-ms.',
    'stream',
  ),
  lodestone_chat_fallbacks_total: counter('Answers that the first route attempted did not give.'),
  lodestone_running_chats: gauge('sum', 'Chat requests that are not over.'),
  lodestone_open_streams: gauge('sum', 'Streams that have begun and not ended.'),
};

export const routeMetrics = {
  lodestone_served_total: counter(
    'Answers that a route has begun to give, by how they ended.',
    'route',
    'stream',
    'end',
  ),
  lodestone_attempts_total: counter('Attempts on a route, by outcome.', 'route', 'outcome'),
  lodestone_attempt_first_byte_seconds: histogram(
    answerBounds,
    'From the dispatch of an attempt to the first byte of the upstream.',
    'route',
  ),
  lodestone_attempt_duration_seconds: notOnDashboard(
    histogram(answerBounds, 'From the dispatch of an attempt to its end, whatever that was.', 'route'),
  ),
  lodestone_tokens_total: counter(
    'Tokens billed; cached ones are a part of the prompt, reasoning ones of the completion.',
    'route',
    'kind',
  ),
  lodestone_usage_oddities_total: counter(
    'Answers whose usage was billed though it was odd: prompt audio, a tool or a tier without a price, more cached tokens than prompt tokens, a total that its parts do not explain, more tokens than the context window.',
    'route',
    'oddity',
  ),
  lodestone_left_before_content_total: counter(
    'Requests whose caller left after a provider was asked and before the first content: the provider may charge for them, and nobody pays. The first 100 accounts are named, the others are `other`.',
    'account',
  ),
  lodestone_sticky_total: notOnDashboard(
    counter(
      'Answers of a route in a conversation, by whether it gave the last one too: hit or miss.',
      'route',
      'result',
    ),
  ),
  lodestone_sticky_cached_tokens_total: notOnDashboard(
    counter('Prompt tokens read from a cache in conversations that stayed with the route.', 'route'),
  ),
  lodestone_retiring_served_total: notOnDashboard(
    counter(
      'Answers of a route that retires within 60 days. `GET /v1/models` has the date. The first 100 accounts of a route are named, the others are `other`.',
      'route',
      'account',
    ),
  ),
  lodestone_cost_usd_total: counter('US dollars billed.', 'route'),
  lodestone_holds_exceeded_total: notOnDashboard(
    counter('Requests that cost more than was held of the balance for them.'),
  ),
  lodestone_route_breaker_state: gauge(
    'max',
    'The route’s circuit breaker: 0 closed, 1 half-open, 2 open.',
    'route',
    'model',
  ),
  lodestone_route_held: gauge('max', '1 while the route is quota-held, until midnight UTC.', 'route', 'model'),
  lodestone_route_available: gauge(
    'max',
    'Of routes with a price and a credential: 1 where an auto/ request may try the route now.',
    'route',
    'model',
  ),
  lodestone_provider_key_calls_total: notOnDashboard(
    counter('Calls with each of several keys of the operator at a provider.', 'provider', 'name'),
  ),
  lodestone_provider_key_running: notOnDashboard(gauge('sum', 'Requests that run with the key.', 'provider', 'name')),
  lodestone_provider_key_held: notOnDashboard(
    gauge('max', '1 while a rate limit or a quota of the key holds it.', 'provider', 'name'),
  ),
  lodestone_provider_key_refused: notOnDashboard(
    gauge(
      'max',
      '1 while the key is not used because the provider refused it; a reload tries it again.',
      'provider',
      'name',
    ),
  ),
  lodestone_route_recent_first_byte_seconds: notOnDashboard(
    gauge('max', 'The smoothed first byte that ranking uses.', 'route'),
  ),
  lodestone_route_recent_error_ratio: notOnDashboard(
    gauge('max', 'Share of the attempts of the last five minutes that failed.', 'route'),
  ),
};

/** How the figures of several processes are merged: their sum, the highest, or the lowest. */
export type Across = 'sum' | 'max' | 'min';

/** One metric: its type, its labels, its meaning, and how the figures of several processes are merged. */
export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** One sentence for Prometheus and the docs page. */
  readonly help: string;
  readonly labels: readonly string[];
  readonly across: Across;
  /** The upper bounds of a histogram's buckets, without infinity. */
  readonly bounds?: readonly number[];
  /** False where ops/grafana has no panel for it. */
  readonly onDashboard?: false;
}

function counter(help: string, ...labels: string[]): MetricDefinition {
  return { type: 'counter', help, labels, across: 'sum' };
}

function gauge(across: Across, help: string, ...labels: string[]): MetricDefinition {
  return { type: 'gauge', help, labels, across };
}

function histogram(bounds: readonly number[], help: string, ...labels: string[]): MetricDefinition {
  return { type: 'histogram', help, labels, across: 'sum', bounds };
}

/** A metric without a panel in ops/grafana: other panels or the ranking use it. */
function notOnDashboard(definition: MetricDefinition): MetricDefinition {
  return { ...definition, onDashboard: false };
}

const table = { ...requestMetrics, ...routeMetrics, ...partMetrics, ...processMetrics };

export type MetricName = keyof typeof table;

export const metricTable: Readonly<Record<MetricName, MetricDefinition>> = table;
