/** Exports generations, ledger and audit. None of them holds text of prompts or answers. */
import type { Readable } from 'node:stream';
import pg from 'pg';
import { generationIdsFrom, idTimeMs } from '../../base/ids.js';
import type { Database } from '../database.js';
import { type ExportKind, type ExportQuery, UnknownExportRow } from '../store.js';
import { auditLines } from './audit-lines.js';
import { ownBillSql } from './bill-bytes.js';
import { copyOut } from './copy-out.js';
import { type ColumnType, LineWriter } from './export-lines.js';
import { ParquetRows } from './parquet.js';

/** An id holds the time at which its request began, and no request takes longer than this. */
const requestMaxMs = 3_600_000;
const clockStepMs = 60_000;

const literal = pg.escapeLiteral;

/** A column of the rows with its type, or with the SQL that makes it. */
type Column = ColumnType | readonly [ColumnType, sql: string];

interface Source {
  columns: Record<string, Column>;
  /** The rows, with the columns `account_id` and `moment`, in epoch milliseconds, for the filters. */
  rows: string;
  /** The columns that rows are sorted by. */
  order: readonly string[];
  /** The values of `order` in the row with this id. */
  placeOf(id: string): string;
  /** Which rows are of an account; `account_id = …` unless it is given. */
  ofAccount?: (id: string) => string;
  /** Which rows may have a moment in a period, as bounds of an index; absent where there is none. */
  near?: (fromMs: number | undefined, toMs: number | undefined) => string[];
  /** The stored bill comes last, and becomes columns of its own. */
  bill?: true;
  /** An index has the rows in their order. */
  isIndexed?: true;
}

const msOf = (moment: string) => `floor(extract(epoch from ${moment}) * 1000)::bigint`;

/** Whose credential served, as the API shows it; null where nobody did. */
const credentialText = `case when served_model is not null then
  '{"id":' || coalesce('"' || credential_id || '"', 'null') || ',"owner":"' || coalesce(credential_owner, 'operator') || '"}' end`;

const shownBill = `case when credential_id is null then bill else ${ownBillSql('bill', 'cost_pico')} end`;

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
      ...same('text', 'request_policy', 'end_user'),
      door: ['text', `coalesce(door, 'chat')`],
      project: ['text', 'coalesce(project_id, lodestone.default_project_of(account_id))'],
      holder: ['text', `regexp_replace(holder_id, '^acct-', 'per-')`],
      notional_usd: ['pico', 'notional_pico'],
      is_byok: ['boolean', 'credential_id is not null'],
      credential: ['text', credentialText],
      skipped: ['text', `coalesce(skipped, '[]')`],
    },
    bill: true,
    isIndexed: true,
    near: generationsNear,
    rows: 'select *, created_ms as moment from lodestone.generations',
    order: ['account_id', 'id'],
    placeOf: generationPlace,
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
    order: ['account_id', 'position'],
    // An entry of usage is named after its generation.
    placeOf: (id) =>
      `select account_id, position from lodestone.ledger_posts where id = ${literal(id)}
       union all (${generationPlace(`gen${id.slice(3)}`)} and billed and ${literal(id)} like 'led-%')`,
  },
  audit: {
    columns: {
      id: 'text',
      created_at: ['ms', 'moment'],
      ...same('text', 'actor', 'action', 'subject'),
      details: ['json', 'details::text'],
      seq: 'integer',
      ...same('text', 'acted_by', 'account_id', 'address'),
    },
    rows: `select *, ${msOf('created_at')} as moment from lodestone.audit`,
    order: ['seq'],
    placeOf: (id) => `select seq::text from lodestone.audit where id = ${literal(id)}`,
    ofAccount: auditOfAccount,
  },
};

/** What it concerns, and what was done by it. */
function auditOfAccount(id: string): string {
  return `(account_id = ${literal(id)} or subject = ${literal(id)} or actor = ${literal(`account:${id}`)})`;
}

/** From the first entry of the period to the last, also those in between whose clock was another, so that no number is missing. */
function auditPeriod(fromMs: number | undefined, toMs: number | undefined): string[] {
  const moment = (ms: number) => `to_timestamp(${Math.floor(ms)} / 1000.0)`;
  return [
    ...(fromMs === undefined
      ? []
      : [`a.seq >= (select min(b.seq) from lodestone.audit b where b.created_at >= ${moment(fromMs)})`]),
    ...(toMs === undefined
      ? []
      : [`a.seq <= (select max(b.seq) from lodestone.audit b where b.created_at < ${moment(toMs)})`]),
  ];
}

function same(type: ColumnType, ...names: string[]): Record<string, Column> {
  return Object.fromEntries(names.map((name) => [name, type]));
}

/** Ids are indexed by account, so here the time that they begin with bounds the rows to look at. */
function generationPlace(id: string): string {
  const ms = idTimeMs(id);
  const near = ms === null ? '' : ` and created_ms >= ${ms - clockStepMs} and created_ms < ${ms + requestMaxMs}`;
  return `select account_id, id from lodestone.generations where id = ${literal(id)}${near}`;
}

/** Ids begin with the time, so a period is a part of the index, in some of the partitions. */
function generationsNear(fromMs: number | undefined, toMs: number | undefined): string[] {
  const from = Math.max(0, Math.floor(fromMs ?? 0) - requestMaxMs);
  return [
    ...(fromMs === undefined ? [] : [`id >= ${literal(generationIdsFrom(from))}`]),
    ...(toMs === undefined ? [] : [`id < ${literal(generationIdsFrom(Math.max(0, Math.floor(toMs) + clockStepMs)))}`]),
  ];
}

/** Throws UnknownExportRow before anything is read. */
export async function exportRows(database: Database, query: ExportQuery): Promise<Readable> {
  const { kind, format, accountId, only = {}, fromMs, toMs, after } = query;
  const { columns, rows, order, bill, isIndexed, near, ofAccount = ownRows } = sources[kind];
  const list = Object.entries(columns).map(([name, column]) =>
    typeof column === 'string' ? { name, type: column, sql: name } : { name, type: column[0], sql: column[1] },
  );
  if (accountId !== undefined) await requireAccount(database, accountId);
  const later = after === undefined ? [] : [await comesAfter(database, kind, after)];
  if (kind === 'audit' && format === 'ndjson') {
    const own = accountId === undefined ? [] : [auditOfAccount(accountId)];
    return auditLines(database, [...own, ...auditPeriod(fromMs, toMs), ...later], after === undefined);
  }
  const conditions = [
    ...(accountId === undefined ? [] : [ofAccount(accountId)]),
    ...(fromMs === undefined ? [] : [`moment >= ${Math.floor(fromMs)}`]),
    ...(toMs === undefined ? [] : [`moment < ${Math.floor(toMs)}`]),
    ...(near?.(fromMs, toMs) ?? []),
    ...list.flatMap(({ name, sql }) => {
      const wanted = only[name as keyof typeof only];
      return wanted === undefined ? [] : [`${sql} = ${literal(wanted)}`];
    }),
    ...later,
  ];
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  const read = [...list.map(({ sql }) => sql), ...(bill ? [shownBill] : [])].join(', ');
  const select = `select ${read} from (${rows}) r ${where} order by ${order.join(', ')}`;
  const writer =
    format === 'parquet' ? new ParquetRows(list, bill) : new LineWriter(list, format, bill, after !== undefined);
  const copy = `copy (${select}) to stdout (format binary)`;
  return copyOut(database, isIndexed ? `begin read only; ${inIndexOrder}; ${copy}; commit` : copy, writer);
}

/**
 * The planner counts on a disk that seeks, and would rather read a whole account and sort it on disk: the first line would come after the
 * last row was read.
 */
const inIndexOrder = 'set local enable_sort = off; set local enable_incremental_sort = off';

const ownRows = (id: string) => `account_id = ${literal(id)}`;

async function requireAccount(database: Database, id: string): Promise<void> {
  const { rowCount } = await database.session((client) =>
    client.query('select 1 from lodestone.accounts where id = $1', [id]),
  );
  if (rowCount === 0) throw new UnknownExportRow('account', id);
}

/** The condition that a row comes after the one with this id. */
async function comesAfter(database: Database, kind: ExportKind, id: string): Promise<string> {
  const { order, placeOf } = sources[kind];
  const { rows } = await database.session((client) => client.query<Record<string, string>>(placeOf(id)));
  const [place] = rows;
  if (place === undefined) throw new UnknownExportRow('after', id);
  return `(${order.join(', ')}) > (${Object.values(place).map(literal).join(', ')})`;
}
