/**
 * Sums what own credentials of customers have served, which is no part of what the status page says of a route. The rollups have it too,
 * so the page takes it off. An older version that settles a line does not know of it.
 */
export const ownServed = `
create table lodestone.own_served (
  route text collate "C" not null,
  account_id text collate "C" not null,
  hours smallint not null,
  from_hour integer not null,
  served bigint not null,
  broken bigint not null,
  first_byte_histogram numeric not null,
  speed_histogram numeric not null,
  primary key (route, account_id, hours, from_hour)
) with (fillfactor = 70);
create index own_served_time on lodestone.own_served (hours, from_hour);

create function lodestone.add_own_served(added json) returns void language sql as $$
  insert into lodestone.own_served as o (route, account_id, hours, from_hour, served, broken, first_byte_histogram, speed_histogram)
  select l.served_model, l.account_id, h.hours, l.from_hour / h.hours * h.hours, sum(l.requests),
    coalesce(sum(l.requests) filter (where l.stream_end in ('cut', 'stalled')), 0), sum(l.first_byte_histogram), sum(l.speed_histogram)
  from json_to_recordset(added) as l(own boolean, served_model text, account_id text, from_hour integer, requests bigint, stream_end text,
    first_byte_histogram numeric, speed_histogram numeric)
  cross join (values (1::smallint), (24::smallint)) as h(hours)
  where l.own and l.served_model is not null group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (route, account_id, hours, from_hour) do update set served = o.served + excluded.served,
    broken = o.broken + excluded.broken, first_byte_histogram = o.first_byte_histogram + excluded.first_byte_histogram,
    speed_histogram = o.speed_histogram + excluded.speed_histogram
$$;

create or replace function lodestone.add_project_days(added json) returns void language sql as $$
  insert into lodestone.project_days as d (account_id, project_id, day, spent_pico)
  select l.account_id, coalesce(l.project_id, lodestone.default_project_of(l.account_id)), l.from_hour / 24,
    sum(l.cost_pico + coalesce(l.extra_pico, 0))
  from json_to_recordset(added) as l(account_id text, project_id text, from_hour integer, cost_pico numeric, extra_pico numeric)
  group by 1, 2, 3 having sum(l.cost_pico + coalesce(l.extra_pico, 0)) <> 0 order by 1, 2, 3
  on conflict (account_id, project_id, day) do update set spent_pico = d.spent_pico + excluded.spent_pico;
  insert into lodestone.own_spending as o (account_id, project_id, key_id, day, extra_pico)
  select l.account_id, coalesce(l.project_id, lodestone.default_project_of(l.account_id)), l.key_id, l.from_hour / 24, sum(l.extra_pico)
  from json_to_recordset(added) as l(account_id text, project_id text, key_id text, from_hour integer, extra_pico numeric)
  where l.extra_pico is not null
  group by 1, 2, 3, 4 having sum(l.extra_pico) <> 0 order by 1, 2, 3, 4
  on conflict (account_id, project_id, key_id, day) do update set extra_pico = o.extra_pico + excluded.extra_pico;
  select lodestone.add_own_served(added)
$$;
`;
