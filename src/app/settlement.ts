/** Opens the settler of the data directory, in this process or in one of its own. */
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import type { Config } from '../config/config.js';
import { slotDirs } from '../journal/journal-slots.js';
import { Settler } from '../journal/settler.js';
import type { Store } from '../storage/store.js';
import type { Deployment } from './deployment.js';
import type { OpenParts } from './open-parts.js';

/**
 * Memory is exact in a single process, and whoever reads the store settles first, so a settlement may wait for a large batch.
 * The balances that the processes of a fleet see of each other come from the store.
 */
const settleEveryMs = 1_000;
const settleInFleetMs = 250;

interface SettlementDeps {
  config: Config;
  store: Store;
  clock: Clock;
  logger: Logger;
  deployment: Pick<Deployment, 'settle'>;
}

export function openSettlement(
  { config, store, clock, logger, deployment }: SettlementDeps,
  parts: OpenParts,
): Settler {
  const { dataDir, redisUrl } = config.storage;
  const settler = new Settler({
    dirs: () => slotDirs(dataDir),
    settle: (rows, offsets) => deployment.settle(rows, offsets),
    offsets: { find: (run) => store.ledger.offset(run), remove: (run) => store.ledger.removeOffset(run) },
    ...{ clock, logger, flushMs: redisUrl === null ? settleEveryMs : settleInFleetMs },
  });
  return parts.add(settler, (part) => part.stop());
}
