/** Adds generations to the rollups that no settlement of this version added: earlier ones, and those of an older version. */
import type { Database } from '../database.js';
import { figureSums, seriesColumns } from './usage-columns.js';

const sliceMs = 6 * 3_600_000;
const lateRows = 5_000;
/** A slice of a busy day may take longer than other statements. */
export const sliceTimeoutMs = 120_000;

/**
 * Adds what an older version has written since, until nothing is left. `isComplete` once no earlier generation is missing either. Up to
 * the hour `summedTo`, the sums hold what the rollups do. Each part has its own time limit; without one it is that of queries over the
 * history.
 */
export async function rollUpLate(
  database: Database,
  timeoutMs?: number,
): Promise<{ added: number; isComplete: boolean; summedTo: number }> {
  for (let total = 0; ; ) {
    const [row] = await database.limited<{ added: number; complete: boolean; summed: number | null }>(
      `select lodestone.roll_up_late(${lateRows}) as added, backfill_before_ms is null as complete, sums_before as summed
       from lodestone.records_state`,
      timeoutMs,
    );
    total += row!.added;
    if (row!.added < lateRows) {
      return { added: total, isComplete: row!.complete, summedTo: row!.summed ?? 0 };
    }
  }
}

/** Earlier generations whose time is below this are not in the rollups yet; null where all are. */
export function backfillBefore(database: Database): Promise<number | null> {
  return database.value('backfill-before', 'select backfill_before_ms from lodestone.records_state', []);
}

/** Adds the newest six hours that are missing, in one transaction. Returns where the next slice ends; null where all is done. */
export async function backfillSlice(database: Database, nowMs: number): Promise<number | null> {
  return database.transaction(async (_db, client) => {
    const state = await client.query<{ before: number | null; oldest: number | null }>(
      `select backfill_before_ms as before,
         (select floor(extract(epoch from min(created_at)) * 1000)::bigint from lodestone.accounts) as oldest
       from lodestone.records_state for update of records_state`,
    );
    const { before, oldest } = state.rows[0]!;
    if (before === null) return null;
    if (before > nowMs + sliceMs)
      await client.query(`select brin_summarize_new_values('lodestone.generations_first_created')`);
    const from = Math.floor((Math.min(before, nowMs + sliceMs) - 1) / sliceMs) * sliceMs;
    // No account is older, so what is left is a rest that should be empty.
    const isLast = oldest === null || from <= oldest - sliceMs;
    const query = {
      text: `select lodestone.add_usage(lines) from (
        select json_agg(line) as lines from (
          select ${seriesColumns}, from_hour, ${figureSums} from lodestone.generation_usage
          where rolled_up is null and created_ms >= $1 and created_ms < $2 group by ${seriesColumns}, from_hour
        ) line
      ) batch where lines is not null`,
      values: [isLast ? Number.MIN_SAFE_INTEGER : from, before],
      query_timeout: sliceTimeoutMs,
    };
    await client.query(query);
    const next = isLast ? null : from;
    await client.query('update lodestone.records_state set backfill_before_ms = $1', [next]);
    return next;
  });
}
