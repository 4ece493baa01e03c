/** Checks an update by itself as `lodestone catalogue check --strict` checks files: faults, sources and dates, retired routes. */
import { checkDates } from './life-check.js';
import { faultsOf, loadCatalogue } from './load-catalogue.js';
import type { DialectList } from './route.js';
import { buildSnapshot } from './snapshot.js';
import { checkSources } from './source-check.js';
import type { CatalogueUpdate } from './update.js';

export async function strictFaults(
  update: CatalogueUpdate,
  { dialects, nowMs }: { dialects: DialectList; nowMs: number },
): Promise<string[]> {
  const merged = await loadCatalogue(['builtin'], update);
  buildSnapshot(merged, { providerSettings: new Map(), env: {}, dialects, now: nowMs });
  // Faults that make entries unreadable come first; without them, what is missing from entries.
  if (faultsOf(merged).length === 0) {
    checkSources(merged, { nowMs, maxAgeMs: Number.POSITIVE_INFINITY });
    checkDates(merged, nowMs);
  }
  return faultsOf(merged);
}
