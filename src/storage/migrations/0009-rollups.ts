/**
 * Creates the rollups of usage: sums by hour and by day for each series, which is an account, a key, a requested model, the route that
 * served, a door and an outcome. Settlements add to them in their own transaction. Rows are always added in the order of the primary
 * keys, so that two writers cannot deadlock.
 *
 * `rolled_up` says whether a generation is in the rollups: true where its settlement added it, false where an older version or a
 * person wrote it, null where it is from before this migration. A settlement of this version sets `lodestone.rolls_up`, because the
 * journal's lines have no column for it.
 */
export const rollups = `
create table lodestone.usage_series (
  id uuid primary key,
  account_id text collate "C" not null,
  key_id text not null,
  key_name text not null,
  requested_model text not null,
  served_model text,
  provider text,
  locode text,
  door text not null,
  billed boolean not null,
  status integer not null,
  error_code text,
  stream_end text,
  failed_by text
);
create index usage_series_account on lodestone.usage_series (account_id);

create table lodestone.usage_rollups (
  series uuid not null,
  hours smallint not null,
  from_hour integer not null,
  requests bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  cached_tokens bigint not null,
  reasoning_tokens bigint not null,
  cost_pico numeric(38,0) not null,
  latency_ms bigint not null,
  first_byte_histogram numeric not null,
  latency_histogram numeric not null,
  speed_histogram numeric not null,
  primary key (series, hours, from_hour)
) with (fillfactor = 70);
create index usage_rollups_time on lodestone.usage_rollups (hours, from_hour);

-- What a settlement adds to one series and hour.
create type lodestone.usage_line as (
  account_id text, key_id text, key_name text, requested_model text, served_model text, provider text, locode text, door text,
  billed boolean, status integer, error_code text, stream_end text, failed_by text, from_hour integer, requests bigint,
  prompt_tokens bigint, completion_tokens bigint, cached_tokens bigint, reasoning_tokens bigint, cost_pico numeric,
  latency_ms bigint, first_byte_histogram numeric, latency_histogram numeric, speed_histogram numeric
);

create function lodestone.add_usage(added json) returns void language plpgsql as $$
begin
  with lines as materialized (
    select encode(substr(sha256(convert_to(row(r.account_id, r.key_id, r.key_name, r.requested_model, r.served_model, r.provider,
      r.locode, r.door, r.billed, r.status, r.error_code, r.stream_end, r.failed_by)::text, 'UTF8')), 1, 16), 'hex')::uuid as series, r.*
    from json_populate_recordset(null::lodestone.usage_line, added) r
  ), named as (
    insert into lodestone.usage_series (id, account_id, key_id, key_name, requested_model, served_model, provider, locode, door,
      billed, status, error_code, stream_end, failed_by)
    select distinct series, account_id, key_id, key_name, requested_model, served_model, provider, locode, door, billed, status,
      error_code, stream_end, failed_by
    from lines where not exists (select 1 from lodestone.usage_series s where s.id = lines.series) order by 1
    on conflict (id) do nothing
  )
  insert into lodestone.usage_rollups as u (series, hours, from_hour, requests, prompt_tokens, completion_tokens, cached_tokens,
    reasoning_tokens, cost_pico, latency_ms, first_byte_histogram, latency_histogram, speed_histogram)
  select series, h.hours, from_hour / h.hours * h.hours, sum(requests), sum(prompt_tokens), sum(completion_tokens),
    sum(cached_tokens), sum(reasoning_tokens), sum(cost_pico), sum(latency_ms), sum(first_byte_histogram), sum(latency_histogram),
    sum(speed_histogram)
  from lines cross join (values (1::smallint), (24::smallint)) as h(hours) group by 1, 2, 3 order by 1, 2, 3
  on conflict (series, hours, from_hour) do update set requests = u.requests + excluded.requests,
    prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = u.completion_tokens + excluded.completion_tokens,
    cached_tokens = u.cached_tokens + excluded.cached_tokens,
    reasoning_tokens = u.reasoning_tokens + excluded.reasoning_tokens,
    cost_pico = u.cost_pico + excluded.cost_pico,
    latency_ms = u.latency_ms + excluded.latency_ms,
    first_byte_histogram = u.first_byte_histogram + excluded.first_byte_histogram,
    latency_histogram = u.latency_histogram + excluded.latency_histogram,
    speed_histogram = u.speed_histogram + excluded.speed_histogram;
end $$;

create function lodestone.lock_to_settle(ids text[]) returns setof text language plpgsql as $$
begin
  perform set_config('lodestone.rolls_up', 'on', true);
  return query select a.id from lodestone.accounts a where a.id = any(ids) order by a.id for no key update;
end $$;

create function lodestone.generation_ids_from(ms bigint) returns text language plpgsql immutable as $$
declare
  rest bigint := ms;
  digits text := '';
begin
  for i in 1..10 loop
    digits := substr('0123456789abcdefghjkmnpqrstvwxyz', (rest % 32)::integer + 1, 1) || digits;
    rest := rest / 32;
  end loop;
  return 'gen-' || digits;
end $$;

-- The generations of before are in the rollups from backfill_before_ms on; null where all are. Ids below first_partition_ends are in
-- the first partition. No generation of before refused_before_ms is taken, and none of before pruned_before_ms is left.
create table lodestone.records_state (
  only_one boolean primary key default true check (only_one),
  backfill_before_ms bigint,
  first_partition_ends text collate "C" not null,
  refused_before_ms bigint,
  pruned_before_ms bigint
);
insert into lodestone.records_state (backfill_before_ms, first_partition_ends)
select case when filled.yes then 9007199254740991 end,
  lodestone.generation_ids_from((extract(epoch from date_trunc('month',
    case when filled.yes then now() + interval '1 month 3 days' else now() end, 'UTC')) * 1000)::bigint)
from (select exists (select 1 from lodestone.generations) as yes) as filled;

create table lodestone.pruned_months (
  month_ms bigint primary key,
  accounts bigint not null,
  requests bigint not null,
  pruned_at timestamptz not null default now()
);

alter table lodestone.generations add column rolled_up boolean;
alter table lodestone.generations alter column rolled_up set default coalesce(current_setting('lodestone.rolls_up', true) = 'on', false);

-- A month that is pruned leaves one entry of usage for each account.
alter table lodestone.ledger_posts drop constraint ledger_posts_kind_check;
`;
