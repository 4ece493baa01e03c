/**
 * Fills an empty store with generations for bench/records.mjs, written by PostgreSQL itself: rows in monthly partitions, their rollups, and
 * the balances, as settlements would have left them.
 */
import pg from 'pg';
import { generationIdsFrom } from '../dist/base/ids.js';
import { monthOf, monthStart } from '../dist/base/time.js';
import { figureNames, figureSums, seriesColumns, seriesIdSql } from '../dist/storage/records/usage-columns.js';

const dayMs = 86_400_000;
const part = 250_000;
/** Every account: so many keys, models, and providers for each model. */
export const spread = { accounts: 5, keys: 5, models: 6, providers: 2 };

export async function fill({ connection, store, rows, days, now, log }) {
  const client = new pg.Client(connection);
  await client.connect();
  const from = now - days * dayMs;
  const ids = Array.from({ length: spread.accounts }, (_, i) => `bench-${i}`);
  await movePartitions(client, store, from, now);
  for (const id of ids)
    await store.accounts.create({
      id,
      email: `${id}@example.com`,
      name: null,
      billingCountry: null,
      createdAt: from,
    });
  // The rows have no receipts, so the log is off. Settlements set the other two.
  await client.query(`update lodestone.log_state set active = false;
    set lodestone.rolls_up = 'on'; set synchronous_commit = off; set work_mem = '64MB'; set jit = off`);
  for (let first = 0; first < rows; first += part) {
    await client.query(generations, [from, days * dayMs, rows, first, Math.min(first + part, rows) - 1]);
    if (first > 0 && (first / part) % 10 === 0) log(`  ${first} rows`);
  }
  await client.query('vacuum analyze lodestone.generations');
  await rollUp(client, ids, from, now);
  // As the keeper of the records leaves them.
  while (await store.records.sumHours(now));
  while (await store.records.gatherDay(now));
  await client.query(`update lodestone.accounts a set usage_pico = s.sum, balance_pico = -s.sum from (
    select account_id, sum(cost_pico) as sum from lodestone.usage_rollups r join lodestone.usage_series s on s.id = r.series
    where hours = 24 group by 1) s where s.account_id = a.id`);
  await client.query('vacuum analyze');
  await client.end();
}

/** Writes the rollups of the accounts, day by day. */
export async function rollUp(client, ids, from, now) {
  for (let day = Math.floor(from / dayMs) * dayMs; day < now; day += dayMs)
    await client.query(rollups, [ids, generationIdsFrom(day), generationIdsFrom(day + dayMs)]);
}

/** A store that was there 90 days ago would have a partition for each month since. */
export async function movePartitions(client, store, from, now) {
  const ends = generationIdsFrom(monthStart(monthOf(from)));
  await client.query(`alter table lodestone.generations detach partition lodestone.generations_first;
    alter table lodestone.generations attach partition lodestone.generations_first for values from (minvalue) to ('${ends}');
    update lodestone.records_state set first_partition_ends = '${ends}', days_gathered_before = null`);
  for (let month = monthOf(from); month <= monthOf(now); month++)
    await store.records.ensurePartitions(monthStart(month));
}

/** $1 the first moment, $2 the length of the period, $3 the number of all rows, $4 and $5 the first and the last row. */
const generations = `
insert into lodestone.generations (id, request_id, account_id, key_id, key_name, created_ms, requested_model, served_model, provider, locode,
  streamed, status, prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, cost_pico, billed, latency_ms, first_byte_ms,
  providers_attempted, fallback_occurred, finish_reason, stream_end, usage_source, error_code, attempts, door, bill)
select 'gen-' || tail, 'req-' || tail, account, account || '-key-' || key, 'key ' || key, at, 'auto/meta/llama-' || model,
  case when ok then provider || '/meta/llama-' || model || '/' || region end, case when ok then provider end, case when ok then region end,
  h % 2 = 0, case when ok then 200 else 503 end, case when ok then h % 3000 else 0 end, case when ok then h % 700 else 0 end,
  case when ok and h % 3 = 0 then h % 900 else 0 end, 0, case when ok then 1000 * (h % 3000) + 4000 * (h % 700) + 7 else 0 end, ok,
  200 + h % 9000 + 0.25, case when ok then 50 + h % 900 + 0.5 end, '["' || provider || '"]', false, case when ok then 'stop' end,
  case when ok then 'complete' end, case when ok then 'provider' end, case when not ok then 'upstream_unavailable' end,
  '[{"provider":"' || provider || '","locode":"' || region || '","outcome":"' || case when ok then 'served' else 'error' end
    || '","status":' || case when ok then 200 else 500 end || ',"first_byte_ms":120.25,"error":null}]', 'chat',
  case when ok then '{"lines":[["input",' || h % 3000 || ',"1000"],["output",' || h % 700 || ',"4000"],["request",1,"7"]]}' end
from (
  select *, substr(lodestone.generation_ids_from(at), 5) || lpad(i::text, 16, '0') as tail, 'bench-' || (i % ${spread.accounts}) as account,
    (h / 7) % ${spread.keys} as key, (h / 101) % ${spread.models} as model, (h / 1009) % 25 <> 0 as ok,
    case when (h / 10007) % ${spread.providers} = 0 then 'acme' else 'beta' end as provider,
    case when (h / 10007) % ${spread.providers} = 0 then 'defra' else 'nlams' end as region
  from (
    select i, $1::bigint + i * $2::bigint / $3::bigint as at, (hashint8(i)::bigint + 2147483648) as h
    from generate_series($4::bigint, $5::bigint) i
  ) numbered
) s`;

/** Those of one day. $1 the accounts, $2 and $3 the bounds of the ids. */
const rollups = `
with lines as materialized (
  select ${seriesIdSql(seriesColumns)} as series, * from (
    select ${seriesColumns}, from_hour, ${figureSums} from lodestone.generation_usage
    where account_id = any($1) and id >= $2 and id < $3 group by ${seriesColumns}, from_hour
  ) summed
), named as (
  insert into lodestone.usage_series (id, ${seriesColumns}) select distinct series, ${seriesColumns} from lines on conflict do nothing
)
insert into lodestone.usage_rollups (series, hours, from_hour, ${figureNames})
select series, h.hours, from_hour / h.hours * h.hours, ${figureSums}
from lines cross join (values (1::smallint), (24::smallint)) as h(hours) group by 1, 2, 3`;
