/** Stores the second factor of accounts. Each code works once, also for several calls at the same time. */
import { and, count, eq, isNotNull, isNull, lt, sql } from 'drizzle-orm';
import type { Database } from '../database.js';
import type { TwoFactorStore } from '../store.js';
import { recoveryCodes, twoFactor, user } from './sign-in-tables.js';

export function twoFactorStore(database: Database): TwoFactorStore {
  return {
    async offer(accountId, secret) {
      const kept = await database.query((db) =>
        db
          .insert(twoFactor)
          .values({ accountId, secret })
          .onConflictDoUpdate({ target: twoFactor.accountId, set: { secret }, setWhere: isNull(twoFactor.confirmedAt) })
          .returning({ accountId: twoFactor.accountId }),
      );
      return kept.length > 0;
    },

    async find(accountId) {
      const [row] = await database.query((db) => db.select().from(twoFactor).where(eq(twoFactor.accountId, accountId)));
      return row ? { secret: row.secret, confirmed: row.confirmedAt !== null } : null;
    },

    confirm: (accountId, secret, step, codeHashes) =>
      database.transaction(async (db) => {
        const confirmed = await db
          .update(twoFactor)
          .set({ confirmedAt: sql`now()`, lastStep: step })
          .where(and(eq(twoFactor.accountId, accountId), eq(twoFactor.secret, secret), isNull(twoFactor.confirmedAt)))
          .returning({ accountId: twoFactor.accountId });
        if (confirmed.length === 0) return false;
        await db.insert(recoveryCodes).values(codeHashes.map((codeHash) => ({ accountId, codeHash })));
        await db.update(user).set({ twoFactor: true }).where(eq(user.id, accountId));
        return true;
      }),

    async useStep(accountId, step) {
      const used = await database.query((db) =>
        db
          .update(twoFactor)
          .set({ lastStep: step })
          .where(
            and(eq(twoFactor.accountId, accountId), lt(twoFactor.lastStep, step), isNotNull(twoFactor.confirmedAt)),
          )
          .returning({ accountId: twoFactor.accountId }),
      );
      return used.length > 0;
    },

    async useRecoveryCode(accountId, codeHash) {
      const used = await database.query((db) =>
        db
          .delete(recoveryCodes)
          .where(and(eq(recoveryCodes.accountId, accountId), eq(recoveryCodes.codeHash, codeHash)))
          .returning({ codeHash: recoveryCodes.codeHash }),
      );
      return used.length > 0;
    },

    async recoveryCodesLeft(accountId) {
      const [row] = await database.query((db) =>
        db.select({ left: count() }).from(recoveryCodes).where(eq(recoveryCodes.accountId, accountId)),
      );
      return row?.left ?? 0;
    },

    remove: (accountId) =>
      database.transaction(async (db) => {
        const removed = await db
          .delete(twoFactor)
          .where(eq(twoFactor.accountId, accountId))
          .returning({ confirmedAt: twoFactor.confirmedAt });
        await db.update(user).set({ twoFactor: false }).where(eq(user.id, accountId));
        return removed.some(({ confirmedAt }) => confirmedAt !== null);
      }),
  };
}
