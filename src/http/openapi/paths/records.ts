/** Describes the check, the retention and the export of the stored records. */
import { exportFormats } from '../../admin/export.js';
import { pruneFields } from '../../admin/storage.js';
import { json, type Resource } from '../operations.js';
import { array, bodySchema, boolean, instant, integer, object, query, ref, text, textOrNull } from '../schema.js';
import type { Parameter } from '../types.js';
import { adminActivity, recordFilters } from './activity.js';

const tag = { name: 'Records', description: 'For operators: sums of all accounts, and the stored records.' };

const month = object({
  month: text('The month.', { pattern: '^\\d{4}-\\d{2}$' }),
  accounts: integer('Accounts with requests in it.'),
  requests: integer('Its requests.'),
});

const lines = { schema: { type: 'string' } };

const exportOf = (id: string, summary: string, more = '', filters: Parameter[] = []) => ({
  ...{ id, summary },
  description: `A stream of lines. To go on after an interruption, send the \`id\` of the last line as \`after\`.${more}`,
  parameters: [
    query('format', 'How lines are written.', { type: 'string', enum: [...exportFormats], default: 'ndjson' }),
    query('since', 'RFC 3339 or a date, UTC; included.', instant),
    query('until', 'RFC 3339 or a date, UTC; not included.', instant),
    query('account', 'Only this account.'),
    ...filters,
    query('after', 'Only lines after the one with this id.'),
  ],
  answers: {
    '200': {
      description: 'The records.',
      content: { 'application/x-ndjson': lines, 'text/csv': lines, 'application/vnd.apache.parquet': lines },
    },
  },
});

export const records: Resource = {
  tag,
  schemas: { ...adminActivity.schemas },
  operations: {
    ...adminActivity.operations,
    'GET /admin/v1/storage/check': {
      id: 'checkStorage',
      summary: 'Check the stored records',
      description: 'Compares balances, ledger, rollups and generations. It reads every row.',
      answers: {
        '200': json(
          'What does not agree.',
          object({
            object: { const: 'storage_check' },
            ok: boolean('Everything agrees.'),
            accounts: integer('Accounts.'),
            generations: integer('Generations.'),
            faults: array(ref('StorageFault'), 'What does not agree; at most 100 of a kind.'),
          }),
        ),
      },
    },
    'POST /admin/v1/storage/prune': {
      id: 'pruneStorage',
      summary: 'Remove generations that are older than the retention',
      description:
        'Each month becomes one ledger entry of the kind `statement` for each account. Balances do not change.',
      body: { schema: bodySchema(pruneFields), examples: { dry: { summary: 'Only say', value: { dry_run: true } } } },
      answers: {
        '200': json(
          'The months.',
          object({
            object: { const: 'storage_prune' },
            dry_run: boolean('Nothing was removed.'),
            retention: textOrNull('`storage.retention.generations`; null where everything is kept.'),
            months: array(month, 'The months that were or would be removed.'),
          }),
        ),
      },
    },
    'GET /admin/v1/export/generations': exportOf('exportGenerations', 'Export generations', '', recordFilters),
    'GET /admin/v1/export/ledger': exportOf('exportLedger', 'Export the ledger'),
    'GET /admin/v1/export/audit': exportOf(
      'exportAudit',
      'Export the audit log',
      ' As `ndjson` it begins with a line `{"type": "lodestone-audit-export/1", "origin", "hmac_key"}` unless `after` is sent, and `lodestone log verify --audit` checks it.',
    ),
  },
};
