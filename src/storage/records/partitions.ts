/** Creates the monthly partitions of the generations ahead of time. */
import type { PoolClient } from 'pg';
import { generationIdsFrom } from '../../base/ids.js';
import { monthOf, monthStart } from '../../base/time.js';
import type { Database } from '../database.js';
import { lockNumbers } from '../lock-numbers.js';

/** This month and the months after it. */
const monthsAhead = 2;
/** Settlements wait behind a statement that waits for the table, so it gives up soon. The next round tries again. */
const tableWaitMs = 1_000;

/** Makes the partitions that are missing. Rows that came before theirs are in `generations_other`, and move into it. */
export async function ensurePartitions(database: Database, nowMs: number): Promise<string[]> {
  const month = monthOf(nowMs);
  const wanted = Array.from({ length: monthsAhead + 1 }, (_, i) => month + i);
  return database.transaction(async (_db, client) => {
    const known = await client.query<{ name: string }>(
      `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = 'lodestone.generations'::regclass`,
    );
    const names = new Set(known.rows.map(({ name }) => name));
    const missing = wanted.filter((candidate) => !names.has(partitionName(candidate)));
    if (missing.length === 0) return [];
    await client.query(`set local lock_timeout = ${tableWaitMs}`);
    await client.query('select pg_advisory_xact_lock($1)', [lockNumbers.partitions]);
    const state = await client.query<{ ends: string }>(
      'select first_partition_ends as ends from lodestone.records_state',
    );
    const made: string[] = [];
    for (const candidate of missing) {
      if (await createPartition(client, candidate, state.rows[0]!.ends)) made.push(partitionName(candidate));
    }
    return made;
  });
}

export const partitionName = (month: number): string =>
  `generations_${new Date(monthStart(month)).toISOString().slice(0, 7).replace('-', '_')}`;

/** False where another process has made it, or where the first partition reaches beyond the month. */
async function createPartition(client: PoolClient, month: number, firstEnds: string): Promise<boolean> {
  const name = `lodestone.${partitionName(month)}`;
  const there = await client.query<{ there: boolean }>('select to_regclass($1) is not null as there', [name]);
  const [monthFrom, to] = [generationIdsFrom(monthStart(month)), generationIdsFrom(monthStart(month + 1))];
  const from = monthFrom < firstEnds ? firstEnds : monthFrom;
  if (there.rows[0]?.there || from >= to) return false;
  await client.query(`create table ${name} (like lodestone.generations including all)`);
  await client.query(
    `with moved as (delete from lodestone.generations_other where id >= $1 and id < $2 returning *)
     insert into ${name} select * from moved`,
    [from, to],
  );
  const bounds = `from (${client.escapeLiteral(from)}) to (${client.escapeLiteral(to)})`;
  await client.query(`alter table lodestone.generations attach partition ${name} for values ${bounds}`);
  return true;
}
