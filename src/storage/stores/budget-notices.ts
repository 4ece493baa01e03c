/** Finds budgets that have reached a threshold, with one query over all of them, and takes the notices about them. */
import type { PoolClient } from 'pg';
import type { BudgetNotice, BudgetPeriodStart } from '../../domain/notice.js';
import type { BudgetPeriod } from '../../domain/organisation.js';

/** Tells which table a notice is in. */
export const budgetPrefix = 'ntb-';

/** Who is told of money by mail: owners and billing, and without any the address of the account. */
export const moneyMail = `coalesce((select array_agg(distinct u.email order by u.email)
  from lodestone.memberships m join lodestone.sign_in_users u on u.id = m.person_id
  where m.account_id = a.id and m.role in ('owner', 'billing') and u.status = 'active'), array[a.email]) as mail_to`;

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
  select '${budgetPrefix}' || replace(gen_random_uuid()::text, '-', ''), account_id, project_id, threshold, limit_pico, spent_pico, period,
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

export const takeBudgetNotices = `
update lodestone.budget_notices n set attempts = attempts + 1, next_attempt_at = $2
from lodestone.accounts a
where a.id = n.account_id and n.id in (
  select id from lodestone.budget_notices where next_attempt_at <= $1 order by next_attempt_at limit $3
  for update skip locked)
returning n.id, n.account_id, a.email, n.project_id,
  (select p.name from lodestone.projects p where p.id = n.project_id) as project_name, n.threshold, n.limit_pico, n.spent_pico, n.period,
  (extract(epoch from n.ends_at) * 1000)::bigint as ends_ms, (extract(epoch from n.created_at) * 1000)::bigint as created_ms, n.attempts,
  n.delivered_at is not null as is_sent, n.mailed_at is not null as is_mailed, ${moneyMail}`;

export interface BudgetNoticeRow {
  id: string;
  account_id: string;
  email: string;
  project_id: string | null;
  project_name: string | null;
  threshold: string;
  limit_pico: string;
  spent_pico: string;
  period: BudgetPeriod;
  ends_ms: string | null;
  created_ms: string;
  attempts: number;
  is_sent: boolean;
  is_mailed: boolean;
  mail_to: string[];
}

export function budgetNoticeOf(row: BudgetNoticeRow): BudgetNotice {
  return {
    ...{ id: row.id, accountId: row.account_id, email: row.email },
    ...{ projectId: row.project_id, projectName: row.project_name, threshold: Number(row.threshold) },
    ...{ limitPico: BigInt(row.limit_pico), spentPico: BigInt(row.spent_pico), period: row.period },
    ...{ endsAt: row.ends_ms === null ? null : Number(row.ends_ms), createdAt: Number(row.created_ms) },
    ...{ attempts: row.attempts, isSent: row.is_sent, isMailed: row.is_mailed, mailTo: row.mail_to },
  };
}
