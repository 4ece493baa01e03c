/** Opens the settlement of the data directory: in a process of its own, or in this one, as tests do. */
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import type { Config } from '../config/config.js';
import { slotDirs } from '../journal/journal-slots.js';
import { Settler, type SettlerOptions } from '../journal/settler.js';
import type { SettlerPort } from '../journal/settler-port.js';
import type { SocketConnection } from '../storage/embedded/embedded.js';
import type { Store } from '../storage/store.js';
import type { Deployment } from './deployment.js';
import type { OpenParts } from './open-parts.js';
import { begunMs, type OpenedSealer, openSealer } from './proof.js';
import { RecordKeeper, retentionOf } from './record-keeper.js';
import { SettlerChild } from './settler/settler-child.js';
import { SettlerLink } from './settler/settler-link.js';

/** Where the journals are settled: by a process of this program, by one that another process started, or in this process. */
export type SettlementPlace = { readonly file: string } | 'elsewhere' | 'here';

/**
 * Memory is exact in a single process, and whoever reads the store settles first, so a settlement may wait for a large batch.
 * The balances that the processes of a fleet see of each other come from the store.
 */
const settleEveryMs = 1_000;
const settleInFleetMs = 250;

interface SettlerDeps {
  config: Config;
  store: Store;
  clock: Clock;
  logger: Logger;
  settle: SettlerOptions['settle'];
}

export function settlerOf({ config, store, clock, logger, settle }: SettlerDeps): Settler {
  const { dataDir, redisUrl } = config.storage;
  return new Settler({
    dirs: () => slotDirs(dataDir),
    offsets: { find: (run) => store.ledger.offset(run), remove: (run) => store.ledger.removeOffset(run) },
    ...{ settle, clock, logger, flushMs: redisUrl === null ? settleEveryMs : settleInFleetMs },
  });
}

interface SettlementDeps extends Omit<SettlerDeps, 'settle'> {
  place: SettlementPlace;
  deployment: Pick<Deployment, 'settle' | 'settling'>;
  connection: SocketConnection | undefined;
}

interface Settlement {
  readonly settler: SettlerPort;
  /** Begins to seal, and to look after the stored records. null where no receipts are logged. */
  openSealer(): OpenedSealer | null;
}

export function openSettlement(deps: SettlementDeps, parts: OpenParts): Settlement {
  const { place, config, store, clock, logger, deployment, connection } = deps;
  if (place === 'here') {
    const settler = settlerOf({ ...deps, settle: (rows, offsets) => deployment.settle(rows, offsets) });
    parts.add(settler, (part) => part.stop());
    return {
      settler,
      openSealer() {
        const keeper = new RecordKeeper({ records: store.records, retention: retentionOf(config), clock, logger });
        parts.add(keeper, (part) => part.close());
        return openSealer({ config, store, clock, logger }, parts);
      },
    };
  }
  if (place !== 'elsewhere')
    parts.add(new SettlerChild({ file: place.file, config, connection, logger }), (part) => part.stop());
  const { dataDir } = config.storage;
  const link = new SettlerLink({ dataDir, settling: deployment.settling, logger });
  parts.add(link, (part) => part.close());
  const sealer = { begun: link.begun(begunMs), identity: () => link.identity(), figures: () => link.figures() };
  return { settler: link, openSealer: () => (config.proof.enabled ? sealer : null) };
}
