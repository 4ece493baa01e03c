/** Stores users and sessions: better-auth's tables through its own adapter, and a few queries beside it. */
import { and, desc, eq, gt, isNotNull, lte, ne, or } from 'drizzle-orm';
import type { Database } from '../database.js';
import { adminUserId } from '../sign-in-types.js';
import type { PasswordReset, SignInStore } from '../store.js';
import * as tables from './sign-in-tables.js';
import { accounts } from './tables.js';
import { twoFactorStore } from './two-factor-store.js';

const { user, session, account, verification } = tables;

export function signInStore(database: Database): SignInStore {
  return {
    async adapter() {
      // Loaded when somebody signs in, so that a gateway without dashboard users does not pay for it.
      const { drizzleAdapter } = await import('better-auth/adapters/drizzle');
      const schema = { user, session, account, verification };
      return drizzleAdapter(database.builder, { provider: 'pg', schema, transaction: true });
    },

    async secret(candidate) {
      const keep = 'insert into lodestone.sign_in_secret (secret) values ($1) on conflict do nothing';
      await database.statement('keep-secret', keep, [candidate]);
      return (await database.value('kept-secret', 'select secret from lodestone.sign_in_secret', [])) ?? candidate;
    },

    async addAdminUser() {
      const now = new Date();
      // No email address looks like this, so nobody can be invited as it.
      const row = { id: adminUserId, email: adminUserId, name: '', createdAt: now, updatedAt: now };
      await database.query((db) => db.insert(user).values(row).onConflictDoNothing());
    },

    async list() {
      const rows = await database.query((db) =>
        db
          .select({
            accountId: user.id,
            email: user.email,
            operator: user.operator,
            twoFactor: user.twoFactor,
            password: account.password,
          })
          .from(user)
          .leftJoin(account, and(eq(account.userId, user.id), isNotNull(account.password))),
      );
      return rows.map(({ password, ...row }) => ({ ...row, hasPassword: password !== null }));
    },

    async keepOnlyToken(identifier, value, expiresAt) {
      const now = new Date();
      await database.transaction(async (db) => {
        // The lock on the account's row orders parallel calls: only the token of the last one is left.
        await db.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, value)).for('update');
        await db.delete(verification).where(eq(verification.value, value));
        await db.insert(verification).values({
          ...{ id: identifier, identifier, value },
          ...{ expiresAt: new Date(expiresAt), createdAt: now, updatedAt: now },
        });
      });
    },

    async takeToken(identifier, nowMs) {
      const [taken] = await database.query((db) =>
        db.delete(verification).where(eq(verification.identifier, identifier)).returning(),
      );
      return taken && taken.expiresAt.getTime() > nowMs ? taken.value : null;
    },

    async addReset({ tokenHash, accountId, sentBy, expiresAt }) {
      await database.statement(
        'add-reset',
        'insert into lodestone.password_resets (token_hash, account_id, sent_by, expires_at) values ($1, $2, $3, $4)',
        [tokenHash, accountId, sentBy, new Date(expiresAt)],
      );
    },

    async findReset(tokenHash, nowMs) {
      const text = `select ${resetColumns} from lodestone.password_resets where token_hash = $1`;
      return usable(await database.one('reset', text, [tokenHash]), nowMs);
    },

    async takeReset(tokenHash, nowMs) {
      const text = `delete from lodestone.password_resets where token_hash = $1 returning ${resetColumns}`;
      return usable(await database.one('take-reset', text, [tokenHash]), nowMs);
    },

    async endResets(accountId) {
      await database.statement('end-resets', 'delete from lodestone.password_resets where account_id = $1', [
        accountId,
      ]);
    },

    async sessionsOf(personId, nowMs) {
      const isOpen = and(eq(session.userId, personId), gt(session.expiresAt, new Date(nowMs)));
      const rows = await database.query((db) =>
        db.select().from(session).where(isOpen).orderBy(desc(session.createdAt), session.id),
      );
      return rows.map(({ id, userAgent, issuer, createdAt, updatedAt, expiresAt, endsAt }) => ({
        ...{ id, userAgent: userAgent || null, byProvider: issuer !== null },
        ...{ createdAt: createdAt.getTime(), lastUsedAt: updatedAt.getTime() },
        expiresAt: Math.min(expiresAt.getTime(), endsAt?.getTime() ?? Number.POSITIVE_INFINITY),
      }));
    },

    async endSessions(personId, which) {
      const one = 'id' in which ? eq(session.id, which.id) : ne(session.id, which.keptId);
      const ended = await database.query((db) =>
        db
          .delete(session)
          .where(and(eq(session.userId, personId), one))
          .returning({ id: session.id }),
      );
      return ended.length;
    },

    twoFactor: twoFactorStore(database),

    async forgetExpired(nowMs) {
      const now = new Date(nowMs);
      await database.query((db) => db.delete(session).where(or(lte(session.expiresAt, now), lte(session.endsAt, now))));
      await database.query((db) => db.delete(verification).where(lte(verification.expiresAt, now)));
      await database.statement('forget-resets', 'delete from lodestone.password_resets where expires_at <= $1', [now]);
    },
  };
}

const resetColumns =
  'token_hash as "tokenHash", account_id as "accountId", sent_by as "sentBy", expires_at as "expiresAt"';

function usable(reset: PasswordReset | null, nowMs: number): PasswordReset | null {
  return reset && reset.expiresAt > nowMs ? reset : null;
}
