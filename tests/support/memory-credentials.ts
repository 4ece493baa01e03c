/** Credentials of customers in memory. */
import { type CredentialState, noCredentials, type OwnCredential, overlap } from '../../src/domain/credential.js';
import type { CredentialStore } from '../../src/storage/store.js';

interface Row {
  credential: OwnCredential;
  state: CredentialState;
}

/** `changed` is called with the credentials that an account then has. */
export function memoryCredentials(
  changed: (accountId: string, credentials: readonly OwnCredential[]) => void = () => {},
): CredentialStore {
  const rows = new Map<string, Row>();
  let current: string | null = null;
  const of = (accountId: string) => [...rows.values()].filter(({ credential }) => credential.accountId === accountId);
  const announce = (accountId: string) => {
    const own = of(accountId).map(({ credential }) => credential);
    changed(accountId, own.length === 0 ? noCredentials : own);
  };
  const collides = (one: OwnCredential, other: OwnCredential) => {
    if (one.id === other.id || one.provider !== other.provider || one.projectId !== other.projectId) return false;
    if (one.models === null || other.models === null) return one.models === other.models;
    return overlap(one.models, other.models);
  };
  return {
    async create(credential, limit) {
      const own = of(credential.accountId);
      if (own.length >= limit) return 'limit';
      if (own.some((row) => collides(credential, row.credential))) return 'exists';
      if (credential.secret.keyId !== current) return 'key_changed';
      const state = { status: 'unchecked' as const, reason: null, since: credential.createdAt, lastUsedAt: null };
      rows.set(credential.id, { credential, state });
      announce(credential.accountId);
      return 'created';
    },
    list: async (accountId) => of(accountId),
    find: async (accountId, id) => of(accountId).find(({ credential }) => credential.id === id) ?? null,
    async update(accountId, id, change, nowMs) {
      const row = of(accountId).find(({ credential }) => credential.id === id);
      if (!row) return 'gone';
      const next = { ...row.credential, ...change };
      if (of(accountId).some(({ credential }) => collides(next, credential))) return 'exists';
      if (change.secret && change.secret.keyId !== current) return 'key_changed';
      row.credential = change.secret ? { ...next, revision: next.revision + 1 } : next;
      if (change.secret) row.state = { ...row.state, status: 'unchecked', reason: null, since: nowMs };
      announce(accountId);
      return 'changed';
    },
    async delete(accountId, id) {
      const isGone = rows.get(id)?.credential.accountId === accountId && rows.delete(id);
      announce(accountId);
      return isGone;
    },
    async note(sightings) {
      for (const { id, revision, status, reason, atMs, lastUsedAt } of sightings) {
        const row = rows.get(id);
        if (!row || row.credential.revision !== revision) continue;
        const since = status === null || status === row.state.status ? row.state.since : atMs;
        row.state = { ...row.state, ...(status && { status, reason }), since, lastUsedAt };
      }
    },
    async keysInUse() {
      const used = new Map<string, number>();
      for (const { credential } of rows.values()) {
        used.set(credential.secret.keyId, (used.get(credential.secret.keyId) ?? 0) + 1);
      }
      return used;
    },
    ofKeys: async (keyIds) =>
      [...rows.values()]
        .filter(({ credential }) => keyIds.includes(credential.secret.keyId))
        .map(({ credential: { id, revision } }) => ({ id, revision })),
    currentKey: async () => current,
    async setCurrentKey(id) {
      current = id;
    },
    wrappedOtherwise: async (keyId, limit, after) =>
      [...rows.values()]
        .map(({ credential: { id, accountId, secret } }) => ({ id, accountId, ...secret }))
        .filter((row) => row.keyId !== keyId && row.id > after)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit),
    async rewrap(from, to) {
      const row = rows.get(from.id);
      if (row?.credential.secret.wrapped !== from.wrapped) return false;
      row.credential = { ...row.credential, secret: to };
      announce(from.accountId);
      return true;
    },
  };
}
