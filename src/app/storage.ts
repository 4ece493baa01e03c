/** Opens the configured store: an external PostgreSQL, or the embedded one in the data directory. */
import type { Logger } from '../base/logger.js';
import type { Config } from '../config/config.js';
import { type Embedded, type SocketConnection, startEmbedded } from '../storage/embedded/embedded.js';
import { openStore } from '../storage/open-store.js';
import type { Store } from '../storage/store.js';
import type { OpenParts } from './open-parts.js';

interface OpenedStorage {
  readonly store: Store;
  /** Of the embedded store; undefined where the configuration names a database. */
  readonly connection: SocketConnection | undefined;
}

/** `given` is the embedded store that another process runs. */
export async function openStorage(
  config: Config,
  logger: Logger,
  parts: OpenParts,
  given?: SocketConnection,
): Promise<OpenedStorage> {
  const { databaseUrl } = config.storage;
  const connection =
    databaseUrl === null ? (given ?? (await startServer(config, logger, parts)).connection) : undefined;
  const address = connection ? { connection } : { databaseUrl: String(databaseUrl) };
  return { connection, store: parts.add(await openStore({ ...address, logger }), (part) => part.close()) };
}

/**
 * Starts and migrates the store for a process that does not serve, and calls `fill` with it. Resolves to the connection of the embedded
 * store, which its workers use.
 */
export async function prepareStorage(
  config: Config,
  logger: Logger,
  parts: OpenParts,
  fill: (store: Store) => Promise<void>,
): Promise<SocketConnection | undefined> {
  const { databaseUrl } = config.storage;
  const embedded = databaseUrl === null ? await startServer(config, logger, parts) : undefined;
  const address = embedded ? { connection: embedded.connection } : { databaseUrl: String(databaseUrl) };
  const store = await openStore({ ...address, logger });
  await fill(store).finally(() => store.close());
  return embedded?.connection;
}

/** A worker has a pool of ten connections and a few others. */
const connectionsOfWorker = 12;
const connectionsBesides = 20;

async function startServer(config: Config, logger: Logger, parts: OpenParts): Promise<Embedded> {
  const connectionsMax = Math.max(40, connectionsBesides + connectionsOfWorker * config.workers);
  const { dataDir } = config.storage;
  return parts.add(await startEmbedded({ dataDir, logger, connectionsMax }), (part) => part.stop());
}
