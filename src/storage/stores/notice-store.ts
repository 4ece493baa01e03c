/**
 * Finds low balances in PostgreSQL with one query over all accounts, off the request path. Each crossing makes one notice in
 * a whole fleet.
 */

import type { BalanceNotice, NoticeStore } from '../../domain/notice.js';
import type { Database } from '../database.js';

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
select 'ntc-' || replace(gen_random_uuid()::text, '-', ''), id, level, balance_pico, threshold_pico, $3, $3
from moved where level > was`;

const takeDue = `
update lodestone.balance_notices n set attempts = attempts + 1, next_attempt_at = $2
from lodestone.accounts a
where a.id = n.account_id and n.id in (
  select id from lodestone.balance_notices where next_attempt_at <= $1 order by next_attempt_at limit $3
  for update skip locked)
returning n.id, n.account_id, a.email, n.level, n.balance_pico, n.threshold_pico,
  (extract(epoch from n.created_at) * 1000)::bigint as created_ms, n.attempts`;

interface NoticeRow {
  id: string;
  account_id: string;
  email: string;
  level: number;
  balance_pico: string;
  threshold_pico: string;
  created_ms: string;
  attempts: number;
}

export function noticeStore(database: Database): NoticeStore {
  return {
    async threshold(accountId) {
      const text = 'select threshold_pico from lodestone.balance_watch where account_id = $1';
      const rows = await database.statement<{ threshold_pico: string | null }>('threshold', text, [accountId]);
      const found = rows[0]?.threshold_pico ?? null;
      return found === null ? null : BigInt(found);
    },

    async setThreshold(accountId, thresholdPico) {
      const text = `insert into lodestone.balance_watch (account_id, threshold_pico) values ($1, $2)
        on conflict (account_id) do update set threshold_pico = excluded.threshold_pico`;
      await database.statement('set-threshold', text, [accountId, thresholdPico.toString()]);
    },

    lookForCrossings: ({ nowMs, everyMs, defaultPico, limit }) =>
      database.transaction(async (_db, client) => {
        const { rowCount: turns } = await client.query(takeTurn, [everyMs]);
        if (turns === 0) return 0;
        const { rowCount } = await client.query(crossings, [defaultPico.toString(), limit, new Date(nowMs)]);
        return rowCount ?? 0;
      }),

    async take({ nowMs, untilMs, limit }) {
      const values = [new Date(nowMs), new Date(untilMs), limit];
      return (await database.statement<NoticeRow>('take-notices', takeDue, values)).map(noticeOf);
    },

    async delivered(id, nowMs) {
      const text = 'update lodestone.balance_notices set delivered_at = $2, next_attempt_at = null where id = $1';
      await database.statement('notice-delivered', text, [id, new Date(nowMs)]);
    },

    async tryAgainAt(id, atMs) {
      const text = 'update lodestone.balance_notices set next_attempt_at = $2 where id = $1';
      await database.statement('notice-again', text, [id, atMs === null ? null : new Date(atMs)]);
    },
  };
}

function noticeOf(row: NoticeRow): BalanceNotice {
  return {
    id: row.id,
    accountId: row.account_id,
    email: row.email,
    level: row.level === 2 ? 'exhausted' : 'low',
    balancePico: BigInt(row.balance_pico),
    thresholdPico: BigInt(row.threshold_pico),
    createdAt: Number(row.created_ms),
    attempts: row.attempts,
  };
}
