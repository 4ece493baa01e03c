/** Stores the ledger. At every commit the balance of an account is the sum of its entries. */
import { eq, sql } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { PoolClient } from 'pg';
import { timeOrderedId } from '../../base/ids.js';
import type { LedgerEntry } from '../../domain/ledger-entry.js';
import type { Database } from '../database.js';
import type { LogMembership } from '../log-types.js';
import type { LedgerStore } from '../store.js';
import { settle, UnknownAccount } from './settle.js';
import { accounts, ledgerPosts } from './tables.js';

const columns = (
  table: string,
) => `${table}.id, ${table}.account_id as "accountId", ${table}.created_ms as "createdAt", ${table}.kind,
  ${table}.amount_pico as "amountPico", ${table}.generation_id as "generationId", ${table}.note`;

/**
 * Newest first; a null limit means all. The balance after an entry is today's less everything later. Each half is read
 * backwards along its index, so that only the requested entries are touched.
 */
const newestFirst = `
select ${columns('e')}, a.balance_pico - coalesce(
    sum(e.amount_pico) over (order by e.position desc rows between unbounded preceding and 1 preceding), 0) as "balancePico"
from lodestone.accounts a join (
  (select g.id as position, 'led' || substr(g.id, 4) as id, g.account_id, g.created_ms, 'usage' as kind,
      -g.cost_pico as amount_pico, g.id as generation_id, null as note
    from lodestone.generations g where g.account_id = $1 and g.billed order by g.id desc limit $2)
  union all
  (select position, id, account_id, (extract(epoch from created_at) * 1000)::bigint, kind, amount_pico, null, note
    from lodestone.ledger_posts where account_id = $1 order by position desc limit $2)
) e on e.account_id = a.id
order by e.position desc limit $2`;

/**
 * The same for one kind, or from an entry on. The balance after an entry needs every later entry of any kind, so those are
 * summed up before the page is cut out. This is for paging in the dashboard and not on the request path.
 */
const filtered = `
with entries as (
  select l.*, (extract(epoch from l.created_at) * 1000)::bigint as created_ms, a.balance_pico - coalesce(
    sum(l.amount_pico) over (order by l.position desc rows between unbounded preceding and 1 preceding), 0) as "balancePico"
  from lodestone.ledger l join lodestone.accounts a on a.id = l.account_id where l.account_id = $1
)
select ${columns('entries')}, "balancePico" from entries
where ($3::text is null or position < (select position from entries where id = $3))
  and ($4::text is null or kind = $4)
order by position desc limit $2`;

/** One posted entry. Only what is later than it is read. */
const onePosted = `
select ${columns('p')}, a.balance_pico
    + coalesce((select sum(g.cost_pico) from lodestone.generations g where g.account_id = a.id and g.billed and g.id > p.position), 0)
    - coalesce((select sum(l.amount_pico) from lodestone.ledger_posts l where l.account_id = a.id and l.position > p.position), 0)
    as "balancePico"
from (
  select *, (extract(epoch from created_at) * 1000)::bigint as created_ms, null as generation_id from lodestone.ledger_posts
) p join lodestone.accounts a on a.id = p.account_id
where p.id = $2 and p.account_id = $1`;

const sumsByKind =
  'select kind, sum(amount_pico) as pico from lodestone.ledger_posts where account_id = $1 group by kind';

export function ledgerStore(database: Database, history: Database, membership: () => LogMembership): LedgerStore {
  return {
    post: (entry) => database.transaction((db, client) => postEntry(db, client, entry)),
    async list(accountId, limit, filter) {
      const query =
        filter?.before === undefined && filter?.kind === undefined
          ? { name: 'ledger-list', text: newestFirst, values: [accountId, limit] }
          : {
              name: 'ledger-page',
              text: filtered,
              values: [accountId, limit, filter.before ?? null, filter.kind ?? null],
            };
      return (await history.look((_db, client) => client.query<LedgerEntry>(query))).rows;
    },
    async posted(accountId) {
      const query = { name: 'ledger-posted', text: sumsByKind, values: [accountId] };
      const { rows } = await history.look((_db, client) => client.query<{ kind: string; pico: bigint }>(query));
      const sum = (kind: LedgerEntry['kind']) => rows.find((row) => row.kind === kind)?.pico ?? 0n;
      return { creditPico: sum('credit'), adjustmentPico: sum('adjustment') };
    },
    settle: (rows, offsets = []) => settle(database, rows, offsets, membership()),
    offset: (run) =>
      database.one('journal-offset', 'select run, position, records from lodestone.journal_offsets where run = $1', [
        run,
      ]),
    async removeOffset(run) {
      await database.statement('journal-offset-remove', 'delete from lodestone.journal_offsets where run = $1', [run]);
    },
  };
}

/** Runs inside a transaction of the caller. */
export async function postEntry(
  db: NodePgDatabase,
  client: PoolClient,
  entry: Omit<LedgerEntry, 'balancePico'>,
): Promise<LedgerEntry> {
  const { id, accountId, createdAt, kind, amountPico, note } = entry;
  if (kind === 'usage' || kind === 'statement') throw new TypeError('Usage is settled, not posted.');
  // Locks the account's row first, as `settle` does, so that the two cannot deadlock.
  const [account] = await db
    .select({ balancePico: accounts.balancePico })
    .from(accounts)
    .where(eq(accounts.id, accountId))
    .for('no key update');
  if (!account) throw new UnknownAccount([accountId]);
  const made = await db
    .insert(ledgerPosts)
    .values({ id, position: positionAt(createdAt), accountId, createdAt, kind, amountPico, note })
    .onConflictDoNothing({ target: ledgerPosts.id })
    .returning({ id: ledgerPosts.id });
  // Already posted (a repeated event, or a call repeated after a lost answer): returns the entry and makes no other.
  if (made.length === 0) return posted(client, accountId, id);
  const balancePico = account.balancePico + amountPico;
  await db.update(accounts).set({ balancePico }).where(eq(accounts.id, accountId));
  return { ...entry, generationId: null, balancePico };
}

/** Comparable with a generation's id: the same form, first the time, then the order of posting. */
function positionAt(createdAt: number) {
  const time = `gen-${timeOrderedId(createdAt).slice(0, 10)}`;
  return sql<string>`${time}::text || lpad(nextval('lodestone.ledger_posts_seq')::text, 16, '0')`;
}

async function posted(client: PoolClient, accountId: string, id: string): Promise<LedgerEntry> {
  const { rows } = await client.query<LedgerEntry>(onePosted, [accountId, id]);
  if (!rows[0]) throw new TypeError(`The ledger entry ${id} belongs to another account.`);
  return rows[0];
}
