/** `GET /admin/v1/export/{generations|ledger|audit}`: records as a stream of lines. */
import type { FastifyInstance } from 'fastify';
import { gatewayError } from '../../errors/gateway-error.js';
import type { ExportQuery } from '../../storage/store.js';
import { instantOf, settledWaitMs } from '../api/generations.js';
import type { HttpDeps } from '../deps.js';
import { queryText } from '../query.js';

export const exportKinds = ['generations', 'ledger', 'audit'] as const;
export const exportFormats = ['ndjson', 'csv', 'parquet'] as const;

const contentTypes = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
} as const;

export function registerExport(app: FastifyInstance, { store, journal }: HttpDeps): void {
  app.get<{ Params: { kind: string } }>('/export/:kind', async (request, reply) => {
    const kind = exportKinds.find((candidate) => candidate === request.params.kind);
    if (!kind) throw gatewayError('resource_not_found', { what: 'export', id: request.params.kind.slice(0, 100) });
    const text = queryText(request, 'format') ?? 'ndjson';
    const format = exportFormats.find((candidate) => candidate === text);
    if (!format) {
      throw gatewayError('field_invalid', { param: 'format', reason: `must be one of ${exportFormats.join(', ')}` });
    }
    const filters = {
      accountId: queryText(request, 'account'),
      fromMs: instantOf(request, 'since'),
      toMs: instantOf(request, 'until'),
      after: queryText(request, 'after'),
    };
    const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
    await journal.settled(settledWaitMs);
    reply.header('content-type', contentTypes[format]);
    reply.header('content-disposition', `attachment; filename="lodestone-${kind}.${format}"`);
    return reply.send(store.records.export({ kind, format, ...given } as ExportQuery));
  });
}
