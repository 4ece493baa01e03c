/**
 * Settles a batch: generations, balances, key usage, rollups and leaves of the log in one transaction. Existing records change nothing, so
 * a batch may be repeated.
 */
import pg, { type Connection, type PoolClient, type Submittable } from 'pg';
import { splitLine } from '../../domain/settled-line.js';
import { type JournalOffset, lineColumns, piecesOf, rowId, type SettlementRow } from '../../domain/settlement-row.js';
import { receiptVersion } from '../../proof/receipt.js';
import { SettledLeaves } from '../../proof/settled-leaves.js';
import type { Database } from '../database.js';
import type { LogMembership } from '../log-types.js';
import { UsageSums } from '../records/usage-batch.js';
import { StoreUnavailable } from '../store.js';
import { newBatchNumber } from './log-batches.js';
import { withoutNul } from './tables.js';

const uniqueViolation = '23505';

export async function settle(
  database: Database,
  rows: readonly SettlementRow[],
  offsets: readonly JournalOffset[],
  membership: LogMembership,
): Promise<void> {
  if (rows.length === 0) return;
  try {
    const sums = sumsOf(rows, membership);
    await database.session((client) => settleRows(client, rows, sums, offsets));
  } catch (error) {
    if (codeOf(error) !== uniqueViolation) throw notTheRecordsFault(error);
    // Some records were settled before (a replay after a crash). This is rare, so only now the store is asked which.
    await database.transaction(async (_db, client) => {
      await client.query(lockStatement(new Set(rows.map(({ accountId }) => accountId))));
      const missing = await notYetThere(client, rows);
      if (missing.length > 0) await settleRows(client, missing, sumsOf(missing, membership), offsets);
      else if (offsets.length > 0) await client.query(offsetStatement(offsets));
    });
  }
}

/** Each id once. Exact, because other settlements for these accounts wait for the lock or are already visible. */
async function notYetThere(client: PoolClient, rows: readonly SettlementRow[]): Promise<SettlementRow[]> {
  const missing = new Map(rows.map((row) => [rowId(row), row]));
  const { rows: found } = await client.query<{ id: string }>(
    `select g.id from lodestone.generations g
     join unnest($1::text[], $2::text[]) as sent(account_id, id) on g.account_id = sent.account_id and g.id = sent.id`,
    [rows.map(({ accountId }) => accountId), rows.map(rowId)],
  );
  for (const { id } of found) missing.delete(id);
  return [...missing.values()];
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** A missing table or right is no reason to set a record aside: it is retried when the store has been repaired. */
function notTheRecordsFault(error: unknown): unknown {
  return String(codeOf(error)).startsWith('42') ? new StoreUnavailable(error) : error;
}

/** A record of an account that does not exist: a fault of the record and not of the store. */
export class UnknownAccount extends Error {
  constructor(readonly accountIds: readonly string[]) {
    super(`No such account: ${accountIds.join(', ')}.`);
    this.name = 'UnknownAccount';
  }
}

const copyStatement = `copy lodestone.generations (${lineColumns.join(', ')}) from stdin`;

/**
 * Sends a whole settlement as one message to PostgreSQL: lock the accounts, COPY the rows, add the sums. The server runs
 * the statements of one message as one transaction, so it costs one round trip, and the rows go in as the journal wrote them.
 * A transaction of its own where none is open.
 */
function settleRows(
  client: PoolClient,
  rows: readonly SettlementRow[],
  { usage, log }: BatchSums,
  offsets: readonly JournalOffset[],
): Promise<void> {
  const accounts = new Map<string, bigint>();
  const keys = new Map<string, bigint>();
  for (const { accountId, keyId, chargePico, countedPico } of rows) {
    accounts.set(accountId, (accounts.get(accountId) ?? 0n) + chargePico);
    keys.set(keyId, (keys.get(keyId) ?? 0n) + countedPico);
  }
  const statement = [
    ...[log.before, lockStatement(accounts.keys()), copyStatement],
    ...[chargeStatement(accounts, keys), addUsage(usage), ...log.after],
    ...(offsets.length > 0 ? [offsetStatement(offsets)] : []),
  ].join(';');
  return new Promise((resolve, reject) => {
    const done = (error: Error | null) => (error ? reject(error) : resolve());
    client.query(new SettleQuery(statement, piecesOf(rows), new Set(accounts.keys()), done));
  });
}

/** What a settlement adds to the sums of usage and to the log of receipts. */
interface BatchSums {
  readonly usage: string;
  readonly log: { readonly before: string; readonly after: readonly string[] };
}

function sumsOf(rows: readonly SettlementRow[], membership: LogMembership): BatchSums {
  const identity = membership === null ? null : membership();
  const leaves = identity === null ? null : new SettledLeaves(identity);
  const usage = new UsageSums();
  for (const row of rows) {
    const line = splitLine(row);
    usage.add(line);
    leaves?.add(line);
  }
  return { usage: usage.text(), log: logPart(membership, leaves) };
}

function logPart(membership: LogMembership, leaves: SettledLeaves | null): BatchSums['log'] {
  if (membership === null) return { before: withoutLog, after: [] };
  // The queue takes them, and the sealer knows the log when it reads it.
  if (leaves === null) return { before: batchSetting("''"), after: [] };
  const batch = newBatchNumber(Date.now());
  return { before: batchSetting(`'${batch}'`), after: addLeaves(batch, leaves) };
}

function addUsage(usage: string): string {
  return `select lodestone.add_usage(${pg.escapeLiteral(usage)})`;
}

/** The default of the column reads it. It ends with the transaction. */
function batchSetting(value: string): string {
  return `select set_config('lodestone.log_batch', ${value}, true)`;
}

/** Where another process keeps a log, the queue takes them all the same. */
const withoutLog = `${batchSetting(`case when s.active then '' else '0' end`)} from lodestone.log_state s`;

function addLeaves(batch: bigint, { log, count, hex, bad }: SettledLeaves): string[] {
  const values = `${batch}, ${pg.escapeLiteral(log.origin)}, ${receiptVersion}, ${count}, '\\x${hex}'`;
  const statements = [
    `insert into lodestone.log_batches (batch, origin, version, leaf_count, leaves) values (${values})`,
  ];
  if (bad.length > 0) {
    const pairs = bad.map(({ id, accountId }) => `(${pg.escapeLiteral(id)}, ${pg.escapeLiteral(accountId)})`);
    statements.push(`insert into lodestone.unsealed (id, account_id) values ${pairs.join(',')} on conflict do nothing`);
  }
  return statements;
}

/** Locks in the order of the ids, so that two settlements cannot deadlock. */
function lockStatement(accountIds: Iterable<string>): string {
  return `select * from lodestone.lock_to_settle(${array(accountIds)})`;
}

/** A key may have been deleted meanwhile; its account pays all the same. */
function chargeStatement(accounts: Map<string, bigint>, keys: Map<string, bigint>): string {
  const sums = [accounts.keys(), accounts.values(), keys.keys(), keys.values()].map(array);
  return `select lodestone.charge(${sums.join(', ')})`;
}

/** A settler that was replaced meanwhile must not take an offset back. */
function offsetStatement(offsets: readonly JournalOffset[]): string {
  const values = offsets.map(({ run, position, records }) => `(${pg.escapeLiteral(run)}, ${position}, ${records})`);
  return `insert into lodestone.journal_offsets as o (run, position, records) values ${values.join(',')}
    on conflict (run) do update set position = excluded.position, records = excluded.records, changed_at = now()
    where excluded.position > o.position`;
}

/** As a literal, because a message of several statements takes no parameters. */
function array(values: Iterable<string | bigint>): string {
  let text = '';
  for (const value of values) {
    text += `${text === '' ? '' : ','}"${withoutNul(String(value)).replace(/["\\]/g, '\\$&')}"`;
  }
  return pg.escapeLiteral(`{${text}}`);
}

/** The part of the driver's connection that its published types leave out. */
interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
}

/** Implements what the driver calls on a query while it runs. */
class SettleQuery implements Submittable {
  #fault: Error | null = null;

  constructor(
    private readonly statement: string,
    private readonly pieces: readonly Buffer[],
    /** The accounts that the lock has not returned yet. */
    private readonly unknown: Set<string>,
    /** The driver finds the callback under this name, to end the query at its time limit. */
    public callback: (error: Error | null) => void,
  ) {}

  submit(connection: Connection): void {
    connection.query(this.statement);
  }

  handleRowDescription(): void {}

  handleDataRow({ fields }: { fields: readonly string[] }): void {
    this.unknown.delete(fields[0]!);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    if (this.unknown.size > 0) {
      this.#fault = new UnknownAccount([...this.unknown]);
      connection.sendCopyFail('unknown account');
    } else {
      for (const piece of this.pieces) connection.sendCopyFromChunk(piece);
      connection.endCopyFrom();
    }
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.callback(this.#fault ?? error);
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }
}
