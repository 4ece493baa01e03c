/** The history parts of the memory store: they keep what they are given, and sum nothing. */
import type {
  CatalogueLog,
  CatalogueLook,
  CatalogueUpdateStore,
  IncidentRow,
  RecordedChange,
  RouteHistoryStore,
  StoredUpdate,
} from '../../src/storage/store.js';

export function memoryCatalogueLog(): CatalogueLog {
  let state: { digest: string; text: string } | null = null;
  const rows: RecordedChange[] = [];
  return {
    record: async ({ digest, text, atMs, changesSince }) => {
      const changes = state && state.digest !== digest ? changesSince(JSON.parse(state.text)) : [];
      state = { digest, text };
      rows.unshift(...changes.map((change, position) => ({ ...change, atMs, position, digest })));
      return changes.length;
    },
    changes: async ({ limit, offset }) => ({
      data: rows.slice(offset, offset + limit),
      hasMore: rows.length > offset + limit,
    }),
  };
}

export function memoryRouteHistory(): RouteHistoryStore {
  const incidents = new Map<string, IncidentRow>();
  return {
    addFailures: async () => {},
    putIncidents: async (rows) => {
      for (const row of rows) incidents.set(row.id, row);
    },
    forgetIncidents: async () => {},
    incidents: async () => [...incidents.values()],
    windows: async () => [],
    days: async () => [],
  };
}

export function memoryCatalogueUpdates(): CatalogueUpdateStore {
  const rows = new Map<string, StoredUpdate>();
  let used: string | null = null;
  let nextMs = 0;
  let last: CatalogueLook | null = null;
  return {
    kept: async () =>
      [...rows.values()]
        .sort((a, b) => (a.version < b.version ? 1 : -1))
        .map(({ version, part, appliedMs }) => ({ version, part, appliedMs, inUse: version === used })),
    find: async (version = used ?? '') => rows.get(version) ?? null,
    use: async (update, before) => {
      if (before !== used) return false;
      if (update) rows.set(update.version, update);
      used = update?.version ?? null;
      return true;
    },
    takeLook: async (nowMs, everyMs) => {
      if (nextMs > nowMs) return false;
      nextMs = nowMs + everyMs;
      return true;
    },
    reportLook: async (look, againMs = nextMs) => {
      last = look;
      nextMs = againMs;
    },
    lastLook: async () => last,
  };
}
