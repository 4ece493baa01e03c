/**
 * Puts the rollups of a finished day into the order of accounts. While a day lasts, its rollups come in the order in which they are first
 * needed, so those of one account are spread over as many pages as there are rollups. Afterwards they lie side by side.
 */
import type { Database } from '../database.js';

const hourMs = 3_600_000;
const dayHours = 24;
/** Most of what a day still gets after its end is there by then. What comes later is added all the same. */
const graceHours = 1;

/** Handles one day in one transaction, the oldest first; false where none is left. */
export async function gatherDay(database: Database, nowMs: number): Promise<boolean> {
  return database.transaction(async (_db, client) => {
    // Whoever has the row does it; another process finds nothing left.
    const state = await client.query<{ day: number | null }>(
      `select (select min(from_hour) from lodestone.usage_rollups where hours = ${dayHours}
         and from_hour >= coalesce(days_gathered_before, 0)) as day
       from lodestone.records_state where backfill_before_ms is null for update`,
    );
    const day = state.rows[0]?.day ?? null;
    if (day === null || (day + dayHours + graceHours) * hourMs > nowMs) return false;
    // In the order of the primary key, as settlements lock them, so that the two cannot deadlock.
    await client.query(
      `select from lodestone.usage_rollups where hours = ${dayHours} and from_hour = $1 order by series for update`,
      [day],
    );
    await client.query(
      `with moved as (delete from lodestone.usage_rollups where hours = ${dayHours} and from_hour = $1 returning *)
       insert into lodestone.usage_rollups select moved.* from moved left join lodestone.usage_series s on s.id = moved.series
       order by s.account_id, moved.series`,
      [day],
    );
    await client.query('update lodestone.records_state set days_gathered_before = $1', [day + dayHours]);
    return true;
  });
}
