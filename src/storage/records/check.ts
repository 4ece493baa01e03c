/**
 * Compares balances, ledger, rollups, their sums, generations, the audit log and the log of receipts with one another, in one snapshot, and
 * names what does not agree.
 */
import type { PoolClient } from 'pg';
import { leafHash } from '../../proof/merkle.js';
import { type LogIdentity, receiptText } from '../../proof/receipt.js';
import { hashesIn, tileWidth } from '../../proof/tiles.js';
import type { Database } from '../database.js';
import type { CheckResult, StorageFault } from '../store.js';
import { type GenerationRow, receiptColumns, sourceOf } from '../stores/receipt-source.js';
import { backfillBefore, rollUpLate, sliceTimeoutMs } from './backfill.js';
import { auditFaults, missingEntries } from './check-audit.js';
import { type SumKind, sumLengths } from './sums.js';

/** What a kind of sum is compared by, in the words of the series. */
const sumPlace: Record<SumKind, string> = {
  account_steps: 's.account_id',
  account_routes: `s.account_id || ' route ' || coalesce(s.served_model, 'none')`,
  account_keys: `s.account_id || ' key ' || s.key_id`,
  all_steps: `'all accounts'`,
  all_routes: `'all accounts, route ' || coalesce(s.served_model, 'none')`,
};

const figures = `row(sum(requests), sum(cost_pico), sum(prompt_tokens), sum(completion_tokens), sum(cached_tokens), sum(first_byte_histogram))`;

function sumComparison(kind: SumKind, hours: number): { what: string; sql: string } {
  return {
    what: `sums of ${hours} hours and rollups (${kind.replace('_', ' ')})`,
    sql: `select place || ' hour ' || from_hour as place, r.figures::text as expected, u.figures::text as found
      from (
        select ${sumPlace[kind]} as place, r.from_hour / ${hours} * ${hours} as from_hour, ${figures} as figures
        from lodestone.usage_rollups r join lodestone.usage_series s on s.id = r.series
        where r.hours = 1 and r.from_hour < (select sums_before from lodestone.records_state) group by 1, 2
      ) r full join (
        select ${sumPlace[kind]} as place, u.from_hour, ${figures} as figures
        from lodestone.usage_sums u join lodestone.usage_sum_series s on s.id = u.series
        where u.kind = '${kind}' and u.hours = ${hours} group by 1, 2
      ) u using (place, from_hour)
      where r.figures is distinct from u.figures`,
  };
}

const sumComparisons = Object.keys(sumPlace).flatMap((kind) =>
  sumLengths.map((hours) => sumComparison(kind as SumKind, hours)),
);

/** Each query answers with the rows that do not agree: `place`, `expected` and `found`. */
const comparisons: readonly { what: string; sql: string }[] = [
  {
    what: 'balance',
    sql: `select a.id as place, coalesce(l.sum, 0)::text as expected, a.balance_pico::text as found
      from lodestone.accounts a
      left join (select account_id, sum(amount_pico) as sum from lodestone.ledger group by 1) l on l.account_id = a.id
      where a.balance_pico <> coalesce(l.sum, 0)`,
  },
  {
    what: 'usage of the account',
    sql: `select a.id as place, coalesce(u.sum, 0)::text as expected, a.usage_pico::text as found
      from lodestone.accounts a left join (
        select s.account_id, sum(r.cost_pico) as sum from lodestone.usage_rollups r join lodestone.usage_series s on s.id = r.series
        where r.hours = 24 group by 1
      ) u on u.account_id = a.id where a.usage_pico <> coalesce(u.sum, 0)`,
  },
  {
    what: 'usage of the key',
    sql: `select k.account_id || ' ' || k.id as place, (coalesce(u.sum, 0) + coalesce(o.sum, 0))::text as expected, k.usage_pico::text as found
      from lodestone.keys k left join (
        select s.key_id, sum(r.cost_pico) as sum from lodestone.usage_rollups r join lodestone.usage_series s on s.id = r.series
        where r.hours = 24 group by 1
      ) u on u.key_id = k.id left join (
        select key_id, sum(extra_pico) as sum from lodestone.own_spending group by 1
      ) o on o.key_id = k.id where k.usage_pico <> coalesce(u.sum, 0) + coalesce(o.sum, 0)`,
  },
  {
    what: 'days of projects and rollups',
    sql: `select account_id || ' day ' || day as place, coalesce(u.sum, 0)::text as expected, coalesce(d.sum, 0)::text as found
      from (select account_id, day, sum(spent_pico) as sum from lodestone.project_days group by 1, 2) d full join (
        select account_id, day, sum(spent) as sum from (
          select s.account_id, r.from_hour / 24 as day, r.cost_pico as spent
          from lodestone.usage_rollups r join lodestone.usage_series s on s.id = r.series where r.hours = 24
          union all select account_id, day, extra_pico from lodestone.own_spending
        ) counted group by 1, 2
      ) u using (account_id, day) where coalesce(u.sum, 0) <> coalesce(d.sum, 0)`,
  },
  {
    what: 'what budgets count beyond the fees of own credentials',
    sql: `select account_id || ' day ' || day as place, coalesce(g.sum, 0)::text as expected, coalesce(o.sum, 0)::text as found
      from (select account_id, day, sum(extra_pico) as sum from lodestone.own_spending group by 1, 2) o full join (
        select account_id, floor(created_ms / 86400000.0)::integer as day, sum(counted_pico - cost_pico) as sum
        from lodestone.generations where counted_pico is not null and billed group by 1, 2
      ) g using (account_id, day)
      where coalesce(g.sum, 0) <> coalesce(o.sum, 0) and not exists (select 1 from lodestone.pruned_months)`,
  },
  {
    what: 'rollups by hour and by day',
    sql: `select series::text || ' day ' || day as place, hours::text as expected, days::text as found from (
        select series, from_hour / 24 as day,
          row(sum(requests) filter (where hours = 1), sum(cost_pico) filter (where hours = 1),
            sum(prompt_tokens + completion_tokens) filter (where hours = 1)) as hours,
          row(sum(requests) filter (where hours = 24), sum(cost_pico) filter (where hours = 24),
            sum(prompt_tokens + completion_tokens) filter (where hours = 24)) as days
        from lodestone.usage_rollups group by 1, 2
      ) sums where hours is distinct from days`,
  },
  {
    what: 'rollups and generations (requests, cost in pico-dollars, tokens)',
    sql: `select account_id || ' hour ' || to_char(to_timestamp(from_hour::bigint * 3600) at time zone 'UTC', 'YYYY-MM-DD"T"HH24') as place,
        g.figures::text as expected, r.figures::text as found
      from (
        select account_id, floor(created_ms / 3600000.0)::integer as from_hour,
          row(count(*), sum(case when billed then cost_pico else 0 end), sum(prompt_tokens), sum(completion_tokens),
            sum(cached_tokens), sum(reasoning_tokens)) as figures
        from lodestone.generations group by 1, 2
      ) g full join (
        select s.account_id, r.from_hour, row(sum(requests)::bigint, sum(cost_pico), sum(prompt_tokens), sum(completion_tokens),
          sum(cached_tokens), sum(reasoning_tokens)) as figures
        from lodestone.usage_rollups r join lodestone.usage_series s on s.id = r.series
        where r.hours = 1 and not exists (select 1 from lodestone.pruned_months p
          where p.month_ms = extract(epoch from date_trunc('month', to_timestamp(r.from_hour::bigint * 3600), 'UTC'))::bigint * 1000)
        group by 1, 2
      ) r using (account_id, from_hour)
      where g.figures is distinct from r.figures`,
  },
  ...sumComparisons,
  missingEntries,
  {
    what: 'receipt and its leaf in the log',
    sql: `select r.id as place, encode(t.leaf, 'base64') as expected, encode(r.leaf, 'base64') as found from (
        select id, leaf_index, sha256('\\x00'::bytea || convert_to(receipt, 'UTF8')) as leaf from lodestone.receipts
      ) r left join lateral (
        select substr(hashes, (r.leaf_index % 256 * 32 + 1)::integer, 32) as leaf from lodestone.log_tiles
        where level = 0 and tile = r.leaf_index / 256
      ) t on true where r.leaf is distinct from t.leaf`,
  },
  {
    what: 'size of the log',
    sql: `select s.origin as place, s.size::text as expected, t.leaves::text as found from lodestone.log_state s, (
        select coalesce(sum(octet_length(hashes)), 0) / 32 as leaves from lodestone.log_tiles where level = 0
      ) t where s.size <> t.leaves`,
  },
  {
    what: 'leaves of a settlement and its generations',
    sql: `select b.batch::text as place, count(g.id)::text as expected, b.leaf_count::text as found
      from lodestone.log_batches b left join lodestone.generations g on g.log_batch = b.batch
        and not exists (select 1 from lodestone.receipts r where r.id = g.id and r.account_id = g.account_id)
        and not exists (select 1 from lodestone.unsealed u where u.id = g.id and u.account_id = g.account_id)
      where not exists (select 1 from lodestone.pruned_months)
      group by b.batch, b.leaf_count having count(g.id) <> b.leaf_count`,
  },
  {
    what: 'generation in the log',
    sql: `select g.id as place, 'a receipt, or waiting for one' as expected, null::text as found from lodestone.generations g
      where (select s.active and s.old_before_ms is null and s.again_at is null from lodestone.log_state s)
        and not exists (select 1 from lodestone.log_batches b where b.batch = g.log_batch)
        and not exists (select 1 from lodestone.receipts r where r.id = g.id and r.account_id = g.account_id)
        and not exists (select 1 from lodestone.unsealed u where u.id = g.id and u.account_id = g.account_id)`,
  },
];

/** A store with one fault may have thousands of the same kind. */
const faultsMax = 100;

export async function checkStorage(database: Database): Promise<CheckResult> {
  while ((await rollUpLate(database, sliceTimeoutMs)).added > 0);
  if ((await backfillBefore(database)) !== null) {
    const found = 'not all of them are in the rollups yet; try again in a few minutes';
    return {
      accounts: 0,
      generations: 0,
      faults: [{ what: 'earlier generations', where: 'store', expected: 'in the rollups', found }],
    };
  }
  return database.session(async (client) => {
    await client.query('begin isolation level repeatable read read only');
    const faults: StorageFault[] = [];
    for (const { what, sql } of comparisons) {
      const { rows } = await client.query<{ place: string; expected: string | null; found: string | null }>(
        `${sql} order by 1 limit ${faultsMax}`,
      );
      faults.push(
        ...rows.map(({ place, expected, found }) => ({
          what,
          where: place,
          expected: expected ?? 'none',
          found: found ?? 'none',
        })),
      );
    }
    faults.push(...(await batchFaults(client, faultsMax)), ...(await auditFaults(client, faultsMax)));
    const counted = await client.query<{ accounts: number; generations: number }>(
      'select (select count(*) from lodestone.accounts) as accounts, (select count(*) from lodestone.generations) as generations',
    );
    await client.query('commit');
    return { ...counted.rows[0]!, faults };
  });
}

/** Read from a cursor, because a store may have any number of them. */
const rowsAtOnce = 2_000;

interface BatchedRow extends GenerationRow {
  version: number;
  firstLeaf: number;
  leafCount: number;
}

/**
 * Makes the receipts of all generations again whose leaves came with their settlement, and looks for them in the log. Inside of the
 * transaction that the other checks are in.
 */
async function batchFaults(client: PoolClient, most: number): Promise<StorageFault[]> {
  const { rows: states } = await client.query<LogIdentity>('select origin, salt from lodestone.log_state');
  const log = states[0]!;
  const faults: StorageFault[] = [];
  await client.query(`declare batched no scroll cursor for
    select ${receiptColumns}, b.version, b.first_leaf as "firstLeaf", b.leaf_count as "leafCount" from lodestone.log_batches b
    join lodestone.generations g on g.log_batch = b.batch
    where b.first_leaf is not null
      and not exists (select 1 from lodestone.receipts r where r.id = g.id and r.account_id = g.account_id)
      and not exists (select 1 from lodestone.unsealed u where u.id = g.id and u.account_id = g.account_id)
    order by b.first_leaf`);
  let known = { from: -1, leaves: new Set<string>() };
  while (faults.length < most) {
    const { rows } = await client.query<BatchedRow>(`fetch ${rowsAtOnce} from batched`);
    if (rows.length === 0) break;
    for (const row of rows) {
      const { firstLeaf: from, leafCount } = row;
      if (from !== known.from) known = { from, leaves: await leavesBetween(client, from, from + leafCount) };
      const leaf = leafText(row, log);
      if (known.leaves.has(leaf)) continue;
      const place = `among ${leafCount} leaves from ${from} on`;
      faults.push({ what: 'generation and its leaf in the log', where: row.id, expected: place, found: leaf });
    }
  }
  await client.query('close batched');
  return faults.slice(0, most);
}

function leafText(row: BatchedRow, log: LogIdentity): string {
  try {
    return leafHash(receiptText(sourceOf(row), log, row.version)).toString('base64');
  } catch (error) {
    return String(error);
  }
}

async function leavesBetween(client: PoolClient, from: number, to: number): Promise<Set<string>> {
  const { rows } = await client.query<{ tile: number; hashes: Buffer }>(
    'select tile, hashes from lodestone.log_tiles where level = 0 and tile >= $1 and tile <= $2',
    [Math.floor(from / tileWidth), Math.floor((to - 1) / tileWidth)],
  );
  const leaves = new Set<string>();
  for (const { tile, hashes } of rows) {
    for (const [i, hash] of hashesIn(hashes).entries()) {
      const place = tile * tileWidth + i;
      if (place >= from && place < to) leaves.add(hash.toString('base64'));
    }
  }
  return leaves;
}
