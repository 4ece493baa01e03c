/**
 * Gives the rollups of days a partition of their own, in the order of accounts. An account's overview read one page for each of its
 * rollups, because the 24 hours of every day and all other accounts lay between them. An older version reads and writes the table of the
 * same name.
 */
export const rollupDays = `
alter table lodestone.records_state add column days_gathered_before integer;

do $$
begin
  alter table lodestone.usage_rollups rename to usage_rollups_hours;
  alter table lodestone.usage_rollups_hours rename constraint usage_rollups_pkey to usage_rollups_hours_pkey;
  alter index lodestone.usage_rollups_time rename to usage_rollups_hours_time;
  create table lodestone.usage_rollups (like lodestone.usage_rollups_hours) partition by list (hours);
  alter table lodestone.usage_rollups add primary key (series, hours, from_hour);
  create index usage_rollups_time on lodestone.usage_rollups (hours, from_hour);
  create table lodestone.usage_rollups_days partition of lodestone.usage_rollups for values in (24) with (fillfactor = 70);
  with moved as (delete from lodestone.usage_rollups_hours where hours = 24 returning *)
  insert into lodestone.usage_rollups_days select moved.* from moved left join lodestone.usage_series s on s.id = moved.series
  order by s.account_id, moved.from_hour, moved.series;
  alter table lodestone.usage_rollups attach partition lodestone.usage_rollups_hours for values in (1);
  -- Where generations of before are still to come, their days are put into order once all are there.
  update lodestone.records_state set days_gathered_before = floor(extract(epoch from now()) / 86400)::integer * 24
    where backfill_before_ms is null;
end $$;
`;
