/**
 * Copies every table to another store and compares both sides. Each table is copied in one transaction, and a note in the target says that
 * a move is under way, so a move that was interrupted starts again, and a store with data of its own is never overwritten. A move that is
 * repeated because nobody saw its end finds both sides equal, and changes nothing.
 */
import pg, { type Connection, type PoolClient, type Submittable } from 'pg';
import type { Database } from '../database.js';
import type { MovedTable } from '../store.js';
import { copyOut } from './copy-out.js';

/** A faulty target, such as one that has accounts of its own. */
class MoveRefused extends Error {}

/** Referenced tables come first. What `lodestone_migrations` and `records_state` say is about the store itself. */
const first = ['accounts', 'sign_in_users'];
const ownTables = new Set(['lodestone_migrations', 'records_state', 'move_state']);

export async function moveRecords(source: Database, target: Database): Promise<MovedTable[]> {
  const columns = await columnsOf(source);
  const tables = [...columns.keys()].filter((table) => !ownTables.has(table));
  const ordered = [...first, ...tables.filter((table) => !first.includes(table))];
  const isEmpty = await prepareTarget(target, ordered);
  const moved: MovedTable[] = [];
  for (const table of ordered) {
    const list = columns.get(table)!.join(', ');
    if (isEmpty) await target.transaction((_db, client) => copyInto(client, source, table, list));
    const [there, here] = await Promise.all([digestOf(source, table, list), digestOf(target, table, list)]);
    if (there.digest !== here.digest || there.rows !== here.rows)
      throw new MoveRefused(
        isEmpty
          ? `${table} differs after it was copied: ${there.rows} rows there, ${here.rows} here. Run the move again.`
          : 'The target has accounts already. Move to a database without any.',
      );
    moved.push({ table, rows: here.rows });
  }
  if (!isEmpty) return moved;
  await takeOverState(source, target);
  await target.session((client) => client.query('drop table lodestone.move_state').then(() => {}));
  return moved;
}

async function columnsOf(database: Database): Promise<Map<string, string[]>> {
  const rows = await database.statement<{ name: string; columns: string[] }>(
    'move-columns',
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'lodestone'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition group by 1 order by 1`,
    [],
  );
  return new Map(rows.map(({ name, columns }) => [name, columns.map((column) => pg.escapeIdentifier(column))]));
}

/** Empties a target that a move has begun to fill. Returns false, and changes nothing, where it has accounts and no move is under way. */
async function prepareTarget(target: Database, tables: readonly string[]): Promise<boolean> {
  return target.transaction(async (_db, client) => {
    const { rows } = await client.query<{ moving: boolean; filled: boolean }>(
      `select to_regclass('lodestone.move_state') is not null as moving, exists (select 1 from lodestone.accounts) as filled`,
    );
    const { moving, filled } = rows[0]!;
    if (filled && !moving) return false;
    await client.query('create table if not exists lodestone.move_state (begun_at timestamptz not null default now())');
    await client.query(`truncate ${tables.map((table) => `lodestone.${table}`).join(', ')} cascade`);
    return true;
  });
}

async function copyInto(client: PoolClient, source: Database, table: string, list: string): Promise<void> {
  // Copied rows are in the source's log, or in its queue, which is copied too.
  await client.query(`set local lodestone.moving = 'on'`);
  const lines = copyOut(source, `copy (select ${list} from lodestone.${table}) to stdout`);
  const query = new CopyInQuery(`copy lodestone.${table} (${list}) from stdin`);
  client.query(query);
  const connection = await query.ready;
  try {
    for await (const chunk of lines) {
      connection.sendCopyFromChunk(chunk as Buffer);
      if (connection.stream.writableNeedDrain) await drained(connection.stream);
    }
    connection.endCopyFrom();
  } catch (error) {
    connection.sendCopyFail('the source failed');
    await query.done.catch(() => {});
    throw error;
  }
  await query.done;
}

function drained(stream: CopyConnection['stream']): Promise<void> {
  return new Promise((resolve) => {
    stream.once('drain', resolve);
    stream.once('close', resolve);
  });
}

/** The part of the driver's connection that its published types leave out. */
interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
  stream: { writableNeedDrain: boolean; once(event: string, then: () => void): void };
}

/** Implements what the driver calls on a query while it runs. */
class CopyInQuery implements Submittable {
  readonly ready: Promise<CopyConnection>;
  readonly done: Promise<void>;
  #begin!: (connection: CopyConnection) => void;
  /** The driver finds the callback under this name, and stops the timer of its time limit when it is called. */
  callback!: (error: Error | null) => void;

  constructor(private readonly statement: string) {
    this.done = new Promise((resolve, reject) => {
      this.callback = (error) => (error ? reject(error) : resolve());
    });
    this.ready = new Promise((resolve, reject) => {
      this.#begin = resolve;
      this.done.catch(reject);
    });
  }

  submit(connection: Connection): void {
    connection.query(this.statement);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    this.#begin(connection);
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }
}

/** Of all values of all rows, in any order. */
async function digestOf(
  database: Database,
  table: string,
  list: string,
): Promise<{ rows: number; digest: string | null }> {
  return database.session(async (client) => {
    await client.query(`set timezone = 'UTC'`);
    const { rows } = await client.query<{ rows: number; digest: string | null }>(
      `select count(*) as rows, sum(hashtextextended(row(${list})::text, 0)::numeric)::text as digest from lodestone.${table}`,
    );
    return rows[0]!;
  });
}

async function takeOverState(source: Database, target: Database): Promise<void> {
  const [state] = await source.statement<
    Record<'backfill' | 'refused' | 'pruned' | 'gathered' | 'summed', number | null>
  >(
    'move-state',
    `select backfill_before_ms as backfill, refused_before_ms as refused, pruned_before_ms as pruned, days_gathered_before as gathered,
       sums_before as summed from lodestone.records_state`,
    [],
  );
  const sequences = await source.statement<{ name: string; last: number }>(
    'move-sequences',
    `select quote_ident(sequencename) as name, last_value as last from pg_sequences where schemaname = 'lodestone' and last_value is not null`,
    [],
  );
  const { backfill, refused, pruned, gathered, summed } = state!;
  await target.transaction(async (_db, client) => {
    await client.query(
      `update lodestone.records_state set backfill_before_ms = $1, refused_before_ms = $2, pruned_before_ms = $3,
         days_gathered_before = $4, sums_before = $5`,
      [backfill, refused, pruned, gathered, summed],
    );
    for (const { name, last } of sequences) await client.query(`select setval($1, $2)`, [`lodestone.${name}`, last]);
    if (refused === null) return;
    await client.query(
      `alter table lodestone.generations add constraint generations_pruned check (created_ms >= ${refused}) not valid`,
    );
  });
}
