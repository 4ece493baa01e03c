/**
 * Fills the store of bench/dashboard.mjs by SQL: generations of many accounts on the routes of the built-in catalogue, their rollups, and
 * the balances and the spend of keys, as settlements would have left them. A few keys and accounts have most of the requests.
 */
import pg from 'pg';
import { movePartitions, rollUp } from './records-fill.mjs';

const dayMs = 86_400_000;
const part = 100_000;
/** Every model is served by so many routes. */
const routesMax = 3;

export async function fillDashboard({ connection, ...work }) {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    await write(client, work);
  } finally {
    await client.end();
  }
}

async function write(client, { store, rows, days, now, accounts, keys, routes, log }) {
  const from = now - days * dayMs;
  await movePartitions(client, store, from, now);
  // The rows have no receipts, so the log is off. Settlements set the other two.
  await client.query(`update lodestone.log_state set active = false;
    set lodestone.rolls_up = 'on'; set synchronous_commit = off; set work_mem = '64MB'; set jit = off`);
  const lists = [accounts, keys.map(({ id }) => id), keys.map(({ name }) => name), ...routeLists(routes)];
  for (let first = 0; first < rows; first += part) {
    const last = Math.min(first + part, rows) - 1;
    await client.query(generations, [from, days * dayMs, rows, first, last, ...lists]);
    log(`  ${last + 1} rows`);
  }
  await client.query('vacuum analyze lodestone.generations');
  await rollUp(client, accounts, from, now);
  await client.query(`update lodestone.accounts a set usage_pico = s.sum, balance_pico = balance_pico - s.sum from (
    select account_id, sum(cost_pico) as sum from lodestone.generations group by 1) s where s.account_id = a.id`);
  await client.query(`update lodestone.keys k set usage_pico = s.sum, last_used_at = to_timestamp(s.at / 1000.0) from (
    select key_id, sum(cost_pico) as sum, max(created_ms) as at from lodestone.generations group by 1) s where s.key_id = k.id`);
  // As the keeper of the records leaves them.
  while (await store.records.sumHours(now));
  while (await store.records.gatherDay(now));
  // The receipts of later requests are sealed again.
  await client.query('update lodestone.log_state set active = true');
  await client.query('vacuum analyze');
}

/** The routes of each model, repeated up to `routesMax`, as lists by the same index. */
function routeLists(routes) {
  const byModel = new Map();
  for (const route of routes) {
    const model = route.id.split('/').slice(1, 3).join('/');
    byModel.set(model, [...(byModel.get(model) ?? []), route]);
  }
  const all = [...byModel.values()].flatMap((some) =>
    Array.from({ length: routesMax }, (_, i) => some[i % some.length].id.split('/')),
  );
  return [
    all.map(([, creator, model]) => `auto/${creator}/${model}`),
    all.map((parts) => parts.join('/')),
    all.map(([provider]) => provider),
    all.map(([, , , locode]) => locode),
  ];
}

/**
 * $1 the first moment, $2 the length of the period, $3 the number of all rows, $4 and $5 the first and the last row; $6 accounts, $7 and $8
 * the keys of the first one, $9 to $12 model, route, provider and region. `offset 0` keeps PostgreSQL from computing a value again for each use.
 */
const generations = `
insert into lodestone.generations (id, request_id, account_id, key_id, key_name, created_ms, requested_model, served_model, provider, locode,
  streamed, status, prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, cost_pico, billed, latency_ms, first_byte_ms,
  providers_attempted, fallback_occurred, finish_reason, stream_end, usage_source, error_code, attempts, door)
select 'gen-' || tail, 'req-' || tail, account, key_id, key_name, at, model, case when ok then route end, case when ok then provider end,
  case when ok then region end, h % 2 = 0, case when ok then 200 else 503 end, case when ok then 40 + h % 30000 else 0 end,
  case when ok then 10 + h % 2100 else 0 end, case when ok and h % 3 = 0 then h % 39 else 0 end, 0,
  case when ok then 410000 * (40 + h % 30000) + 1630000 * (10 + h % 2100) else 0 end, ok, 200 + h % 9000 + 0.25,
  case when ok then 50 + h % 900 + 0.5 end, '["' || provider || '"]', false, case when ok then 'stop' end,
  case when ok then 'complete' end, case when ok then 'provider' end, case when not ok then 'upstream_unavailable' end,
  '[{"provider":"' || provider || '","locode":"' || region || '","outcome":"' || case when ok then 'served' else 'error' end
    || '","status":' || case when ok then 200 else 500 end || ',"first_byte_ms":120.25,"error":null}]', 'chat'
from (
  select at, h, ok, substr(lodestone.generation_ids_from(at), 5) || lpad(i::text, 16, '0') as tail, a.id as account,
    case when owner = 1 then k.id else a.id || '-key' end as key_id, case when owner = 1 then k.name else 'default' end as key_name,
    model, route, provider, region
  from (
    select *, 1 + ((key * 13 + (5 * pow(h % 9973 / 9973.0, 2))::int) % (cardinality($9::text[]) / ${routesMax})) * ${routesMax}
      + (case when h % 10 < 7 then 0 when h % 10 < 9 then 1 else 2 end) as line, (h / 1009) % 40 <> 0 as ok
    from (
      select *, 1 + floor(cardinality($7::text[]) * pow(h % 99991 / 99991.0, 2.5))::int as key,
        case when h / 17 % 10 < 8 then 1 else 1 + floor(cardinality($6::text[]) * pow(h % 7919 / 7919.0, 2))::int end as owner
      from (
        select i, $1::bigint + i * $2::bigint / $3::bigint as at, (hashint8(i)::bigint + 2147483648) as h
        from generate_series($4::bigint, $5::bigint) i offset 0
      ) numbered offset 0
    ) owned offset 0
  ) routed
  join unnest($6::text[]) with ordinality a(id, n) on a.n = owner
  join unnest($7::text[], $8::text[]) with ordinality k(id, name, n) on k.n = key
  join unnest($9::text[], $10::text[], $11::text[], $12::text[]) with ordinality r(model, route, provider, region, n) on r.n = line
  offset 0
) s`;
