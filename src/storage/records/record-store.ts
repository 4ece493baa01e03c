/** The store's part that looks after partitions, rollups and retention. */
import type { Logger } from '../../base/logger.js';
import { Database, type StoreAddress } from '../database.js';
import type { RecordStore } from '../store.js';
import { backfillSlice, rollUpLate, sliceTimeoutMs } from './backfill.js';
import { checkStorage } from './check.js';
import { exportRows } from './export.js';
import { moveRecords } from './move.js';
import { ensurePartitions } from './partitions.js';
import { prunableMonths, pruneMonth } from './prune.js';
import { sumHours } from './sums.js';

/** Sums over every row of a large store take minutes. */
const upkeepMs = 30 * 60_000;
/** As long as its reader takes. */
const exportMs = 24 * 3_600_000;

export function recordStore(
  database: Database,
  options: StoreAddress & { logger: Logger },
  migrateStore: (address: StoreAddress, logger: Logger) => Promise<void>,
): RecordStore {
  /** Each of these runs alone and may take long, so it gets a connection of its own. */
  const alone = async <T>(work: (upkeep: Database) => Promise<T>): Promise<T> => {
    const upkeep = new Database(options, options.logger, 1, upkeepMs);
    return work(upkeep).finally(() => upkeep.close());
  };
  return {
    ensurePartitions: (nowMs) => ensurePartitions(database, nowMs),
    rollUpLate: async () => (await rollUpLate(database, sliceTimeoutMs)).added,
    backfill: async (nowMs) => (await backfillSlice(database, nowMs)) !== null,
    gatherDay: (nowMs) => alone((upkeep) => gatherDay(upkeep, nowMs)),
    sumHours: (nowMs) => alone((upkeep) => sumHours(upkeep, nowMs)),
    prunable: (beforeMs) => alone((upkeep) => prunableMonths(upkeep, beforeMs)),
    prune: (month) => alone((upkeep) => pruneMonth(upkeep, month)),
    check: () => alone(checkStorage),
    moveTo: async (databaseUrl) => {
      await migrateStore({ databaseUrl }, options.logger);
      const target = new Database({ databaseUrl }, options.logger, 2, exportMs);
      const source = new Database(options, options.logger, 2, exportMs);
      return moveRecords(source, target).finally(() => Promise.all([source.close(), target.close()]));
    },
    export: async (query) => {
      const upkeep = new Database(options, options.logger, 1, exportMs);
      try {
        return (await exportRows(upkeep, query)).once('close', () => void upkeep.close());
      } catch (error) {
        await upkeep.close();
        throw error;
      }
    },
  };
}

const hourMs = 3_600_000;
const dayHours = 24;
/** Most of what a day still gets after its end is there by then. What comes later is added all the same. */
const graceHours = 1;

/**
 * Puts the rollups of a finished day into the order of accounts. While a day lasts, its rollups come in the order in which they are first
 * needed, so those of one account are spread over as many pages as there are rollups. Afterwards they lie side by side. Handles one day in
 * one transaction, the oldest first; false where none is left.
 */
async function gatherDay(database: Database, nowMs: number): Promise<boolean> {
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
