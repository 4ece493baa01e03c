/** The sign-in part of the memory store: better-auth over its own memory adapter, tokens in a map. */
import { memoryAdapter } from 'better-auth/adapters/memory';
import type { PasswordReset, SignInStore } from '../../src/storage/store.js';

interface UserRow {
  id: string;
  operator?: boolean;
}

export function memorySignIn(): SignInStore {
  const tables: Record<string, object[]> = { user: [], session: [], account: [], verification: [] };
  const tokens = new Map<string, { value: string; expiresAt: number }>();
  const resets = new Map<string, PasswordReset>();
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
    async list() {
      const passwords = tables.account as { userId: string; password?: string | null }[];
      return (tables.user as UserRow[]).map(({ id, operator }) => ({
        accountId: id,
        operator: operator === true,
        hasPassword: passwords.some(({ userId, password }) => userId === id && typeof password === 'string'),
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
    async forgetExpired() {},
  };
}
