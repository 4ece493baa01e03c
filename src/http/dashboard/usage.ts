/** The Usage page: the values to filter by, and the usage history as CSV. */
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { usdText } from '../../base/money.js';
import type { Generation } from '../../domain/generation.js';
import { defaultProjectId, shownPersonId } from '../../domain/organisation.js';
import type { GenerationQuery } from '../../storage/store.js';
import { generationFilters, projectScope, settledWaitMs } from '../api/generations.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';

const facetMs = 90 * 86_400_000;
const rowsMax = 100_000;
const pageRows = 1000;

const columns: readonly (readonly [string, (row: Generation) => string | number | boolean | null])[] = [
  ['id', (row) => row.id],
  ['created_at', (row) => new Date(row.createdAt).toISOString()],
  ['key_name', (row) => row.keyName],
  ['requested_model', (row) => row.requestedModel],
  ['served_model', (row) => row.servedModel],
  ['provider', (row) => row.provider],
  ['locode', (row) => row.locode],
  ['streamed', (row) => row.streamed],
  ['status', (row) => row.status],
  ['prompt_tokens', (row) => row.promptTokens],
  ['completion_tokens', (row) => row.completionTokens],
  ['cached_tokens', (row) => row.cachedTokens],
  ['reasoning_tokens', (row) => row.reasoningTokens],
  ['cost_usd', (row) => usdText(row.costPico)],
  ['latency_ms', (row) => row.latencyMs],
  ['first_byte_ms', (row) => row.firstByteMs],
  ['providers_attempted', (row) => row.providersAttempted.join(' ')],
  ['fallback_occurred', (row) => row.fallbackOccurred],
  ['finish_reason', (row) => row.finishReason],
  ['stream_end', (row) => row.streamEnd],
  ['usage_source', (row) => row.usageSource],
  ['error_code', (row) => row.errorCode],
  ['request_id', (row) => row.requestId],
  ['project', (row) => row.projectId ?? defaultProjectId(row.accountId)],
  ['holder', (row) => (row.holderId ? shownPersonId(row.holderId) : null)],
  ['end_user', (row) => row.endUser ?? null],
];

export function registerUsage(app: FastifyInstance, deps: HttpDeps): void {
  app.get('/usage/facets', async (request) => {
    await deps.journal.settled(settledWaitMs);
    const now = deps.clock.now();
    return deps.store.usage.facets(accountOf(request).id, now - facetMs, now + 1, projectScope(request));
  });

  app.get('/usage.csv', async (request, reply) => {
    const query = { accountId: accountOf(request).id, limit: pageRows, ...generationFilters(request) };
    await deps.journal.settled(settledWaitMs);
    const day = new Date(deps.clock.now()).toISOString().slice(0, 10);
    reply.header('content-type', 'text/csv; charset=utf-8');
    reply.header('content-disposition', `attachment; filename="lodestone-usage-${day}.csv"`);
    return reply.send(Readable.from(csvPages(deps, query)));
  });
}

/** One page of records at a time, as fast as the client reads. */
async function* csvPages({ store }: HttpDeps, query: GenerationQuery): AsyncGenerator<string> {
  yield `${columns.map(([name]) => name).join(',')}\r\n`;
  let after = query.after;
  for (let written = 0; written < rowsMax; written += pageRows) {
    const page = await store.generations.list({ ...query, ...(after !== undefined && { after }) });
    if (page.data.length > 0) yield page.data.map(csvRow).join('');
    if (!page.hasMore) return;
    after = page.data.at(-1)?.id;
  }
}

function csvRow(row: Generation): string {
  return `${columns.map(([, read]) => csvCell(read(row))).join(',')}\r\n`;
}

/** Quotes where necessary. Text that a spreadsheet would take for a formula gets a leading apostrophe. */
function csvCell(value: string | number | boolean | null): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
