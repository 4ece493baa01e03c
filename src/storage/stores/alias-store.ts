/** Stores the aliases of an account. */
import { and, eq } from 'drizzle-orm';
import type { Database } from '../database.js';
import type { AliasStore } from '../store.js';
import { accounts, aliases } from './tables.js';

export function aliasStore(database: Database): AliasStore {
  return {
    create: (accountId, { name, provider, canonicalId, locode, createdAt, updatedAt }, limit) =>
      database.transaction(async (db) => {
        // The lock on the account's row orders parallel calls: the second counts what the first has created.
        await db.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, accountId)).for('update');
        const taken = await db.select({ name: aliases.name }).from(aliases).where(eq(aliases.accountId, accountId));
        if (taken.some((alias) => alias.name === name)) return 'exists';
        if (taken.length >= limit) return 'limit';
        await db.insert(aliases).values({ accountId, name, provider, canonicalId, locode, createdAt, updatedAt });
        return 'created';
      }),

    async replace(accountId, { name, provider, canonicalId, locode, updatedAt }) {
      const changed = await database.query((db) =>
        db
          .update(aliases)
          .set({ provider, canonicalId, locode, updatedAt })
          .where(and(eq(aliases.accountId, accountId), eq(aliases.name, name)))
          .returning({ name: aliases.name }),
      );
      return changed.length > 0;
    },

    async delete(accountId, name) {
      const gone = await database.query((db) =>
        db
          .delete(aliases)
          .where(and(eq(aliases.accountId, accountId), eq(aliases.name, name)))
          .returning({ name: aliases.name }),
      );
      return gone.length > 0;
    },
  };
}
