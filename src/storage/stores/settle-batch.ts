/**
 * The settlement of a batch: generations, balances and key usage in one transaction. What is already there changes nothing,
 * so a batch may be repeated for ever (ruling 16).
 */
import type { PoolClient } from 'pg';
import { rowId, type SettlementRow } from '../../domain/settlement-row.js';
import type { Database } from '../database.js';
import { StoreUnavailable } from '../store.js';
import { lockStatement, settleRows } from './settle-query.js';

const uniqueViolation = '23505';

export async function settle(database: Database, rows: readonly SettlementRow[]): Promise<void> {
  if (rows.length === 0) return;
  try {
    await database.session((client) => settleRows(client, rows));
  } catch (error) {
    if (codeOf(error) !== uniqueViolation) throw notTheRecordsFault(error);
    // Some were settled before (a replay after a crash). Rare, so only now is it asked which.
    await database.transaction(async (_db, client) => {
      await client.query(lockStatement(new Set(rows.map(({ accountId }) => accountId))));
      const missing = await notYetThere(client, rows);
      if (missing.length > 0) await settleRows(client, missing);
    });
  }
}

/** Each id once. Exact, because whoever else settles for these accounts waits for their lock, or is visible by now. */
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

/** A missing table or right is nothing that a record could be set aside for: it is tried again when the store is mended. */
function notTheRecordsFault(error: unknown): unknown {
  return String(codeOf(error)).startsWith('42') ? new StoreUnavailable(error) : error;
}
