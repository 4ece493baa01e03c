/** Stores API keys: only their public id and a hash, and after expiry not even the hash. */
import { and, asc, eq, getTableColumns, gt, isNotNull, lte, min } from 'drizzle-orm';
import type { Database } from '../database.js';
import type { KeyStore } from '../store.js';
import { aliasesInOrder, foldAccounts } from './account-store.js';
import { accounts, aliases, keys } from './tables.js';

const { usagePico: _, ...keyColumns } = getTableColumns(keys);

export function keyStore(database: Database): KeyStore {
  return {
    create: ({ id, accountId, name, lastFour, hash, expiresAt, createdAt }, keysMax) =>
      database.transaction(async (db) => {
        // The lock on the account's row orders parallel calls: the second counts what the first has created.
        await db.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, accountId)).for('update');
        if ((await db.$count(keys, eq(keys.accountId, accountId))) >= keysMax) return false;
        await db.insert(keys).values({ id, accountId, name, lastFour, hash, expiresAt, createdAt });
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
      return rows[0] && account ? { key: rows[0].key, account } : null;
    },

    list: (accountId) =>
      database.query((db) =>
        db
          .select(keyColumns)
          .from(keys)
          .where(eq(keys.accountId, accountId))
          .orderBy(asc(keys.createdAt), asc(keys.id)),
      ),

    async delete(accountId, keyId) {
      const gone = await database.query((db) =>
        db
          .delete(keys)
          .where(and(eq(keys.id, keyId), eq(keys.accountId, accountId)))
          .returning({ id: keys.id }),
      );
      return gone.length > 0;
    },

    async eraseExpired(nowMs) {
      const erased = await database.query((db) =>
        db
          .update(keys)
          .set({ hash: null })
          .where(and(isNotNull(keys.hash), lte(keys.expiresAt, nowMs)))
          .returning({ id: keys.id }),
      );
      return erased.length;
    },

    async nextExpiry(nowMs) {
      const rows = await database.query((db) =>
        db
          .select({ at: min(keys.expiresAt) })
          .from(keys)
          .where(and(isNotNull(keys.hash), gt(keys.expiresAt, nowMs))),
      );
      return rows[0]?.at ?? null;
    },

    async usage(keyId) {
      const rows = await database.query((db) =>
        db.select({ usagePico: keys.usagePico }).from(keys).where(eq(keys.id, keyId)),
      );
      return rows[0]?.usagePico ?? 0n;
    },

    async usages(accountId) {
      const rows = await database.query((db) =>
        db.select({ id: keys.id, usagePico: keys.usagePico }).from(keys).where(eq(keys.accountId, accountId)),
      );
      return new Map(rows.map(({ id, usagePico }) => [id, usagePico]));
    },
  };
}
