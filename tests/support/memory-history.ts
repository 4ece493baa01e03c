/** The history parts of the memory store: they keep what they are given, and sum nothing. */
import type { CatalogueLog, IncidentRow, RecordedChange, RouteHistoryStore } from '../../src/storage/store.js';

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
  };
}
