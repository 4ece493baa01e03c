/** The store's part that looks after partitions, rollups and retention. */
import type { Logger } from '../../base/logger.js';
import { Database, type StoreAddress } from '../database.js';
import type { RecordStore } from '../store.js';
import { backfillSlice, rollUpLate, sliceTimeoutMs } from './backfill.js';
import { checkStorage } from './check.js';
import { exportRows } from './export.js';
import { gatherDay } from './gather.js';
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
  const logUnclosed = (error: unknown) =>
    options.logger.warn({ error: String(error) }, 'the connection of an export could not be closed');
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
        const rows = await exportRows(upkeep, query);
        return rows.once('close', () => void upkeep.close().catch(logUnclosed));
      } catch (error) {
        await upkeep.close();
        throw error;
      }
    },
  };
}
