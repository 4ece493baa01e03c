/** Describes the check, the retention and the export of the stored records. */
import { exportFormats } from '../../admin/export.js';
import { pruneFields } from '../../admin/storage.js';
import { adminOperation, json } from '../operations.js';
import { array, bodySchema, boolean, instant, integer, object, ref, text, textOrNull } from '../schema.js';
import type { Parameter, Resource, Schema } from '../types.js';
import { adminActivity } from './activity.js';

const tag = { name: 'Records', description: 'For operators: sums of all accounts, and the stored records.' };

const plain: Schema = { type: 'string', pattern: '^[^\\x00]*$' };
const query = (name: string, description: string, schema = plain): Parameter => ({
  ...{ name, in: 'query', description, schema },
});

const month = object({
  month: text('The month.', { pattern: '^\\d{4}-\\d{2}$' }),
  accounts: integer('Accounts with requests in it.'),
  requests: integer('Its requests.'),
});

const lines = { schema: { type: 'string' } };

const exportOf = (id: string, summary: string, more = '') =>
  adminOperation({
    ...{ id, tag: tag.name, summary },
    description: `A stream of lines. To go on after an interruption, send the \`id\` of the last line as \`after\`.${more}`,
    parameters: [
      {
        ...{ name: 'format', in: 'query', description: 'How lines are written.' },
        schema: { type: 'string', enum: [...exportFormats], default: 'ndjson' },
      },
      query('since', 'RFC 3339 or a date, UTC; included.', instant),
      query('until', 'RFC 3339 or a date, UTC; not included.', instant),
      query('account', 'Only this account.'),
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
  paths: {
    ...adminActivity.paths,
    '/admin/v1/storage/check': {
      get: adminOperation({
        ...{ id: 'checkStorage', tag: tag.name, summary: 'Check the stored records' },
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
      }),
    },
    '/admin/v1/storage/prune': {
      post: adminOperation({
        ...{ id: 'pruneStorage', tag: tag.name, summary: 'Remove generations that are older than the retention' },
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
      }),
    },
    '/admin/v1/export/generations': { get: exportOf('exportGenerations', 'Export generations') },
    '/admin/v1/export/ledger': { get: exportOf('exportLedger', 'Export the ledger') },
    '/admin/v1/export/audit': {
      get: exportOf(
        'exportAudit',
        'Export the audit log',
        ' As `ndjson` it begins with a line `{"type": "lodestone-audit-export/1", "origin", "hmac_key"}` unless `after` is sent, and `lodestone log verify --audit` checks it.',
      ),
    },
  },
};
