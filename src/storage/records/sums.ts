/**
 * The sums of reports: coarser than the rollups, for periods that would read too many of those. They hold the rollups of finished hours
 * and what is settled for those hours later, so a sum of them is as exact as a sum of rollups.
 */
import type { Database } from '../database.js';

const hourMs = 3_600_000;
/** Most of what an hour still gets after its end is there by then. What comes later is added all the same. */
const graceMs = 10 * 60_000;
/** Settlements queue behind one that waits to begin. */
const lockWaitMs = 5_000;

/** What a sum is about, as `usage_sums` names it. Steps have neither routes nor keys. */
export type SumKind = 'account_steps' | 'account_routes' | 'account_keys' | 'all_steps' | 'all_routes';

/** The hours that sums cover. Each length divides the next. */
export const sumLengths = [6, 24, 240] as const;

/** One call has one connection, which plans the statements once. */
const partsMax = 20;

/** Adds the next finished hours, at most six in one transaction; false where none is left. */
export async function sumHours(database: Database, nowMs: number): Promise<boolean> {
  const upTo = Math.floor((nowMs - graceMs) / hourMs);
  for (let part = 0; part < partsMax; part++) {
    const isAdded = await database.transaction(async (_db, client) => {
      await client.query(`set local lock_timeout = ${lockWaitMs}`);
      const { rows } = await client.query<{ added: boolean }>('select lodestone.sum_usage($1) as added', [upTo]);
      return rows[0]!.added;
    });
    if (!isAdded) return false;
  }
  return true;
}
