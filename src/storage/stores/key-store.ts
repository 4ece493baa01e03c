/** Stores API keys: only their public id and a hash, and after expiry not even the hash. */
import { and, asc, eq, gt, inArray, isNotNull, lte, min, not, or, type SQL, sql } from 'drizzle-orm';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { PoolClient } from 'pg';
import { broughtKeptMs, workloadKeptMs } from '../../domain/account.js';
import type { Database } from '../database.js';
import type { KeyStore } from '../store.js';
import { accountColumns, aliasesInOrder, foldAccounts, lockAccount } from './account-store.js';
import { keyColumns, keyOf, storedTerms } from './key-rows.js';
import { besideKey } from './project-store.js';
import { accounts, aliases, keys, projects, withoutNul } from './tables.js';
import { removeEnded } from './workload-store.js';

const allKeys = 2 ** 31 - 1;

export function keyStore(database: Database): KeyStore {
  return {
    create: ({ terms, ...key }, keysMax) =>
      database.transaction(async (db) => {
        await lockAccount(db, key.accountId);
        const { projectId } = key;
        if (projectId !== null && (await db.$count(projects, eq(projects.id, projectId))) === 0) return 'project_gone';
        if ((await db.$count(keys, besideKey({ ...key, terms }))) >= keysMax) return 'limit';
        await db.insert(keys).values({ ...key, terms: storedTerms(terms) });
        return 'created';
      }),

    holderNamed(accountId, shownId) {
      // Who came with an account has its id in the store.
      const stored = [shownId, shownId.replace(/^per-/, 'acct-')];
      return database.value('find-holder', holderSql, [accountId, stored]);
    },

    async findWithAccount(keyId) {
      const rows = await database.query((db) =>
        db
          .select({ key: keyColumns, account: accountColumns, alias: aliases })
          .from(keys)
          .innerJoin(accounts, eq(accounts.id, keys.accountId))
          .leftJoin(aliases, eq(aliases.accountId, accounts.id))
          .where(eq(keys.id, keyId))
          .orderBy(...aliasesInOrder),
      );
      const [account] = foldAccounts(rows);
      return rows[0] && account ? { key: keyOf(rows[0].key), account } : null;
    },

    async list(accountId, { limit = allKeys, after } = {}) {
      const place = after && sql`${new Date(after.createdAt).toISOString()}::timestamptz, ${after.id}`;
      const isLater = place && sql`(${keys.createdAt}, ${keys.id}) > (${place})`;
      const rows = await database.query((db) =>
        db
          .select(keyColumns)
          .from(keys)
          .where(and(eq(keys.accountId, accountId), isLater))
          .orderBy(asc(keys.createdAt), asc(keys.id))
          .limit(limit),
      );
      return rows.map(keyOf);
    },

    update: (accountId, keyId, { name, terms, holderId }) =>
      database.transaction(async (db) => {
        const isKey = and(eq(keys.id, keyId), eq(keys.accountId, accountId));
        // The lock on the row orders parallel changes: the second one starts from the result of the first.
        const [before] = await db.select(keyColumns).from(keys).where(isKey).for('update');
        if (!before) return null;
        const key = keyOf(before);
        const enables = key.terms.disabled && terms?.disabled === false;
        // A key that was disabled because its holder left belongs to the project from then on.
        const kept = enables && !(await isMember(db, accountId, key.holderId)) ? null : key.holderId;
        const changed = {
          ...{ ...key, name: name ?? key.name, terms: { ...key.terms, ...terms } },
          holderId: holderId === undefined ? kept : holderId,
        };
        await db
          .update(keys)
          .set({ name: changed.name, terms: storedTerms(changed.terms), holderId: changed.holderId })
          .where(isKey);
        return changed;
      }),

    delete(accountId, keyId) {
      const text = 'delete from lodestone.keys where account_id = $1 and id = $2 returning created_at';
      return database.value('delete-key', text, [accountId, withoutNul(keyId)]);
    },

    eraseExpired: (nowMs) =>
      database.transaction(async (db, client) => {
        await removeEnded(client, nowMs);
        const due = or(
          and(not(keys.brought), lte(keys.expiresAt, nowMs)),
          and(keys.brought, lte(keys.expiresAt, nowMs - broughtKeptMs)),
        );
        const where = and(isNotNull(keys.hash), due);
        const erased = await db.update(keys).set({ hash: null }).where(where).returning({ id: keys.id });
        const ids = erased.map(({ id }) => id);
        if (ids.length > 0) await client.query('delete from lodestone.brought_tokens where key_id = any($1)', [ids]);
        return erased.length;
      }),

    async nextExpiry(nowMs) {
      const next = async (keptMs: number, ofThese: SQL | undefined) => {
        const where = and(gt(keys.expiresAt, nowMs - keptMs), ofThese);
        const rows = await database.query((db) =>
          db
            .select({ at: min(keys.expiresAt) })
            .from(keys)
            .where(where),
        );
        const at = rows[0]?.at ?? null;
        return at === null ? null : at + keptMs;
      };
      const due = [
        await next(0, and(isNotNull(keys.hash), not(keys.brought))),
        await next(broughtKeptMs, and(isNotNull(keys.hash), eq(keys.brought, true))),
        await next(workloadKeptMs, isNotNull(keys.workload)),
      ].filter((at) => at !== null);
      return due.length === 0 ? null : Math.min(...due);
    },

    async usage(keyId) {
      const text = 'select usage_pico from lodestone.keys where id = $1';
      return (await database.value<bigint>('key-usage', text, [keyId])) ?? 0n;
    },

    async figures(accountId, keyIds) {
      const isListed = keyIds && inArray(keys.id, [...keyIds]);
      const { id, usagePico, lastUsedAt } = keys;
      const rows = await database.query((db) =>
        db
          .select({ id, usagePico, lastUsedAt })
          .from(keys)
          .where(and(eq(keys.accountId, accountId), isListed)),
      );
      return new Map(rows.map((row) => [row.id, { usagePico: row.usagePico, lastUsedAt: row.lastUsedAt }]));
    },

    async noteUses(uses) {
      const times = [...uses.values()].map((ms) => new Date(ms).toISOString());
      await database.statement('note-key-uses', noteUsesSql, [[...uses.keys()], times]);
    },
  };
}

async function isMember(db: NodePgDatabase, accountId: string, personId: string | null): Promise<boolean> {
  if (personId === null) return false;
  const found = await db.execute(
    sql`select 1 from lodestone.memberships where account_id = ${accountId} and person_id = ${personId} limit 1`,
  );
  return found.rows.length > 0;
}

/** Disables the keys that a person holds in an account, inside a transaction. Returns their ids, without those disabled before. */
export async function disableHeldKeys(client: PoolClient, accountId: string, personId: string): Promise<string[]> {
  const db = drizzle(client);
  const held = await db
    .select(keyColumns)
    .from(keys)
    .where(and(eq(keys.accountId, accountId), eq(keys.holderId, personId)))
    .orderBy(asc(keys.id))
    .for('update');
  const active = held.map(keyOf).filter(({ terms }) => !terms.disabled);
  for (const { id, terms } of active) {
    await db
      .update(keys)
      .set({ terms: storedTerms({ ...terms, disabled: true }) })
      .where(eq(keys.id, id));
  }
  return active.map(({ id }) => id);
}
const holderSql = 'select person_id from lodestone.memberships where account_id = $1 and person_id = any($2) limit 1';

/** In the order of the ids, so that two processes cannot deadlock. */
const noteUsesSql = `
update lodestone.keys k set last_used_at = t.at
from (
  select k.id, t.at from unnest($1::text[], $2::timestamptz[]) as t(id, at) join lodestone.keys k on k.id = t.id
  where k.last_used_at is null or k.last_used_at < t.at order by k.id for no key update of k
) t where k.id = t.id`;
