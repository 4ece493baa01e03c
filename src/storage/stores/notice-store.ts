/**
 * Finds low balances, reached budgets, and accounts that use a retiring model, in PostgreSQL with one query over all accounts, off the request path. Each
 * crossing, and each model of an account, makes one notice in a whole fleet.
 */
import type { NoticeStore } from '../../domain/notice.js';
import type { Database } from '../database.js';
import { lookForReached } from './budget-notices.js';
import { prefixes, tableOf, takeDueNotices } from './due-notices.js';

/** Lets one process at a time look, by the server's clock, which all share. Other processes skip and do not wait. */
const takeTurn = `
update lodestone.balance_looks set looked_at = now() where only_one in (
  select only_one from lodestone.balance_looks where looked_at <= now() - $1 * interval '1 ms' for update skip locked)`;

/**
 * Levels: 0 fine, 1 low, 2 exhausted. An account that never had credit makes no notice. A level that improves is stored
 * silently, so that the next crossing makes a notice again.
 */
const crossings = `
with seen as (
  select a.id, a.balance_pico, coalesce(w.threshold_pico, $1::numeric) as threshold_pico, coalesce(w.level, 0) as was
  from lodestone.accounts a left join lodestone.balance_watch w on w.account_id = a.id
), levels as (
  select *, case when threshold_pico <= 0 then 0 when balance_pico <= 0 then 2
    when balance_pico < threshold_pico then 1 else 0 end as level from seen
), moved as (
  select * from levels l where l.level <> l.was and (l.was > 0 or exists (
    select 1 from lodestone.ledger_posts p where p.account_id = l.id and p.kind = 'credit'))
  order by l.id limit $2
), noted as (
  insert into lodestone.balance_watch (account_id, level) select id, level from moved
  on conflict (account_id) do update set level = excluded.level
)
insert into lodestone.balance_notices
  (id, account_id, level, balance_pico, threshold_pico, created_at, next_attempt_at)
select '${prefixes.balance_notices}' || replace(gen_random_uuid()::text, '-', ''), id, level, balance_pico, threshold_pico, $3, $3
from moved where level > was`;

/** The days of use are those of the rollups of a day. The first notice of a model and account stays the only one. */
const retirements = `
with retiring as (
  select * from unnest($1::text[], $2::text[], $3::date[], $4::text[]) as r(route, model, retires_on, replaced_by)
), used as (
  select s.account_id, r.model, max(r.retires_on) as retires_on,
    (array_agg(r.replaced_by order by r.retires_on desc))[1] as replaced_by, array_agg(distinct r.route order by r.route) as routes
  from retiring r join lodestone.usage_series s on s.served_model = r.route
  where exists (select 1 from lodestone.usage_rollups u where u.series = s.id and u.hours = 24 and u.from_hour >= $5)
  group by 1, 2
)
insert into lodestone.retirement_notices
  (id, account_id, model, retires_on, replaced_by, routes, created_at, next_attempt_at)
select '${prefixes.retirement_notices}' || replace(gen_random_uuid()::text, '-', ''), u.account_id, model, retires_on, replaced_by, routes, $6, $6
from used u join lodestone.accounts a on a.id = u.account_id
on conflict (account_id, model) do nothing`;

const namesOfRoutes = `
with ending as (select * from unnest($1::text[], $2::text[]) as r(route, model)),
names as (
  select l.account_id, 'alias/' || l.name as name, e.route from lodestone.aliases l join ending e on e.model = l.canonical_id
    and (l.locode is null or l.provider || '/' || l.canonical_id || '/' || l.locode = e.route)
  union all
  select a.id, entry, e.route from lodestone.accounts a cross join json_array_elements_text(a.fallback_models) as entry
    join ending e on entry = 'auto/' || e.model or entry = e.route
  where a.fallback_models is not null
)
select account_id as "accountId", name, array_agg(distinct route) as routes from names group by 1, 2 order by 1, 2 limit 10000`;

const hourMs = 3_600_000;

export function noticeStore(database: Database): NoticeStore {
  return {
    threshold: (accountId) =>
      database.value('threshold', 'select threshold_pico from lodestone.balance_watch where account_id = $1', [
        accountId,
      ]),

    async setThreshold(accountId, thresholdPico) {
      const text = `insert into lodestone.balance_watch (account_id, threshold_pico) values ($1, $2)
        on conflict (account_id) do update set threshold_pico = excluded.threshold_pico`;
      await database.statement('set-threshold', text, [accountId, thresholdPico.toString()]);
    },

    lookForCrossings: ({ nowMs, everyMs, defaultPico, limit, periods }) =>
      database.transaction(async (_db, client) => {
        const { rowCount: turns } = await client.query(takeTurn, [everyMs]);
        if (turns === 0) return 0;
        const { rowCount } = await client.query(crossings, [defaultPico.toString(), limit, new Date(nowMs)]);
        return (rowCount ?? 0) + (await lookForReached(client, nowMs, periods));
      }),

    take: ({ nowMs, untilMs, limit }) => takeDueNotices(database, [new Date(nowMs), new Date(untilMs), limit]),

    async namesOf(routes) {
      if (routes.length === 0) return [];
      const values = [routes.map(({ route }) => route), routes.map(({ model }) => model)];
      return database.statement('names-of-routes', namesOfRoutes, values);
    },

    async lookForRetirements({ nowMs, sinceMs, routes }) {
      const columns = (['route', 'model', 'date', 'replacedBy'] as const).map((name) => routes.map((one) => one[name]));
      const values = [...columns, Math.floor(sinceMs / hourMs), new Date(nowMs)];
      return database.transaction(async (_db, client) => (await client.query(retirements, values)).rowCount ?? 0);
    },

    async delivered(id, nowMs) {
      const table = tableOf(id);
      const text = `update lodestone.${table} set delivered_at = coalesce(delivered_at, $2), next_attempt_at = null where id = $1`;
      await database.statement(`${table}-delivered`, text, [id, new Date(nowMs)]);
    },

    async partlyDelivered(id, part, nowMs) {
      const table = tableOf(id);
      const column = part === 'sent' ? 'delivered_at' : 'mailed_at';
      const text = `update lodestone.${table} set ${column} = $2 where id = $1`;
      await database.statement(`${table}-${part}`, text, [id, new Date(nowMs)]);
    },

    async tryAgainAt(id, atMs) {
      const table = tableOf(id);
      const text = `update lodestone.${table} set next_attempt_at = $2 where id = $1`;
      await database.statement(`${table}-again`, text, [id, atMs === null ? null : new Date(atMs)]);
    },
  };
}
