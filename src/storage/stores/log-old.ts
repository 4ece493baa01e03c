/** Finds the generations that are neither in the log nor in its queue: those of before an upgrade, and of a time without the log. */
import type { PoolClient } from 'pg';
import type { Database } from '../database.js';
import { lockNumbers } from '../lock-numbers.js';
import type { LogStore } from '../log-types.js';

/** So many are queued at once, so that neither the statement nor the queue grows with the history. */
const rowsMax = 4_000;
const hourMs = 3_600_000;
const sliceMaxMs = 2_400 * hourMs;
/** How far back the newest are looked at once more. */
const againMs = 6 * hourMs;
const timeoutMs = 120_000;

interface Scan {
  before: number | null;
  until: number | null;
  due: boolean;
  oldest: number | null;
}

/** The length of a slice of time follows from how many generations the last one had. */
export function oldQueue(database: Database): LogStore['queueOld'] {
  let sliceMs = hourMs;
  return (nowMs) =>
    database.transaction(async (_db, client) => {
      // One process at a time looks.
      const lock = await client.query<{ mine: boolean }>('select pg_try_advisory_xact_lock($1) as mine', [
        lockNumbers.oldGenerations,
      ]);
      if (!lock.rows[0]?.mine) return;
      const scan = await readScan(client);
      if (scan.before === null) {
        if (scan.due) await lookAgain(client, nowMs);
        return;
      }
      const before = Math.min(scan.before, nowMs + sliceMs);
      const from = before - sliceMs;
      const isLast = scan.until === null ? scan.oldest === null || from <= scan.oldest - hourMs : from <= scan.until;
      const range = [isLast && scan.until === null ? Number.MIN_SAFE_INTEGER : from, scan.before];
      const queued = await queueSlice(client, range);
      if (queued >= rowsMax) {
        // The rest of this slice, in smaller ones.
        sliceMs = Math.ceil(sliceMs / 4);
        return;
      }
      if (queued < rowsMax / 4) sliceMs = Math.min(sliceMs * 2, sliceMaxMs);
      // Last, because sealers wait for this row. A process that was switched on in between has put it back to the newest.
      await client.query(
        `update lodestone.log_state set old_before_ms = $1::bigint, old_from_ms = case when $1::bigint is null then null else old_from_ms end
         where old_before_ms = $2`,
        [isLast ? null : from, scan.before],
      );
    });
}

/** No generation is older than the oldest account. */
async function readScan(client: PoolClient): Promise<Scan> {
  const { rows } = await client.query<Scan>(
    `select old_before_ms as before, old_from_ms as until, coalesce(again_at <= now(), false) as due,
       (select floor(extract(epoch from min(created_at)) * 1000)::bigint from lodestone.accounts) as oldest
     from lodestone.log_state`,
  );
  return rows[0]!;
}

async function lookAgain(client: PoolClient, nowMs: number): Promise<void> {
  await client.query(
    `update lodestone.log_state set old_before_ms = ${Number.MAX_SAFE_INTEGER}, old_from_ms = $1, again_at = null
     where old_before_ms is null and again_at <= now()`,
    [nowMs - againMs],
  );
}

async function queueSlice(client: PoolClient, range: readonly unknown[]): Promise<number> {
  const query = {
    text: `with found as (
        select g.id, g.account_id from lodestone.generations g where g.created_ms >= $1 and g.created_ms < $2 and coalesce(g.log_batch, 0) = 0
          and not exists (select 1 from lodestone.receipts r where r.id = g.id and r.account_id = g.account_id)
          and not exists (select 1 from lodestone.unsealed u where u.id = g.id and u.account_id = g.account_id)
        limit ${rowsMax}
      ), queued as (
        insert into lodestone.unsealed (id, account_id) select id, account_id from found on conflict do nothing
      ) select count(*)::int as count from found`,
    values: [...range],
    query_timeout: timeoutMs,
  };
  return (await client.query<{ count: number }>(query)).rows[0]!.count;
}
