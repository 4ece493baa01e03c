/** Finds budgets that have reached a threshold, with one query over all of them. */
import type { PoolClient } from 'pg';
import type { BudgetPeriodStart } from '../../domain/notice.js';
import { prefixes } from './due-notices.js';

/**
 * Each threshold that is reached gets a row once a period. Of several at once the highest is reported, and none below one that was
 * reported before.
 */
const reachedThresholds = `
with periods as (
  select * from unnest($1::text[], $2::integer[], $3::timestamptz[]) as p(period, from_day, ends_at)
), nodes as (
  select id as account_id, null::text as project_id, budget::json as budget, usage_pico
  from lodestone.accounts where budget is not null
  union all select account_id, id, budget::json, null from lodestone.projects where budget is not null
), spent as (
  select n.account_id, n.project_id, p.period, p.from_day, p.ends_at, (n.budget ->> 'limitPico')::numeric as limit_pico,
    n.budget -> 'alertAt' as alert_at,
    case when n.project_id is null and p.period = 'never' then n.usage_pico + coalesce((
      select sum(o.extra_pico) from lodestone.own_spending o where o.account_id = n.account_id), 0) else coalesce((
      select sum(d.spent_pico) from lodestone.project_days d where d.account_id = n.account_id
        and (n.project_id is null or d.project_id = n.project_id) and d.day >= p.from_day), 0) end
    + case when (n.budget #>> '{opening,day}')::integer >= p.from_day then (n.budget #>> '{opening,spentPico}')::numeric else 0 end
      as spent_pico
  from nodes n join periods p on p.period = n.budget ->> 'period'
), reached as (
  select s.*, t.threshold, max(t.threshold) over (partition by s.account_id, s.project_id) as highest
  from spent s cross join lateral (
    select value::numeric as threshold from json_array_elements_text(s.alert_at)
  ) t where s.spent_pico > 0 and s.spent_pico >= t.threshold * s.limit_pico
), made as (
  insert into lodestone.budget_notices (id, account_id, project_id, threshold, limit_pico, spent_pico, period, from_day, ends_at,
    created_at, next_attempt_at)
  select '${prefixes.budget_notices}' || replace(gen_random_uuid()::text, '-', ''), account_id, project_id, threshold, limit_pico, spent_pico, period,
    from_day, ends_at, $4, case when threshold = highest then $4::timestamptz end
  from reached r where not exists (
    select 1 from lodestone.budget_notices b where b.account_id = r.account_id and b.project_id is not distinct from r.project_id
      and b.period = r.period and b.from_day = r.from_day and b.threshold = r.threshold and b.ended_at is null)
  order by account_id, project_id, threshold
  on conflict do nothing returning next_attempt_at
)
select count(*)::integer as made from made where next_attempt_at is not null`;

export async function lookForReached(
  client: PoolClient,
  nowMs: number,
  periods: readonly BudgetPeriodStart[],
): Promise<number> {
  const { rows } = await client.query<{ made: number }>(reachedThresholds, [
    periods.map(({ period }) => period),
    periods.map(({ fromDay }) => fromDay),
    periods.map(({ endMs }) => (endMs === null ? null : new Date(endMs))),
    new Date(nowMs),
  ]);
  return rows[0]!.made;
}
