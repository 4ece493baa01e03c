/** The sign-in part of the memory store: better-auth over its own memory adapter, tokens in a map. */
import { memoryAdapter } from 'better-auth/adapters/memory';
import type { ImportedFrom } from '../../src/domain/organisation.js';
import {
  adminUserId,
  type EndedSessions,
  type PasswordReset,
  type SignInStore,
  type TwoFactorEntry,
  type TwoFactorStore,
} from '../../src/storage/store.js';

interface UserRow {
  id: string;
  email: string;
  name: string;
  status?: string;
  operator?: boolean;
  twoFactor?: boolean;
  linkProvider?: string | null;
  importedFrom?: ImportedFrom | null;
  createdAt: number | Date;
}

interface SessionRow {
  id: string;
  userId: string;
  userAgent?: string | null;
  issuer?: string | null;
  createdAt: Date;
  updatedAt: Date;
  expiresAt: Date;
}

type Tables = Record<string, object[]>;

export const memoryTables = (): Tables => ({ user: [], session: [], account: [], verification: [] });

export type SignInRows = ReturnType<typeof signInRows>;

/** The rows of users as the store of people reads and writes them. */
export function signInRows(tables: Tables) {
  const users = () => tables.user as UserRow[];
  const passwords = () => tables.account as { userId: string; password?: string | null }[];
  return {
    users,
    hasPassword: (id: string) =>
      passwords().some(({ userId, password }) => userId === id && typeof password === 'string'),
    addUser: (user: UserRow) =>
      users().push({ status: 'active', ...user, email: user.email.toLowerCase(), createdAt: new Date(user.createdAt) }),
    updateUser(id: string, change: object) {
      for (const user of users()) if (user.id === id) Object.assign(user, change);
    },
    endSessionsOf({ issuer, subject, sid }: EndedSessions) {
      const before = tables.session as EndedSessions[];
      const isEnded = (row: EndedSessions) =>
        row.issuer === issuer && (subject === null || row.subject === subject) && (sid === null || row.sid === sid);
      tables.session = before.filter((row) => !isEnded(row));
      return before.length - tables.session.length;
    },
    removeUser(id: string) {
      tables.user = users().filter((user) => user.id !== id || user.operator === true);
      tables.session = (tables.session as { userId: string }[]).filter(({ userId }) => userId !== id);
    },
    endSessions(id: string) {
      tables.session = (tables.session as { userId: string }[]).filter(({ userId }) => userId !== id);
    },
  };
}

export function memorySignIn(tables: Tables): SignInStore {
  const rows = signInRows(tables);
  const tokens = new Map<string, { value: string; expiresAt: number }>();
  const resets = new Map<string, PasswordReset>();
  const sessions = () => tables.session as SessionRow[];
  const usable = (tokenHash: string, nowMs: number) => {
    const reset = resets.get(tokenHash);
    return reset && reset.expiresAt > nowMs ? reset : null;
  };
  let kept: string | undefined;
  return {
    adapter: async () => memoryAdapter(tables),
    async secret(candidate) {
      kept ??= candidate;
      return kept;
    },
    async addAdminUser() {
      if (!rows.users().some(({ id }) => id === adminUserId))
        rows.addUser({ id: adminUserId, email: adminUserId, name: '', createdAt: 0 });
    },
    async list() {
      return rows.users().map(({ id, email, operator, twoFactor }) => ({
        ...{ accountId: id, email, operator: operator === true, twoFactor: twoFactor === true },
        hasPassword: rows.hasPassword(id),
      }));
    },
    async keepOnlyToken(identifier, value, expiresAt) {
      for (const [earlier, token] of tokens) if (token.value === value) tokens.delete(earlier);
      tokens.set(identifier, { value, expiresAt });
    },
    async takeToken(identifier, nowMs) {
      const token = tokens.get(identifier);
      tokens.delete(identifier);
      return token && token.expiresAt > nowMs ? token.value : null;
    },
    async addReset(reset) {
      resets.set(reset.tokenHash, reset);
    },
    async findReset(tokenHash, nowMs) {
      return usable(tokenHash, nowMs);
    },
    async takeReset(tokenHash, nowMs) {
      const reset = usable(tokenHash, nowMs);
      resets.delete(tokenHash);
      return reset;
    },
    async endResets(accountId) {
      for (const [hash, reset] of resets) if (reset.accountId === accountId) resets.delete(hash);
    },
    async sessionsOf(personId) {
      return sessions()
        .filter(({ userId }) => userId === personId)
        .map(({ id, userAgent, issuer, createdAt, updatedAt, expiresAt }) => ({
          ...{ id, userAgent: userAgent || null, byProvider: issuer != null },
          ...{ createdAt: +createdAt, lastUsedAt: +updatedAt, expiresAt: +expiresAt },
        }));
    },
    async endSessions(personId, which) {
      const before = sessions();
      tables.session = before.filter(
        ({ id, userId }) => userId !== personId || ('id' in which ? id !== which.id : id === which.keptId),
      );
      return before.length - tables.session.length;
    },
    twoFactor: memoryTwoFactor((id, on) => {
      rows.updateUser(id, { twoFactor: on });
    }),
    async forgetExpired() {},
  };
}

interface MemoryEntry extends TwoFactorEntry {
  lastStep: number;
  codes: Set<string>;
}

function memoryTwoFactor(setUser: (accountId: string, on: boolean) => void): TwoFactorStore {
  const entries = new Map<string, MemoryEntry>();
  return {
    async offer(accountId, secret) {
      if (entries.get(accountId)?.confirmed) return false;
      entries.set(accountId, { secret, confirmed: false, lastStep: 0, codes: new Set() });
      return true;
    },
    find: async (accountId) => entries.get(accountId) ?? null,
    async confirm(accountId, secret, step, codeHashes) {
      const entry = entries.get(accountId);
      if (!entry || entry.confirmed || entry.secret !== secret) return false;
      entries.set(accountId, { secret, confirmed: true, lastStep: step, codes: new Set(codeHashes) });
      setUser(accountId, true);
      return true;
    },
    async useStep(accountId, step) {
      const entry = entries.get(accountId);
      if (!entry?.confirmed || entry.lastStep >= step) return false;
      entry.lastStep = step;
      return true;
    },
    useRecoveryCode: async (accountId, codeHash) => entries.get(accountId)?.codes.delete(codeHash) ?? false,
    recoveryCodesLeft: async (accountId) => entries.get(accountId)?.codes.size ?? 0,
    async remove(accountId) {
      setUser(accountId, false);
      const confirmed = entries.get(accountId)?.confirmed === true;
      entries.delete(accountId);
      return confirmed;
    },
  };
}
