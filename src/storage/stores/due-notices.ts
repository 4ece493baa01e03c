/** Takes the notices that are due. Each kind is in a table of its own. */
import type { Notice } from '../../domain/notice.js';
import type { Database } from '../database.js';

/** What the ids of a table begin with. */
export const prefixes = {
  balance_notices: 'ntc-',
  retirement_notices: 'ntr-',
  budget_notices: 'ntb-',
  credential_notices: 'ntf-',
} as const;

type NoticeTable = keyof typeof prefixes;
const tables = Object.keys(prefixes) as NoticeTable[];

export const tableOf = (id: string): NoticeTable =>
  tables.find((table) => id.startsWith(prefixes[table])) ?? 'balance_notices';

/** Whom a mail goes to: people with these roles, and without any the address of the account. */
const mailTo = (roles: string) => `n.delivered_at is not null as "isSent", n.mailed_at is not null as "isMailed",
  coalesce((select array_agg(distinct u.email order by u.email)
  from lodestone.memberships m join lodestone.sign_in_users u on u.id = m.person_id
  where m.account_id = a.id and m.role in (${roles}) and u.status = 'active'), array[a.email]) as "mailTo"`;

/** What the notices of a table say besides the account. */
const columns: Record<NoticeTable, string> = {
  balance_notices: `case n.level when 2 then 'exhausted' else 'low' end as level, n.balance_pico as "balancePico",
    n.threshold_pico as "thresholdPico", ${mailTo(`'owner', 'billing'`)}`,
  // Aliases and entries of the saved chain are read when the notice is sent, as they are then.
  retirement_notices: `n.model, to_char(n.retires_on, 'YYYY-MM-DD') as date, n.replaced_by as "replacedBy", n.routes,
    array(select 'alias/' || l.name from lodestone.aliases l
      where l.account_id = n.account_id and l.canonical_id = n.model
        and (l.locode is null or l.provider || '/' || l.canonical_id || '/' || l.locode = any(n.routes)) order by l.name)
    || array(select entry from json_array_elements_text(coalesce(a.fallback_models, '[]'::json)) as entry
      where entry = 'auto/' || n.model or entry = any(n.routes)) as names`,
  budget_notices: `n.project_id as "projectId",
    (select p.name from lodestone.projects p where p.id = n.project_id) as "projectName", n.threshold::float8,
    n.limit_pico as "limitPico", n.spent_pico as "spentPico", n.period, n.ends_at as "endsAt", ${mailTo(`'owner', 'billing'`)}`,
  credential_notices: `n.project_id as "projectId", n.credential_id as "credentialId", n.provider, n.name, n.reason,
    ${mailTo(`'owner', 'admin'`)}`,
};

const takeDue = (table: NoticeTable) => `
update lodestone.${table} n set attempts = attempts + 1, next_attempt_at = $2
from lodestone.accounts a
where a.id = n.account_id and n.id in (
  select id from lodestone.${table} where next_attempt_at <= $1 order by next_attempt_at limit $3
  for update skip locked)
returning n.id, n.account_id as "accountId", a.email, n.created_at as "createdAt", n.attempts, ${columns[table]}`;

/** `values` are now, when they are due again, and how many of a kind at the most. */
export async function takeDueNotices(database: Database, values: [Date, Date, number]): Promise<Notice[]> {
  const taken: Notice[] = [];
  for (const table of tables)
    taken.push(...(await database.statement<Notice>(`take-${table}`, takeDue(table), values)));
  return taken;
}
