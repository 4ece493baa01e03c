/**
 * Partitions the generations by month, along their ids, which begin with the time. The table of before becomes the first partition as
 * it is, with its indexes. What reads all of its rows runs before, without blocking those who write to it; the exchange itself takes
 * moments. Ids that are not of this form, which only a person can have written, stay in the first partition too.
 */
import { histogramSql } from '../records/histogram.js';

/** Runs again from the start after an interruption. */
export const beforePartitions: readonly string[] = [
  `do $$
  declare
    ends text;
  begin
    if (select relkind from pg_class where oid = 'lodestone.generations'::regclass) = 'p' then return; end if;
    select first_partition_ends into ends from lodestone.records_state;
    alter table lodestone.generations drop constraint if exists generations_first_ends;
    execute format('alter table lodestone.generations add constraint generations_first_ends check (id < %L) not valid', ends);
  end $$`,
  `do $$
  declare
    ends text;
  begin
    if (select relkind from pg_class where oid = 'lodestone.generations'::regclass) = 'p' then return; end if;
    alter table lodestone.generations validate constraint generations_first_ends;
  exception when check_violation then
    select max(id) || '~' into ends from lodestone.generations;
    update lodestone.records_state set first_partition_ends = ends;
    alter table lodestone.generations drop constraint generations_first_ends;
    execute format('alter table lodestone.generations add constraint generations_first_ends check (id < %L)', ends);
  end $$`,
];

export const partitions = `
do $$
declare
  ends text;
begin
  select first_partition_ends into ends from lodestone.records_state;
  alter table lodestone.generations rename to generations_first;
  alter table lodestone.generations_first rename constraint generations_pkey to generations_first_pkey;
  alter index lodestone.generations_created rename to generations_first_created;
  create table lodestone.generations (like lodestone.generations_first including defaults) partition by range (id);
  alter table lodestone.generations add primary key (account_id, id);
  create index generations_created on lodestone.generations using brin (created_ms) with (autosummarize = on);
  execute format('alter table lodestone.generations attach partition lodestone.generations_first for values from (minvalue) to (%L)', ends);
  alter table lodestone.generations_first drop constraint generations_first_ends;
  create table lodestone.generations_other partition of lodestone.generations default;
end $$;

create or replace view lodestone.ledger as
  select id as position, 'led' || substr(id, 4) as id, account_id, to_timestamp(created_ms / 1000.0) as created_at,
    'usage'::text as kind, -cost_pico as amount_pico, id as generation_id, null::text as note
  from lodestone.generations where billed
  union all
  select position, id, account_id, created_at, kind, amount_pico, null::text, note from lodestone.ledger_posts;

-- What each generation adds to the rollups.
create view lodestone.generation_usage as
  select id, created_ms, rolled_up, account_id, key_id, key_name, requested_model, served_model, provider, locode,
    'chat'::text as door, billed, status, error_code, stream_end,
    case when served_model is null then providers_attempted end as failed_by,
    floor(created_ms / 3600000.0)::integer as from_hour, 1::bigint as requests, prompt_tokens, completion_tokens, cached_tokens,
    reasoning_tokens, case when billed then cost_pico else 0 end as cost_pico, floor(latency_ms)::bigint as latency_ms,
    coalesce(${histogramSql('first_byte_ms')}, 0) as first_byte_histogram,
    coalesce(${histogramSql('latency_ms')}, 0) as latency_histogram,
    coalesce(${histogramSql(
      'case when billed and completion_tokens > 0 and latency_ms > 0 then completion_tokens * 1000.0::float8 / latency_ms end',
    )}, 0) as speed_histogram
  from lodestone.generations;
`;
