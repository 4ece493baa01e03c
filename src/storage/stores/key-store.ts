/** Stores API keys: only their public id and a hash, and after expiry not even the hash. */
import { and, asc, eq, getTableColumns, gt, isNotNull, lte, min, not, or, type SQL } from 'drizzle-orm';
import { type ApiKey, broughtKeptMs, type KeyTerms, openTerms } from '../../domain/account.js';
import type { Database } from '../database.js';
import type { KeyStore } from '../store.js';
import { aliasesInOrder, foldAccounts } from './account-store.js';
import { accounts, aliases, keys } from './tables.js';

const { usagePico: _usage, lastUsedAt: _used, ...keyColumns } = getTableColumns(keys);

type KeyRow = Omit<typeof keys.$inferSelect, 'usagePico' | 'lastUsedAt'>;

function keyOf({ terms, brought, importedFrom, openingPico, ...row }: KeyRow): ApiKey {
  const key = { ...row, terms: readTerms(terms) };
  return brought ? { ...key, brought, importedFrom, openingPico } : key;
}

export function keyStore(database: Database): KeyStore {
  return {
    create: ({ terms, ...key }, keysMax) =>
      database.transaction(async (db) => {
        // The lock on the account's row orders parallel calls: the second counts what the first has created.
        await db.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, key.accountId)).for('update');
        if ((await db.$count(keys, eq(keys.accountId, key.accountId))) >= keysMax) return false;
        await db.insert(keys).values({ ...key, terms: storedTerms(terms) });
        return true;
      }),

    async findWithAccount(keyId) {
      const rows = await database.query((db) =>
        db
          .select({ key: keyColumns, account: accounts, alias: aliases })
          .from(keys)
          .innerJoin(accounts, eq(accounts.id, keys.accountId))
          .leftJoin(aliases, eq(aliases.accountId, accounts.id))
          .where(eq(keys.id, keyId))
          .orderBy(...aliasesInOrder),
      );
      const [account] = foldAccounts(rows);
      return rows[0] && account ? { key: keyOf(rows[0].key), account } : null;
    },

    async list(accountId) {
      const rows = await database.query((db) =>
        db
          .select(keyColumns)
          .from(keys)
          .where(eq(keys.accountId, accountId))
          .orderBy(asc(keys.createdAt), asc(keys.id)),
      );
      return rows.map(keyOf);
    },

    update: (accountId, keyId, { name, terms }) =>
      database.transaction(async (db) => {
        const isKey = and(eq(keys.id, keyId), eq(keys.accountId, accountId));
        // The lock on the row orders parallel changes: the second one starts from the result of the first.
        const [before] = await db.select(keyColumns).from(keys).where(isKey).for('update');
        if (!before) return null;
        const key = keyOf(before);
        const changed = { ...key, name: name ?? key.name, terms: { ...key.terms, ...terms } };
        await db
          .update(keys)
          .set({ name: changed.name, terms: storedTerms(changed.terms) })
          .where(isKey);
        return changed;
      }),

    async delete(accountId, keyId) {
      const gone = await database.query((db) =>
        db
          .delete(keys)
          .where(and(eq(keys.id, keyId), eq(keys.accountId, accountId)))
          .returning({ id: keys.id }),
      );
      return gone.length > 0;
    },

    eraseExpired: (nowMs) =>
      database.transaction(async (db, client) => {
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
        const where = and(isNotNull(keys.hash), gt(keys.expiresAt, nowMs - keptMs), ofThese);
        const rows = await database.query((db) =>
          db
            .select({ at: min(keys.expiresAt) })
            .from(keys)
            .where(where),
        );
        const at = rows[0]?.at ?? null;
        return at === null ? null : at + keptMs;
      };
      const own = await next(0, not(keys.brought));
      const brought = await next(broughtKeptMs, eq(keys.brought, true));
      return own === null || brought === null ? (own ?? brought) : Math.min(own, brought);
    },

    async usage(keyId) {
      const rows = await database.query((db) =>
        db.select({ usagePico: keys.usagePico }).from(keys).where(eq(keys.id, keyId)),
      );
      return rows[0]?.usagePico ?? 0n;
    },

    async figures(accountId) {
      const { id, usagePico, lastUsedAt } = keys;
      const rows = await database.query((db) =>
        db.select({ id, usagePico, lastUsedAt }).from(keys).where(eq(keys.accountId, accountId)),
      );
      return new Map(rows.map((row) => [row.id, { usagePico: row.usagePico, lastUsedAt: row.lastUsedAt }]));
    },

    async noteUses(uses) {
      const times = [...uses.values()].map((ms) => new Date(ms).toISOString());
      await database.statement('note-key-uses', noteUsesSql, [[...uses.keys()], times]);
    },
  };
}

/** In the order of the ids, so that two processes cannot deadlock. */
const noteUsesSql = `
update lodestone.keys k set last_used_at = t.at
from (
  select k.id, t.at from unnest($1::text[], $2::timestamptz[]) as t(id, at) join lodestone.keys k on k.id = t.id
  where k.last_used_at is null or k.last_used_at < t.at order by k.id for no key update of k
) t where k.id = t.id`;

/** The terms of a key as the store keeps them: JSON with amounts as text, null for a key without restrictions. */
export function storedTerms(terms: KeyTerms): unknown {
  if (Object.entries(openTerms).every(([name, value]) => terms[name as keyof KeyTerms] === value)) return null;
  return { ...terms, limitPico: terms.limitPico === null ? null : terms.limitPico.toString() };
}

/** A key whose terms cannot be read is disabled: it must not do more than it was allowed. */
function readTerms(stored: unknown): KeyTerms {
  if (stored === null || stored === undefined) return openTerms;
  const { limitPico = null, ...rest } = stored as Record<string, unknown>;
  const isAmount = limitPico === null || (typeof limitPico === 'string' && /^\d+$/.test(limitPico));
  if (typeof stored !== 'object' || !isAmount) return { ...openTerms, disabled: true };
  return { ...openTerms, ...rest, limitPico: limitPico === null ? null : BigInt(limitPico as string) };
}
