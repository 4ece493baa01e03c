/** Stores the aliases of an account. */
import { eq } from 'drizzle-orm';
import type { Database } from '../database.js';
import type { AliasStore } from '../store.js';
import { lockAccount } from './account-store.js';
import { aliases, withoutNul } from './tables.js';

export function aliasStore(database: Database): AliasStore {
  return {
    create: (accountId, { name, provider, canonicalId, locode, createdAt, updatedAt }, limit) =>
      database.transaction(async (db) => {
        await lockAccount(db, accountId);
        const taken = await db.select({ name: aliases.name }).from(aliases).where(eq(aliases.accountId, accountId));
        if (taken.some((alias) => alias.name === name)) return 'exists';
        if (taken.length >= limit) return 'limit';
        await db.insert(aliases).values({ accountId, name, provider, canonicalId, locode, createdAt, updatedAt });
        return 'created';
      }),

    replace: (accountId, { name, provider, canonicalId, locode, updatedAt }) =>
      database.hasRow(
        'replace-alias',
        `update lodestone.aliases set provider = $3, canonical_id = $4, locode = $5, updated_at = $6
         where account_id = $1 and name = $2 returning name`,
        [accountId, withoutNul(name), provider, canonicalId, locode, new Date(updatedAt)],
      ),

    delete(accountId, name) {
      const text = 'delete from lodestone.aliases where account_id = $1 and name = $2 returning name';
      return database.hasRow('delete-alias', text, [accountId, withoutNul(name)]);
    },
  };
}
