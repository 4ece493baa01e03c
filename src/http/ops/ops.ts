/** `/healthz`, `/readyz` and `/metrics`. No guard applies, except the limit on failed admin authentications. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { isLoopbackAddress, isLoopbackHost } from '../../base/ip-address.js';
import { AdminGate } from '../admin/admin-gate.js';
import { ExpectedToken } from '../admin/expected-token.js';
import type { HttpDeps } from '../deps.js';
import { json, operation, record, resource, textAnswer } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { answersInTime } from './answers-in-time.js';
import { metricsText, prometheusContentType } from './metrics.js';

const dayMs = 24 * 60 * 60 * 1000;

export function registerOps(app: FastifyInstance, deps: HttpDeps, lifecycle: { readonly draining: boolean }): void {
  const config = { unguarded: true } as const;
  app.get('/healthz', { config }, (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  );
  app.get('/readyz', { config }, async (_request, reply) => {
    const missing: string[] = [];
    if (lifecycle.draining) missing.push('draining');
    if (!deps.catalogue.current) missing.push('snapshot');
    else if (!deps.isStarted()) missing.push('start');
    if (!(await answersInTime(deps.store.ping()))) missing.push('store');
    const fault = deps.journal.fault ?? null;
    if (fault !== null) missing.push('journal');
    reply.header('cache-control', 'no-store').code(missing.length === 0 ? 200 : 503);
    const parts = [...deps.deployment.degraded(), ...(deps.journal.settlerAway ? ['settler'] : [])];
    if (deps.spend?.isElsewhere && !parts.includes('redis')) parts.push('redis');
    const degraded = parts.length > 0 ? { degraded: parts } : {};
    if (missing.length === 0) return { status: 'ready', ...degraded, ...countryData(deps) };
    return { status: 'not_ready', missing, ...(fault !== null && { reason: journalReason(fault) }), ...degraded };
  });
  const gate = new AdminGate(deps);
  const expected = new ExpectedToken(() => deps.tokens.metrics);
  const showsMetricsToken = (authorization = ''): boolean =>
    authorization.startsWith('Bearer ') && expected.isShownAs(authorization.slice('Bearer '.length));
  app.get('/metrics', { config }, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    const { address } = deps.originOf(request.raw);
    const isScraper = isFromThisHost(request.raw, address) || showsMetricsToken(request.headers.authorization);
    if (!isScraper) await gate.requireToken(request, address);
    return reply.header('content-type', prometheusContentType).send(await metricsText(deps));
  });
}

/** How old the data is by which callers have a country. Old data is no reason to send no traffic. */
function countryData({ territories, clock }: HttpDeps): object {
  const builtMs = territories.countryDataBuiltMs;
  if (builtMs === null) return {};
  const built = new Date(builtMs).toISOString().slice(0, 10);
  return { country_data: { built, age_days: Math.max(0, Math.floor((clock.now() - builtMs) / dayMs)) } };
}

function journalReason(fault: string): string {
  return `The settlement journal cannot be written (${fault}), so requests that cost money are refused. Free space on the disk of storage.data_dir, or make it writable.`;
}

/** Headers that clients send about themselves. Proxies add too many different headers to list, so any other header counts as one of those. */
const ownHeaders = new Set([
  ...['accept', 'accept-charset', 'accept-encoding', 'accept-language', 'authorization', 'cache-control', 'connection'],
  ...['content-length', 'content-type', 'cookie', 'dnt', 'host', 'if-modified-since', 'if-none-match', 'keep-alive'],
  ...['pragma', 'priority', 'referer', 'te', 'upgrade-insecure-requests', 'user-agent'],
  ...['x-prometheus-scrape-timeout-seconds', 'traceparent', 'tracestate', 'baggage'],
]);
const isOwnHeader = (name: string): boolean => ownHeaders.has(name) || name.startsWith('sec-');

/**
 * Whether a request was made on this host. A proxy on this host, or a page whose name resolves to this host, acts for somebody else: the
 * first sends headers that no scraper sends, the second sends its name in `Host`. `address` is the client's address as trusted proxies
 * report it, else the address of the connection.
 */
function isFromThisHost({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>, address: string): boolean {
  if (!isLoopbackAddress(socket.remoteAddress ?? '') || !isLoopbackAddress(address)) return false;
  const host = (headers.host ?? '').replace(/:\d*$/, '');
  return isLoopbackHost(host) && Object.keys(headers).every(isOwnHeader);
}

const degraded = s.array(
  { type: 'string', enum: ['redis', 'redis_url'] },
  'Parts that are missing while it serves: `redis` cannot be reached, so requests are slower and limits are local; `redis_url` is not set although other processes serve from the same database.',
);
const ready = record('Ready', {
  status: { const: 'ready' },
  degraded: s.optional(degraded),
  country_data: s.optional(
    s.objectOf('The data by which addresses have a country; absent where none could be read.', {
      built: s.text('The day on which it was made, UTC.', { pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
      age_days: s.integer('Whole days since then.', { minimum: 0 }),
    }),
  ),
});
const notReady = record('NotReady', {
  status: { const: 'not_ready' },
  missing: s.array({ type: 'string', enum: ['draining', 'snapshot', 'store', 'journal'] }, 'The missing parts.'),
  reason: s.optional(s.text('Why the journal cannot be written.')),
  degraded: s.optional(degraded),
});

export const ops = resource('Operations', 'Probes and metrics; no key is needed.', 'probe', {
  'GET /healthz': operation('getHealth', 'Is the process alive?', {
    answers: json('It is.', s.object({ status: { const: 'ok' } })),
  }),
  'GET /readyz': operation('getReadiness', 'Can it serve?', {
    answers: [
      json('A routing snapshot is loaded and the store answers.', ready),
      { ...json('Not now; send no traffic.', notReady), status: 503 },
    ],
  }),
  'GET /metrics': operation('getMetrics', 'Metrics for Prometheus', {
    access: 'metrics',
    description: 'From the host itself, or with the admin token.',
    answers: textAnswer('Prometheus’ text format.', 'text/plain', '^# (HELP|TYPE) '),
  }),
  'GET /openapi.json': operation('getOpenApi', 'This document', {
    access: 'open',
    answers: [
      json('OpenAPI 3.1.', { type: 'object', additionalProperties: true }, ['etag']),
      { status: 304, description: 'It has not changed since the `etag` that was sent.', headers: ['etag'] },
    ],
  }),
});
