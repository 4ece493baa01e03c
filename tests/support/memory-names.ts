/** Names of models and tokens of other systems in memory, for unit tests. */
import { namesMax, type StoredName } from '../../src/catalogue/model-name.js';
import type { ApiKey } from '../../src/domain/account.js';
import type { BroughtStore, NameStore } from '../../src/storage/store.js';

export function memoryNames(): NameStore {
  const rows = new Map<string, { name: StoredName; version: number }>();
  let last = 0;
  return {
    changedSince: async (version) => {
      const changed = [...rows.values()].filter((row) => row.version > Number(version));
      return { names: changed.map(({ name }) => name), total: rows.size, version: String(last) };
    },
    put: async (name, nowMs) => {
      if (!rows.has(name.name) && rows.size >= namesMax) return null;
      const createdAt = rows.get(name.name)?.name.createdAt ?? nowMs;
      const stored = { ...name, createdAt, updatedAt: nowMs };
      rows.set(name.name, { name: stored, version: ++last });
      return stored;
    },
    delete: async (name) => rows.delete(name),
  };
}

export function memoryBrought(rows: Map<string, ApiKey>): BroughtStore {
  const withHash = (hash: Buffer) => [...rows.values()].find((key) => key.hash?.equals(hash));
  return {
    async bring(keys) {
      const isNew = (key: ApiKey) => withHash(key.hash!) === undefined && !!rows.set(key.id, key);
      return new Set(keys.filter(isNew).map(({ id }) => id));
    },
    find: async (hash) => (withHash(hash)?.brought ? withHash(hash)!.id : null),
    any: async () => [...rows.values()].some(({ brought }) => brought),
    openingSince: async (keyId, fromMs) => {
      const key = rows.get(keyId);
      return key && key.createdAt >= fromMs ? (key.openingPico ?? 0n) : 0n;
    },
  };
}
