/**
 * Sums the list price of what own credentials have served through each key and day, beside what budgets and caps count of it. An older
 * version that settles a line does not give the list price, but where the line is counted it follows from the rest. What was served before
 * this is not in it.
 */
export const ownUsage = `
alter table lodestone.own_spending add column own_pico numeric(38,0) not null default 0;

create or replace function lodestone.add_project_days(added json) returns void language sql as $$
  insert into lodestone.project_days as d (account_id, project_id, day, spent_pico)
  select l.account_id, coalesce(l.project_id, lodestone.default_project_of(l.account_id)), l.from_hour / 24,
    sum(l.cost_pico + coalesce(l.extra_pico, 0))
  from json_to_recordset(added) as l(account_id text, project_id text, from_hour integer, cost_pico numeric, extra_pico numeric)
  group by 1, 2, 3 having sum(l.cost_pico + coalesce(l.extra_pico, 0)) <> 0 order by 1, 2, 3
  on conflict (account_id, project_id, day) do update set spent_pico = d.spent_pico + excluded.spent_pico;
  insert into lodestone.own_spending as o (account_id, project_id, key_id, day, extra_pico, own_pico)
  select l.account_id, coalesce(l.project_id, lodestone.default_project_of(l.account_id)), l.key_id, l.from_hour / 24,
    sum(coalesce(l.extra_pico, 0)), sum(coalesce(l.own_pico, l.cost_pico + l.extra_pico, 0))
  from json_to_recordset(added) as l(account_id text, project_id text, key_id text, from_hour integer, cost_pico numeric,
    extra_pico numeric, own_pico numeric)
  where l.extra_pico is not null or l.own_pico is not null
  group by 1, 2, 3, 4 having sum(coalesce(l.extra_pico, 0)) <> 0 or sum(coalesce(l.own_pico, 0)) <> 0 order by 1, 2, 3, 4
  on conflict (account_id, project_id, key_id, day) do update set extra_pico = o.extra_pico + excluded.extra_pico,
    own_pico = o.own_pico + excluded.own_pico;
  select lodestone.add_own_served(added)
$$;
`;
