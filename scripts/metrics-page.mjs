/** Writes docs/guide/metrics.md from the table of metrics, so that the page cannot name another metric than the code does. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const metricsPage = fileURLToPath(new URL('../docs/guide/metrics.md', import.meta.url));

const across = { sum: 'sum', max: 'highest', min: 'lowest' };

export function renderMetricsPage({ requestMetrics, routeMetrics, partMetrics, processMetrics }) {
  return `# Metrics, traces, logs

<!-- Generated from src/observability/metrics/table-*.ts by scripts/metrics-page.mjs. Change the table, not this page. -->

## Metrics

\`GET /metrics\` is Prometheus text. It answers connections from the host itself, and others with the admin token:

\`\`\`yaml
scrape_configs:
  - job_name: lodestone
    authorization: { credentials_file: /etc/lodestone/admin-token }
    static_configs: [{ targets: ["gateway:8787"] }]
\`\`\`

With \`workers\` one scrape covers all processes of the machine; the last column says how their figures become one. A worker that does not
answer within a second is in \`lodestone_workers_missing\`, with its counters as it last told them. Replicas are scraped one by one.

Labels are words of ours and ids of the catalogue. Accounts, keys and what callers write are never labels. A figure that is not there yet is
left out, not written as zero. \`ops/grafana/lodestone.json\` is a dashboard over these names, \`ops/prometheus/alerts.yaml\` a set of alerts.

### Requests

| Name | Type | Labels | What it is | Workers |
|---|---|---|---|---|
${rows(requestMetrics)}
\`outcome\` is \`ok\`, \`refused\` (4xx), \`failed\` (5xx), \`broken\` (a stream that began and did not come to its end) or \`client_closed\`. \`endpoint\` is a
method and a path as it was registered, or \`unknown\`. \`condition\`, \`code\` and \`status\` are of [the errors page](errors.md). \`limit\` is
\`ip_requests\`, \`key_requests\` or \`key_tokens\`. The histograms of chats are of requests whose model was found.

### Routes

| Name | Type | Labels | What it is | Workers |
|---|---|---|---|---|
${rows(routeMetrics)}
\`end\` is how a stream ended (\`complete\`, \`stalled\`, \`cut\`, \`client_closed\`, \`pricing_fault\`; whole answers are \`complete\`). The \`outcome\` of an attempt is
\`served\` or what its failure meant, as in [receipts](receipts.md). \`kind\` is \`prompt\`, \`completion\`, \`cached\` or \`reasoning\`. \`oddity\` is \`prompt_audio_as_input\`, \`cached_above_prompt\`,
\`unexplained_total\` or \`above_context_window\`, as in [dialects](dialects.md#openai). Series of a route go when
it leaves the catalogue.

### Parts

| Name | Type | Labels | What it is | Workers |
|---|---|---|---|---|
${rows(partMetrics)}
### Process

| Name | Type | Labels | What it is | Workers |
|---|---|---|---|---|
${rows(processMetrics)}
## Readiness

\`GET /readyz\` is 200 with \`{"status":"ready"}\`, or 503 with what is \`missing\`: \`draining\`, \`snapshot\` (no catalogue is loaded), \`store\` (PostgreSQL does
not answer) or \`journal\` (the disk of \`storage.data_dir\` is full or read-only; \`reason\` says which, and requests that cost money are refused). \`"degraded":["redis"]\` means that Redis is away: the gateway serves on, with limits of its own and a look at the store for each
request, so this takes no traffic from it. \`"redis_url"\` in that list means that another process serves from the same database while \`storage.redis_url\`
is not set here: neither [knows of the other](deploy.md).

## Traces

Set \`OTEL_EXPORTER_OTLP_ENDPOINT\` (or \`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT\`) and each chat request is exported as OTLP over HTTP (protobuf), by
the GenAI conventions: a SERVER span \`chat {model}\` with model, provider, tokens, finish reason, status and \`lodestone.*\` (request id, locode, fallback,
cost, overhead), and under it a CLIENT span for each attempt. A caller's \`traceparent\` is continued; none is sent to providers. No span
holds a prompt, an answer, a key or an account.

\`OTEL_EXPORTER_OTLP_HEADERS\`, \`OTEL_SERVICE_NAME\`, \`OTEL_RESOURCE_ATTRIBUTES\`, \`OTEL_TRACES_SAMPLER\`, \`OTEL_TRACES_SAMPLER_ARG\`, \`OTEL_BSP_*\` and
\`OTEL_SDK_DISABLED\` mean what they mean elsewhere. Callers decide by their \`traceparent\` whether a request is sampled; \`traceidratio\` takes
that from them. The packages for it are optional ones of the installation; where they are missing, the start says so and serves. A collector
that is away costs spans, never requests.

## Logs

JSON lines on standard error. Each line about a request has its \`request_id\`, the value of the answer's \`x-request-id\`. Chats that end in a 5xx
or break off are always logged, with code, model and the route and outcome of every attempt. \`LODESTONE_LOG_LEVEL=debug\` adds a line for every
request. What a provider said is not logged: it may quote the prompt.
`;
}

function rows(metrics) {
  return Object.entries(metrics).map(rowText).join('');
}

function rowText([name, { type, labels, help, across: how }]) {
  const cells = [`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(', '), help, across[how]];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { requestMetrics } = await import('../dist/observability/metrics/metric-table.js');
  const { routeMetrics } = await import('../dist/observability/metrics/metric-table.js');
  const { partMetrics, processMetrics } = await import('../dist/observability/metrics/metric-table.js');
  writeFileSync(metricsPage, renderMetricsPage({ requestMetrics, routeMetrics, partMetrics, processMetrics }));
}
