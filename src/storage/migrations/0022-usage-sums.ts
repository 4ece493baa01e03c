/**
 * Creates coarser sums beside the rollups, for reports over long periods: of an account or of all accounts, whole and by route, and of the
 * keys of an account. The rollups of an account with many keys and models are hardly fewer than its requests, so a report of 90 days read
 * hundreds of thousands of them.
 *
 * `sums_before` says up to which hour the sums hold what the rollups do. `sum_usage` moves it, in the background. What is settled for an
 * earlier hour is added to the sums by its own settlement, in every version, because all of them call `add_usage`. A settlement that has
 * read `sums_before` keeps it from moving until it ends.
 */
import { seriesIdSql } from '../records/usage-columns.js';

const dimensions = [
  ...[
    'account_id',
    'key_id',
    'key_name',
    'requested_model',
    'served_model',
    'provider',
    'locode',
    'door',
    'billed',
    'status',
  ],
  ...['error_code', 'stream_end', 'failed_by'],
];
const shared = ['billed', 'status', 'stream_end'];
const route = ['requested_model', 'served_model', 'provider', 'locode', 'failed_by', ...shared];

/** What each kind of sum is about. */
const kinds: Record<string, readonly string[]> = {
  account_steps: ['account_id', ...shared],
  account_routes: ['account_id', ...route],
  account_keys: ['account_id', 'key_id', 'key_name', ...shared],
  all_steps: shared,
  all_routes: route,
};

/** The hours that sums cover. Each length is a multiple of the shortest. */
const lengths = [6, 24, 240];
const shortest = 6;

const figures = [
  ...['requests', 'prompt_tokens', 'completion_tokens', 'cached_tokens', 'cost_pico', 'first_byte_histogram'],
];
const figureList = figures.join(', ');
const sums = figures.map((figure) => `sum(${figure}) as ${figure}`).join(', ');

/** A dimension that no kind has is null in all of them. */
const dimensionOf = (name: string): string => {
  const having = Object.keys(kinds).filter((kind) => kinds[kind]!.includes(name));
  return having.length === 0
    ? `null as ${name}`
    : `case when kind in ('${having.join("', '")}') then ${name} end as ${name}`;
};

/** Adds lines to the sums of every kind. Rows are added in the order of the primary keys, so that two writers cannot deadlock. */
const addSums = (lines: string): string => `
  with lines as materialized (${lines}), spread as (
    select kind, ${dimensions.map(dimensionOf).join(', ')}, from_hour / ${shortest} * ${shortest} as from_hour, ${figureList}
    from lines cross join (values ${Object.keys(kinds).map((kind) => `('${kind}')`)}) as k(kind)
  ), summed as materialized (
    select ${seriesIdSql(`kind, ${dimensions.join(', ')}`)} as series, *
    from (select kind, ${dimensions.join(', ')}, from_hour, ${sums} from spread group by kind, ${dimensions.join(', ')}, from_hour) added
  ), named as (
    insert into lodestone.usage_sum_series (kind, id, ${dimensions.join(', ')})
    select distinct kind, series, ${dimensions.join(', ')} from summed
    where not exists (select 1 from lodestone.usage_sum_series s where s.id = summed.series) order by 2
    on conflict (id) do nothing
  )
  insert into lodestone.usage_sums as u (kind, account_id, hours, from_hour, series, ${figureList})
  select kind, coalesce(account_id, ''), h.hours, from_hour / h.hours * h.hours, series, ${sums}
  from summed cross join (values ${lengths.map((hours) => `(${hours}::smallint)`).join(', ')}) as h(hours)
  group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  on conflict (kind, account_id, hours, from_hour, series) do update set ${figures
    .map((figure) => `${figure} = u.${figure} + excluded.${figure}`)
    .join(', ')};`;

const lineColumns = [...dimensions, 'from_hour', ...figures].join(', ');
const lock = 7316402295;

/** The function that every settlement calls. A later migration may have it do more at its end. */
export const addUsageFunction = (
  more = '',
): string => `create or replace function lodestone.add_usage(added json) returns void language plpgsql as $$
declare
  oldest integer;
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
  ), rolled_up as (
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
      speed_histogram = u.speed_histogram + excluded.speed_histogram
  )
  select min(from_hour) into oldest from lines;
  -- From here on sums_before stays until the transaction ends.
  perform pg_advisory_xact_lock_shared(${lock});
  if oldest < (select sums_before from lodestone.records_state) then
    ${addSums(
      `select ${lineColumns} from json_populate_recordset(null::lodestone.usage_line, added)
        where from_hour < (select sums_before from lodestone.records_state)`,
    )}
  end if;
${more}end $$;
`;

export const usageSums = `
alter table lodestone.records_state add column sums_before integer;

create table lodestone.usage_sum_series (
  id uuid primary key,
  kind text not null,
  account_id text collate "C",
  key_id text,
  key_name text,
  requested_model text,
  served_model text,
  provider text,
  locode text,
  door text,
  billed boolean not null,
  status integer not null,
  error_code text,
  stream_end text,
  failed_by text
);
create index usage_sum_series_account on lodestone.usage_sum_series (kind, account_id);

-- The account is empty in sums of all accounts. An account's sums of one length lie side by side, so that a report reads few pages.
create table lodestone.usage_sums (
  kind text not null,
  account_id text collate "C" not null,
  hours smallint not null,
  from_hour integer not null,
  series uuid not null,
  requests bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  cached_tokens bigint not null,
  cost_pico numeric(38,0) not null,
  first_byte_histogram numeric not null,
  primary key (kind, account_id, hours, from_hour, series)
) partition by list (kind);
${Object.keys(kinds)
  .map(
    (kind) =>
      `create table lodestone.usage_sums_${kind} partition of lodestone.usage_sums for values in ('${kind}') with (fillfactor = 70);`,
  )
  .join('\n')}

-- The keys of all accounts, for operators.
create index usage_sums_account_keys_time on lodestone.usage_sums_account_keys (hours, from_hour);

${addUsageFunction()}
-- Adds the next hours before up_to, at most six; false where none is left. Holds up settlements while it runs.
create function lodestone.sum_usage(up_to integer) returns boolean language plpgsql as $$
declare
  start_hour integer;
  end_hour integer;
begin
  perform 1 from lodestone.records_state where backfill_before_ms is null for update;
  if not found then return false; end if;
  perform pg_advisory_xact_lock(${lock});
  select min(from_hour) into start_hour from lodestone.usage_rollups
    where hours = 1 and from_hour >= coalesce((select sums_before from lodestone.records_state), 0);
  if start_hour is null or start_hour >= up_to then return false; end if;
  end_hour := least(start_hour / ${shortest} * ${shortest} + ${shortest}, up_to);
  ${addSums(
    `select ${lineColumns} from lodestone.usage_rollups r join lodestone.usage_series s on s.id = r.series
      where r.hours = 1 and r.from_hour >= start_hour and r.from_hour < end_hour`,
  )}
  update lodestone.records_state set sums_before = end_hour;
  return true;
end $$;
`;
