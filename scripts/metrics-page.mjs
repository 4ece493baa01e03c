/** Writes docs/guide/metrics.md from the table of metrics, so that the page and the code cannot disagree. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const metricsPage = fileURLToPath(new URL('../docs/guide/metrics.md', import.meta.url));

const across = { sum: 'sum', max: 'highest', min: 'lowest' };

export function renderMetricsPage({ requestMetrics, routeMetrics, partMetrics, processMetrics }) {
  return `# Metrics, traces, logs

<!-- Generated from src/observability/metrics/metric-table.ts by "npm run docs". Change the table, not this page. -->

## Metrics

\`GET /metrics\` is Prometheus text. It answers connections from the host itself, and others with the admin token:

\`\`\`yaml
scrape_configs:
  - job_name: lodestone
    authorization: { credentials_file: /etc/lodestone/admin-token }
    static_configs: [{ targets: ["gateway:8787"] }]
\`\`\`

With \`workers\` one scrape covers all processes of the machine; the last column says how their values are combined. A worker that does not
answer within a second counts in \`lodestone_workers_missing\`; the scrape then uses its last values. Scrape each replica separately.

Label values come from fixed lists and from the ids of the catalogue. Keys and text of clients are never labels, accounts in two metrics. A metric without a
value yet is left out, not written as zero. \`ops/grafana/lodestone.json\` is a dashboard for these metrics, \`ops/prometheus/alerts.yaml\` a set of alerts.

### Requests

| Name | Type | Labels | What it is | Workers |
|---|---|---|---|---|
${rows(requestMetrics)}
\`outcome\` is \`ok\`, \`refused\` (4xx), \`failed\` (5xx), \`broken\` (a stream that began and broke off) or \`client_closed\`. \`endpoint\` is a
method and a registered path, or \`unknown\`. For \`condition\`, \`code\` and \`status\` see [errors](errors.md). \`limit\` is
\`ip_requests\`, \`key_requests\` or \`key_tokens\`. The chat histograms cover requests whose model was found.

### Routes

| Name | Type | Labels | What it is | Workers |
|---|---|---|---|---|
${rows(routeMetrics)}
\`end\` is how a stream ended (\`complete\`, \`stalled\`, \`cut\`, \`client_closed\`, \`pricing_fault\`; whole answers are \`complete\`). The \`outcome\` of an attempt is
\`served\` or the meaning of its failure, as in [receipts](receipts.md). \`kind\` is \`prompt\`, \`completion\`, \`cached\` or \`reasoning\`. \`oddity\` is \`prompt_audio_as_input\`, \`tool_without_price\`,
\`tier_without_price\`, \`cached_above_prompt\`, \`unexplained_total\` or \`above_context_window\`, as in [dialects](dialects.md#openai). The series of a route end when
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
not answer) or \`journal\` (the disk of \`storage.data_dir\` is full or read-only; \`reason\` says which, and requests that cost money are refused). \`"degraded":["redis"]\` means that Redis is unreachable: the gateway still serves, with local limits and a
read of the store for each request, so keep sending it traffic. \`"redis_url"\` in that list means that another process serves from the same database
while \`storage.redis_url\` is not set here ([deployment](deploy.md)).

## Traces

Set \`OTEL_EXPORTER_OTLP_ENDPOINT\` (or \`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT\`) and each chat request is exported as OTLP over HTTP (protobuf), by
the GenAI conventions: a SERVER span \`chat {model}\` with model, provider, tokens, finish reason, status and \`lodestone.*\` (request id, locode, fallback,
cost, overhead), and under it a CLIENT span for each attempt. A client's \`traceparent\` is continued; none is sent to providers. No span
holds a prompt, an answer, a key or an account.

\`OTEL_EXPORTER_OTLP_HEADERS\`, \`OTEL_SERVICE_NAME\`, \`OTEL_RESOURCE_ATTRIBUTES\`, \`OTEL_TRACES_SAMPLER\`, \`OTEL_TRACES_SAMPLER_ARG\`, \`OTEL_BSP_*\` and
\`OTEL_SDK_DISABLED\` have their standard meaning. By default a client's \`traceparent\` decides whether a request is sampled; set
\`OTEL_TRACES_SAMPLER=traceidratio\` to ignore it. The packages are optional dependencies; if they are missing, Lodestone warns at start and serves
without traces. An unreachable collector loses spans, never requests.

## Logs

JSON lines on standard error. Each line about a request has its \`request_id\`, the value of the answer's \`x-request-id\`. Chats that end in a 5xx
or break off are logged, with code, model and the route and outcome of every attempt; those that end because a provider refuses a
[customer's own credential](own-keys.md) once an hour for each, with its id. \`LODESTONE_LOG_LEVEL=debug\` adds a line for every request.
Messages of providers are not logged, because they may quote the prompt.

Once an hour, each process warns of what you may pay for and nobody is billed for: a tier or a tool without a price that a provider chose by
itself, for each route, with its name; and an account whose callers left 100 requests before the first content within an hour, with its id.
\`GET /admin/v1/activity?account={id}&group_by=status\` shows such requests of an account as 499. Suspend the account, or lower its tokens per
minute.
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
  writeFileSync(metricsPage, renderMetricsPage(await import('../dist/observability/metrics/metric-table.js')));
}
