/** `GET /admin/v1/export/{generations|ledger|audit}`: records as a stream of lines. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { gatewayError } from '../../errors/gateway-error.js';
import { type ExportQuery, UnknownExportRow } from '../../storage/store.js';
import { recordFilters } from '../api/activity.js';
import { settledWaitMs } from '../api/generations.js';
import type { HttpDeps } from '../deps.js';
import { operation } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import type { Parameter } from '../openapi/types.js';
import { queryChoice, queryInstant, queryText } from '../query.js';

const exportKinds = ['generations', 'ledger', 'audit'] as const;
const onlyNames = ['project', 'holder', 'end_user'] as const;
const exportFormats = ['ndjson', 'csv', 'parquet'] as const;

const contentTypes = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
} as const;

/** Longer than entries of the audit log wait to be sealed. */
const sealedWaitMs = 3_000;

export function registerExport(app: FastifyInstance, { store, journal, proof }: HttpDeps): void {
  for (const kind of exportKinds) app.get(`/export/${kind}`, (request, reply) => send(kind, request, reply));

  async function send(kind: ExportQuery['kind'], request: FastifyRequest, reply: FastifyReply) {
    const format = queryChoice(request, 'format', exportFormats) ?? 'ndjson';
    const filters = {
      accountId: queryText(request, 'account'),
      fromMs: queryInstant(request, 'since'),
      toMs: queryInstant(request, 'until'),
      after: queryText(request, 'after'),
      only: onlyOf(kind, request),
    };
    const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
    if ((filters.fromMs ?? 0) > (filters.toMs ?? Number.POSITIVE_INFINITY))
      throw gatewayError('field_invalid', { param: 'since', reason: 'must not be later than `until`' });
    await journal.settled(settledWaitMs);
    // An entry that is not in the log yet could not be told from one that somebody has added.
    if (kind === 'audit' && proof.sealer !== null) await store.audit.sealed(sealedWaitMs);
    const rows = await store.records.export({ kind, format, ...given } as ExportQuery).catch(refuse);
    reply.header('content-type', contentTypes[format]);
    reply.header('content-disposition', `attachment; filename="lodestone-${kind}.${format}"`);
    return reply.send(rows);
  }
}

/** Which generations are asked for; of other records nobody could tell. */
function onlyOf(kind: ExportQuery['kind'], request: FastifyRequest): ExportQuery['only'] {
  const sent = onlyNames.flatMap((name) => {
    const value = queryText(request, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  if (sent[0] && kind !== 'generations')
    throw gatewayError('field_invalid', { param: sent[0][0], reason: 'is a filter of generations only' });
  return sent.length === 0 ? undefined : Object.fromEntries(sent);
}

function refuse(error: unknown): never {
  if (!(error instanceof UnknownExportRow)) throw error;
  const id = error.id.slice(0, 100);
  const reason =
    error.param === 'account'
      ? 'but there is no such account'
      : 'but no row has this id: it was removed or never existed; resume by `since`';
  throw gatewayError('field_invalid', { param: error.param, reason: `is "${id}", ${reason}` });
}

const lines = { schema: { type: 'string' } };

const exportOf = (id: string, summary: string, more = '', filters: readonly Parameter[] = []) =>
  operation(id, summary, {
    description: `A stream of lines. To go on after an interruption, send the \`id\` of the last line as \`after\`.${more}`,
    parameters: [
      s.query('format', 'How lines are written.', { type: 'string', enum: [...exportFormats], default: 'ndjson' }),
      s.query('since', 'RFC 3339 or a date, UTC; included.', s.instant),
      s.query('until', 'RFC 3339 or a date, UTC; not included.', s.instant),
      s.query('account', 'Only this account.'),
      ...filters,
      s.query('after', 'Only lines after the one with this id.'),
    ],
    answers: {
      description: 'The records.',
      content: { 'application/x-ndjson': lines, 'text/csv': lines, 'application/vnd.apache.parquet': lines },
    },
  });

export const exportOperations = {
  'GET /admin/v1/export/generations': exportOf('exportGenerations', 'Export generations', '', recordFilters),
  'GET /admin/v1/export/ledger': exportOf('exportLedger', 'Export the ledger'),
  'GET /admin/v1/export/audit': exportOf(
    'exportAudit',
    'Export the audit log',
    ' As `ndjson` it begins with a line `{"type": "lodestone-audit-export/1", "origin", "hmac_key"}` unless `after` is sent, and `lodestone log verify --audit` checks it.',
  ),
};
