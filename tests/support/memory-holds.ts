/** In memory: the holds of routes, and models that are off. */
import type { ModelAvailability } from '../../src/catalogue/route.js';
import type { Generation } from '../../src/domain/generation.js';
import type { AvailabilityStore, HoldRecord, HoldStore } from '../../src/storage/store.js';

interface Rows {
  readonly holdRows: Map<string, HoldRecord>;
  readonly generationRows: ReadonlyMap<string, Generation>;
}

export function memoryHolds(rows: Rows, answer: <T>(read: () => T) => Promise<T>): HoldStore {
  return {
    since: (utcDay) => answer(() => [...rows.holdRows.values()].filter((row) => row.utcDay >= utcDay)),
    put: (record) => answer(() => void rows.holdRows.set(`${record.utcDay} ${record.routeId}`, { ...record })),
    tokensBetween: (fromMs, toMs) =>
      answer(() => {
        const tokens = new Map<string, number>();
        for (const row of rows.generationRows.values()) {
          if (!row.billed || row.servedModel === null || row.createdAt < fromMs || row.createdAt >= toMs) continue;
          const before = tokens.get(row.servedModel) ?? 0;
          tokens.set(row.servedModel, before + row.promptTokens + row.completionTokens);
        }
        return tokens;
      }),
  };
}

export function memoryAvailability(
  rows: Map<string, ModelAvailability>,
  answer: <T>(read: () => T) => Promise<T>,
): AvailabilityStore {
  return {
    all: () => answer(() => new Map(rows)),
    set: (canonicalId, availability) => answer(() => void rows.set(canonicalId, availability)),
  };
}
