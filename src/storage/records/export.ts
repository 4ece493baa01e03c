/** Exports generations, ledger and audit, written by PostgreSQL itself line by line. None of them holds text of prompts or answers. */
import type { Readable } from 'node:stream';
import pg from 'pg';
import type { Database } from '../database.js';
import type { ExportKind, ExportQuery } from '../store.js';
import { copyOut } from './copy-out.js';
import { parquetOf } from './parquet.js';

const timeOf = (moment: string) => `to_char(${moment} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const usdOf = (pico: string) => `trim_scale(${pico} * 0.000000000001)::text`;
const literal = pg.escapeLiteral;

interface Source {
  /** The columns of a line, each with its SQL. JSON has lists as lists, and the attempts as text. */
  columns(asJson: boolean): Record<string, string>;
  /** The rows, with the columns `account_id` and `moment` for the filters. */
  rows: string;
  order: string;
  /** The condition that a row comes after the one with this id. */
  after(id: string): string;
}

const sources: Record<ExportKind, Source> = {
  generations: {
    columns: (asJson) => ({
      ...same('id', 'request_id'),
      created_at: timeOf('moment'),
      ...same('key_name', 'requested_model', 'served_model', 'provider', 'locode'),
      streamed: asJson ? 'streamed' : 'streamed::text',
      ...same('status', 'prompt_tokens', 'completion_tokens', 'cached_tokens', 'reasoning_tokens'),
      cost_usd: usdOf('cost_pico'),
      ...same('latency_ms', 'first_byte_ms'),
      providers_attempted: asJson ? 'providers_attempted::json' : 'providers_attempted',
      fallback_occurred: asJson ? 'fallback_occurred' : 'fallback_occurred::text',
      ...same('finish_reason', 'stream_end', 'usage_source', 'error_code', 'attempts', 'account_id', 'key_id'),
    }),
    rows: 'select *, to_timestamp(created_ms / 1000.0) as moment from lodestone.generations',
    order: 'account_id, id',
    after: (id) =>
      `(account_id, id) > (select account_id, id from lodestone.generations where id = ${literal(id)} limit 1)`,
  },
  ledger: {
    columns: () => ({
      id: 'id',
      created_at: timeOf('moment'),
      kind: 'kind',
      amount_usd: usdOf('amount_pico'),
      balance_usd: usdOf('balance_pico'),
      ...same('generation_id', 'note', 'account_id'),
    }),
    rows: `select *, created_at as moment, sum(amount_pico) over (partition by account_id order by position) as balance_pico
      from lodestone.ledger`,
    order: 'account_id, position',
    after: (id) =>
      `(account_id, position) > (select account_id, position from lodestone.ledger where id = ${literal(id)} limit 1)`,
  },
  audit: {
    columns: (asJson) => ({
      id: 'id',
      created_at: timeOf('moment'),
      ...same('actor', 'action', 'subject'),
      details: asJson ? 'details' : 'details::text',
    }),
    rows: 'select *, created_at as moment, subject as account_id from lodestone.audit',
    order: 'id',
    after: (id) => `id > ${literal(id)}`,
  },
};

function same(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, name]));
}

export function exportRows(database: Database, query: ExportQuery): Readable {
  if (query.format !== 'parquet') return linesOf(database, query);
  const lines = linesOf(database, { ...query, format: 'ndjson' });
  return parquetOf(lines, Object.keys(sources[query.kind].columns(true))).once('close', () => lines.destroy());
}

function linesOf(database: Database, { kind, format, accountId, fromMs, toMs, after }: ExportQuery): Readable {
  const { columns, rows, order, after: afterId } = sources[kind];
  const asJson = format === 'ndjson';
  const list = Object.entries(columns(asJson)).map(([name, sql]) => `${sql} as ${name}`);
  const conditions = [
    ...(accountId === undefined ? [] : [`account_id = ${literal(accountId)}`]),
    ...(fromMs === undefined ? [] : [`moment >= ${momentOf(fromMs)}`]),
    ...(toMs === undefined ? [] : [`moment < ${momentOf(toMs)}`]),
    ...(after === undefined ? [] : [afterId(after)]),
  ];
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  const lines = `select ${list.join(', ')} from (${rows}) r ${where} order by ${order}`;
  // JSON text has no control characters, so with these two nothing in it is quoted or escaped.
  const plain = `format csv, delimiter e'\\x02', quote e'\\x01'`;
  return copyOut(
    database,
    asJson
      ? `copy (select row_to_json(line)::text from (${lines}) line) to stdout (${plain})`
      : `copy (${lines}) to stdout (format csv, header)`,
  );
}

const momentOf = (ms: number): string => `to_timestamp(${Math.floor(ms)} / 1000.0)`;
