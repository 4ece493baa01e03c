/** Exports generations, ledger and audit. None of them holds text of prompts or answers. */
import type { Readable } from 'node:stream';
import pg from 'pg';
import type { Database } from '../database.js';
import type { ExportKind, ExportQuery } from '../store.js';
import { copyOut } from './copy-out.js';
import { type ColumnType, LineWriter } from './export-lines.js';
import { ParquetRows } from './parquet.js';

const literal = pg.escapeLiteral;

/** A column of the rows with its type, or with the SQL that makes it. */
type Column = ColumnType | readonly [ColumnType, sql: string];

interface Source {
  columns: Record<string, Column>;
  /** The rows, with the columns `account_id` and `moment`, in epoch milliseconds, for the filters. */
  rows: string;
  order: string;
  /** The condition that a row comes after the one with this id. */
  after(id: string): string;
}

const msOf = (moment: string) => `floor(extract(epoch from ${moment}) * 1000)::bigint`;

const sources: Record<ExportKind, Source> = {
  generations: {
    columns: {
      ...same('text', 'id', 'request_id'),
      created_at: ['ms', 'created_ms'],
      ...same('text', 'key_name', 'requested_model', 'served_model', 'provider', 'locode'),
      streamed: 'boolean',
      ...same('integer', 'status', 'prompt_tokens', 'completion_tokens', 'cached_tokens', 'reasoning_tokens'),
      cost_usd: ['pico', 'cost_pico'],
      ...same('float', 'latency_ms', 'first_byte_ms'),
      providers_attempted: 'json',
      fallback_occurred: 'boolean',
      ...same('text', 'finish_reason', 'stream_end', 'usage_source', 'error_code', 'attempts', 'account_id', 'key_id'),
    },
    rows: 'select *, created_ms as moment from lodestone.generations',
    order: 'account_id, id',
    after: (id) =>
      `(account_id, id) > (select account_id, id from lodestone.generations where id = ${literal(id)} limit 1)`,
  },
  ledger: {
    columns: {
      id: 'text',
      created_at: ['ms', 'moment'],
      kind: 'text',
      amount_usd: ['pico', 'amount_pico'],
      balance_usd: ['pico', 'balance_pico'],
      ...same('text', 'generation_id', 'note', 'account_id'),
    },
    rows: `select *, ${msOf('created_at')} as moment, sum(amount_pico) over (partition by account_id order by position) as balance_pico
      from lodestone.ledger`,
    order: 'account_id, position',
    after: (id) =>
      `(account_id, position) > (select account_id, position from lodestone.ledger where id = ${literal(id)} limit 1)`,
  },
  audit: {
    columns: {
      id: 'text',
      created_at: ['ms', 'moment'],
      ...same('text', 'actor', 'action', 'subject'),
      details: ['json', 'details::text'],
    },
    rows: `select *, ${msOf('created_at')} as moment, subject as account_id from lodestone.audit`,
    order: 'id',
    after: (id) => `id > ${literal(id)}`,
  },
};

function same(type: ColumnType, ...names: string[]): Record<string, Column> {
  return Object.fromEntries(names.map((name) => [name, type]));
}

export function exportRows(database: Database, query: ExportQuery): Readable {
  const { kind, format, accountId, fromMs, toMs, after } = query;
  const { columns, rows, order, after: afterId } = sources[kind];
  const list = Object.entries(columns).map(([name, column]) =>
    typeof column === 'string' ? { name, type: column, sql: name } : { name, type: column[0], sql: column[1] },
  );
  const conditions = [
    ...(accountId === undefined ? [] : [`account_id = ${literal(accountId)}`]),
    ...(fromMs === undefined ? [] : [`moment >= ${Math.floor(fromMs)}`]),
    ...(toMs === undefined ? [] : [`moment < ${Math.floor(toMs)}`]),
    ...(after === undefined ? [] : [afterId(after)]),
  ];
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  const select = `select ${list.map(({ sql }) => sql).join(', ')} from (${rows}) r ${where} order by ${order}`;
  const reader = format === 'parquet' ? new ParquetRows(list) : new LineWriter(list, format);
  return copyOut(database, `copy (${select}) to stdout (format binary)`, reader);
}
