/**
 * Keeps what each project spent on each UTC day, so that a budget counts its period without anything being reset, and which thresholds of
 * budgets were reached.
 *
 * A settlement adds to the days in its own transaction, in every version, because all of them call `add_usage`. Lines without a project
 * are of the default one, as is everything that was spent before. The sums of reports have all hours before `sums_before`, the rollups
 * the later ones. Nobody may add to the rollups while they are read here: a settlement waits for the accounts, and the others for the lock.
 */
import { addUsageFunction } from './0022-usage-sums.js';

export const budgets = `
create table lodestone.project_days (
  account_id text collate "C" not null,
  project_id text collate "C" not null,
  day integer not null,
  spent_pico numeric(38,0) not null,
  primary key (account_id, project_id, day)
) with (fillfactor = 70);

lock table lodestone.usage_rollups in share mode;

insert into lodestone.project_days (account_id, project_id, day, spent_pico)
select account_id, lodestone.default_project_of(account_id), day, sum(cost_pico) from (
  select account_id, from_hour / 24 as day, cost_pico from lodestone.usage_sums where kind = 'account_steps' and hours = 24
  union all
  select s.account_id, r.from_hour / 24, r.cost_pico
  from lodestone.usage_rollups r join lodestone.usage_series s on s.id = r.series
  where r.hours = 1 and r.from_hour >= coalesce((select sums_before from lodestone.records_state), 0)
) spent group by 1, 2, 3 having sum(cost_pico) <> 0;

create function lodestone.add_project_days(added json) returns void language sql as $$
  insert into lodestone.project_days as d (account_id, project_id, day, spent_pico)
  select l.account_id, coalesce(l.project_id, lodestone.default_project_of(l.account_id)), l.from_hour / 24, sum(l.cost_pico)
  from json_to_recordset(added) as l(account_id text, project_id text, from_hour integer, cost_pico numeric)
  group by 1, 2, 3 having sum(l.cost_pico) <> 0 order by 1, 2, 3
  on conflict (account_id, project_id, day) do update set spent_pico = d.spent_pico + excluded.spent_pico
$$;

${addUsageFunction(`  -- A migration that replaces this function keeps this line.
  perform lodestone.add_project_days(added);
`)}
-- A threshold that a budget has reached in a period. It is reported where next_attempt_at was ever set, and is reached no more, so that
-- it can be again, once ended_at is.
create table lodestone.budget_notices (
  id text collate "C" primary key,
  account_id text collate "C" not null references lodestone.accounts (id) on delete cascade,
  project_id text collate "C",
  threshold numeric not null,
  limit_pico numeric(38,0) not null,
  spent_pico numeric(38,0) not null,
  period text not null,
  from_day integer not null,
  ends_at timestamptz,
  created_at timestamptz not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz,
  delivered_at timestamptz,
  mailed_at timestamptz,
  ended_at timestamptz
);
create unique index budget_notices_once on lodestone.budget_notices
  (account_id, coalesce(project_id, ''), period, from_day, threshold) where ended_at is null;
create index budget_notices_due on lodestone.budget_notices (next_attempt_at) where next_attempt_at is not null;

alter table lodestone.balance_notices add column mailed_at timestamptz;
`;
