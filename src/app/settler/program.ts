/**
 * The process that settles the journals of a data directory. It also seals the log of receipts and looks after the stored records. The
 * process that started it gives it its settings. It ends when that asks for it, or is gone: what is left is settled first.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Lock, LockHeld, takeLock } from '../../base/lock.js';
import type { Logger } from '../../base/logger.js';
import { systemClock } from '../../base/time.js';
import type { Config } from '../../config/config.js';
import type { JournalOffset } from '../../domain/settlement-row.js';
import type { Settler } from '../../journal/settler.js';
import type { Waiting } from '../../journal/source.js';
import type { SocketConnection } from '../../storage/embedded/embedded.js';
import { type Store, StoreUnavailable } from '../../storage/store.js';
import { type Deployment, openDeployment } from '../deployment.js';
import { OpenParts } from '../open-parts.js';
import { type OpenedSealer, openSealer } from '../proof.js';
import { RecordKeeper, retentionOf } from '../record-keeper.js';
import { settlerOf } from '../settlement.js';
import { openStorage } from '../storage.js';
import type { LogView } from './messages.js';
import { SettlerSocket } from './settler-socket.js';

export interface ProgramOptions {
  config: Config;
  connection?: SocketConnection | undefined;
  logger: Logger;
  /** Wait while another settler works on the directory; otherwise that is a fault. */
  waits: boolean;
  /** The directory is this process's: it has to be ended in order. */
  locked?: () => void;
}

export interface Program {
  /** Settles what is left, for some seconds at most, and ends. Processes that are attached are waited for. */
  stop(): Promise<void>;
}

const lockPauseMs = 250;
const logMs = 500;
/** How long an ending settler tries to settle what is left. */
const endMs = 10_000;
const endPauseMs = 20;

/** Rejects with LockHeld where another settler works and this one does not wait. */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const { config, connection, logger, waits, locked } = options;
  const parts = new OpenParts();
  try {
    const { dataDir } = config.storage;
    const lock = await lockOf(dataDir, waits, logger);
    parts.add(lock, (part) => part.release());
    locked?.();
    const { store } = await openStorage(config, logger, parts, connection);
    const deployment = parts.add(await openDeployment(alone(config, store, logger)), (part) => part.close());
    const socket = new SettlerSocket(dataDir, () => settler, logger);
    const settler = settlerOf({
      config,
      store,
      clock: systemClock,
      logger,
      settle: settleBy(store, deployment, socket),
    });
    takeCounts(dataDir, settler);
    parts.add(settler, async (part) => {
      await part.stop();
      leaveCounts(dataDir, part);
    });
    const sealer = openSealer({ config, store, clock: systemClock, logger }, parts);
    const keeper = { records: store.records, retention: retentionOf(config), clock: systemClock, logger };
    parts.add(new RecordKeeper(keeper), (part) => part.close());
    await socket.listen();
    parts.add(socket, (part) => part.close());
    const telling = setInterval(() => socket.tellLog(logView(sealer)), logMs);
    parts.add(telling, (part) => clearInterval(part));
    sealer?.begun.then(() => socket.tellLog(logView(sealer))).catch(() => {});
    return {
      async stop() {
        // The next settler has settings of its own, and perhaps another version.
        socket.refuse();
        const until = performance.now() + endMs;
        while (!socket.isIdle || (performance.now() < until && !(await settler.replayed(1_000))))
          await pause(endPauseMs);
        await parts.close();
      },
    };
  } catch (error) {
    await parts.close().catch(() => {});
    throw error;
  }
}

const countsFile = (dataDir: string): string => join(dataDir, 'settle-counts.json');

/** What a settler counted that ended before anybody could be told is told by the next one. */
function takeCounts(dataDir: string, { untold }: Settler): void {
  try {
    Object.assign(untold, JSON.parse(readFileSync(countsFile(dataDir), 'utf8')));
    rmSync(countsFile(dataDir));
  } catch {
    // Most settlers leave none.
  }
}

function leaveCounts(dataDir: string, { untold }: Settler): void {
  if (Object.values(untold).some((count) => count > 0))
    writeFileSync(countsFile(dataDir), JSON.stringify(untold), { mode: 0o600 });
}

async function lockOf(dataDir: string, waits: boolean, logger: Logger): Promise<Lock> {
  for (let isReported = false; ; isReported = true) {
    try {
      return await takeLock(join(dataDir, 'settle.lock'), `The settlement of ${dataDir}`);
    } catch (error) {
      if (!(error instanceof LockHeld) || !waits) throw error;
      if (!isReported) logger.info({ reason: error.message }, 'another settler works on this data directory; waiting');
    }
    await pause(lockPauseMs);
  }
}

/** The settler takes part in a fleet only to tell of balances that are used up. */
function alone(config: Config, store: Store, logger: Logger) {
  const nothing = async () => {};
  return {
    ...{ config, store, clock: systemClock, logger },
    ...{ replayed: nothing, settled: nothing, readStates: nothing, readCatalogue: nothing },
  };
}

/** The processes that the rows come from learn of it, before and after. */
function settleBy(store: Store, deployment: Deployment, socket: SettlerSocket) {
  return async (rows: readonly Waiting[], offsets: readonly JournalOffset[]): Promise<void> => {
    if (deployment.settling === null) return store.ledger.settle(rows, offsets);
    const { strangers, ended } = await socket.sending(rows);
    const endedHere = deployment.settling(strangers);
    try {
      await store.ledger.settle(rows, offsets);
    } catch (error) {
      const outcome = error instanceof StoreUnavailable ? 'unanswered' : 'refused';
      await Promise.all([ended(outcome), endedHere(outcome)]);
      throw error;
    }
    await Promise.all([ended('arrived'), endedHere('arrived')]);
  };
}

function logView(sealer: OpenedSealer | null): LogView {
  if (!sealer) return { size: 0, oldestUnsealedMs: null, fault: null, identity: null };
  const identity = sealer.identity();
  return {
    ...sealer.figures(),
    identity: identity && { origin: identity.origin, salt: Buffer.from(identity.salt).toString('base64') },
  };
}
