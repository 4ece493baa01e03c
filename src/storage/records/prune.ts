/**
 * Replaces the generations of old months by one ledger entry for each account and month. Balances do not change, because the entry
 * is the sum of the entries that go, and both happen in one transaction. The rollups stay.
 */
import type { PoolClient } from 'pg';
import { generationIdsFrom, timeOrderedId } from '../../base/ids.js';
import { monthOf, monthStart } from '../../base/time.js';
import type { Database } from '../database.js';
import type { PrunableMonth } from '../store.js';
import { firstBatchFrom } from '../stores/log-batches.js';
import { backfillBefore, rollUpLate, sliceTimeoutMs } from './backfill.js';
import { partitionName } from './partitions.js';

const hourMs = 3_600_000;
const tableWaitMs = 2_000;
const attemptsMax = 30;
const lockNotAvailable = '55P03';
const notSealed = 'Generations of this month are not in the log of receipts yet.';

/** From the rollups, so nothing is listed before all generations are in them. */
export async function prunableMonths(database: Database, beforeMs: number): Promise<PrunableMonth[]> {
  await rollUpLate(database, sliceTimeoutMs);
  if ((await backfillBefore(database)) !== null) return [];
  const end = monthStart(monthOf(beforeMs));
  const waits = await oldestUnsealed(database, end);
  const rows = await database.statement<PrunableMonth>(
    'prunable-months',
    `select date_trunc('month', to_timestamp(r.from_hour::bigint * 3600), 'UTC') as "monthMs",
       count(distinct s.account_id) as accounts, sum(r.requests)::bigint as requests
     from lodestone.usage_rollups r join lodestone.usage_series s on s.id = r.series
     where r.hours = 24 and r.from_hour < $1 group by 1
     having not exists (select 1 from lodestone.pruned_months p
       where p.month_ms = extract(epoch from date_trunc('month', to_timestamp(min(r.from_hour)::bigint * 3600), 'UTC'))::bigint * 1000)
     order by 1`,
    [end / hourMs],
  );
  return rows.filter(({ monthMs }) => waits === null || generationIdsFrom(monthStart(monthOf(monthMs) + 1)) <= waits);
}

/** The oldest generation before `endMs` that waits for the log, in the queue or in a batch; null where none does. It is not removed before. */
async function oldestUnsealed(database: Database, endMs: number): Promise<string | null> {
  const [state] = await database.statement<{ old: boolean; oldest: string | null }>(
    'prune-unsealed',
    `select coalesce((select s.old_before_ms is not null or s.again_at is not null from lodestone.log_state s where s.active), false) as old,
       least(
         (select u.id from lodestone.unsealed u
          where u.set_aside is null and (select s.active from lodestone.log_state s) order by u.id, u.account_id limit 1),
         (select min(g.id) from lodestone.generations g where g.id < $1
          and g.log_batch in (select b.batch from lodestone.log_batches b where b.first_leaf is null))
       ) as oldest`,
    [generationIdsFrom(endMs)],
  );
  return state?.old ? '' : (state?.oldest ?? null);
}

export async function pruneMonth(database: Database, { monthMs, accounts, requests }: PrunableMonth): Promise<void> {
  const month = monthOf(monthMs);
  const endMs = monthStart(month + 1);
  await patiently(() => database.transaction((_db, client) => refuseBefore(client, endMs)));
  await patiently(() =>
    database.transaction(async (_db, client) => {
      await client.query(`set local lock_timeout = ${tableWaitMs}`);
      const taken = await client.query(
        'insert into lodestone.pruned_months values ($1, $2, $3) on conflict do nothing',
        [...[monthMs, accounts, requests]],
      );
      // Another process has pruned it.
      if (taken.rowCount === 0) return;
      await pruneLog(client, monthMs, endMs);
      const whole = await isWholePartition(client, month, monthMs, endMs);
      const source = whole
        ? `select account_id, billed, cost_pico from lodestone.${partitionName(month)}`
        : 'delete from lodestone.generations where created_ms >= $4 and created_ms < $5 returning account_id, billed, cost_pico';
      await client.query(statementsFrom(source), [
        `gen-${timeOrderedId(endMs - 1).slice(0, 10)}`,
        new Date(endMs - 1).toISOString(),
        new Date(monthMs).toLocaleString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' }),
        ...(whole ? [] : [monthMs, endMs]),
      ]);
      if (whole) await client.query(`drop table lodestone.${partitionName(month)}`);
      await pruneBatches(client, endMs);
      await client.query('update lodestone.records_state set pruned_before_ms = greatest(pruned_before_ms, $1)', [
        endMs,
      ]);
    }),
  );
}

/** The tree keeps its hashes, so a receipt that its owner has kept can still be checked. */
async function pruneLog(client: PoolClient, fromMs: number, toMs: number): Promise<void> {
  const range = [generationIdsFrom(fromMs), generationIdsFrom(toMs)];
  const waiting = await client.query(
    `select 1 from lodestone.unsealed u where u.id >= $1 and u.id < $2 and u.set_aside is null
       and (select s.active from lodestone.log_state s) limit 1`,
    range,
  );
  if (waiting.rowCount !== 0) throw new Error(notSealed);
  const unsealed = await client.query(
    `select 1 from lodestone.log_batches b join lodestone.generations g on g.log_batch = b.batch
     where b.first_leaf is null and g.id >= $1 and g.id < $2 limit 1`,
    range,
  );
  if (unsealed.rowCount !== 0) throw new Error(notSealed);
  await client.query('delete from lodestone.unsealed where id >= $1 and id < $2', range);
  await client.query('delete from lodestone.receipts where id >= $1 and id < $2', range);
}

/** Batches from before the end of a month are of no use once all earlier generations are gone. */
async function pruneBatches(client: PoolClient, endMs: number): Promise<void> {
  await client.query(
    `delete from lodestone.log_batches where batch < $1 and first_leaf is not null
       and not exists (select 1 from lodestone.generations where created_ms < $2)`,
    [String(firstBatchFrom(endMs)), endMs],
  );
}

/**
 * A generation of that time that comes later, out of an old journal, may be one that was pruned. The constraint refuses it, in every
 * version, and the journal sets it aside instead of billing it twice.
 */
async function refuseBefore(client: PoolClient, endMs: number): Promise<void> {
  const state = await client.query<{ refused: boolean }>(
    'select coalesce(refused_before_ms, 0) >= $1 as refused from lodestone.records_state for update',
    [endMs],
  );
  if (state.rows[0]?.refused) return;
  await client.query(`set local lock_timeout = ${tableWaitMs}`);
  await client.query('alter table lodestone.generations drop constraint if exists generations_pruned');
  await client.query(
    `alter table lodestone.generations add constraint generations_pruned check (created_ms >= ${endMs}) not valid`,
  );
  await client.query('update lodestone.records_state set refused_before_ms = $1', [endMs]);
}

/** A partition goes as a whole, unless it holds rows of another time, which only a person can have written. */
async function isWholePartition(client: PoolClient, month: number, fromMs: number, toMs: number): Promise<boolean> {
  const name = `lodestone.${partitionName(month)}`;
  const there = await client.query<{ there: boolean }>('select to_regclass($1) is not null as there', [name]);
  if (!there.rows[0]?.there) return false;
  const others = await client.query<{ any: boolean }>(
    `select exists (select 1 from ${name} where created_ms < $1 or created_ms >= $2)
       or exists (select 1 from lodestone.generations g where created_ms >= $1 and created_ms < $2 and g.tableoid <> $3::regclass) as any`,
    [fromMs, toMs, name],
  );
  return others.rows[0]?.any === false;
}

/**
 * Counts every request of the month, as the rollups do; only billed ones cost. $1 is the time as an id, so that the entry stands after all
 * others of its month.
 */
function statementsFrom(source: string): string {
  return `with gone as (${source}), sums as (
      select account_id, count(*) as requests, coalesce(-sum(cost_pico) filter (where billed), 0) as amount from gone group by account_id
    ), placed as (
      select *, $1::text || lpad(nextval('lodestone.ledger_posts_seq')::text, 16, '0') as position from sums
    )
    insert into lodestone.ledger_posts (id, position, account_id, created_at, kind, amount_pico, note)
    select 'led' || substr(position, 4), position, account_id, $2::timestamptz, 'statement', amount,
      'usage of ' || $3::text || ', ' || trim(to_char(requests, '999,999,999,999')) || case requests when 1 then ' request' else ' requests' end
    from placed`;
}

async function patiently(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const { code } = ((error as Error).cause ?? error) as { code?: unknown };
      if (code !== lockNotAvailable || attempt >= attemptsMax) throw error;
    }
  }
}
