/** Names of models in memory, for unit tests. */
import { namesMax, type StoredName } from '../../src/catalogue/model-name.js';
import type { NameStore } from '../../src/storage/store.js';

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
