/** Opens the store that the configuration names: an existing PostgreSQL, or the embedded one of the data directory. */
import type { Logger } from '../base/logger.js';
import type { Config } from '../config/config.js';
import { type Embedded, startEmbedded } from '../storage/embedded.js';
import { openStore } from '../storage/open-store.js';
import type { Store } from '../storage/store.js';
import type { Opened } from './opened.js';

export async function openStorage(config: Config, logger: Logger, opened: Opened): Promise<Store> {
  const { databaseUrl, dataDir } = config.storage;
  if (databaseUrl !== null) {
    return opened.add(await openStore({ databaseUrl, logger }), (part) => part.close());
  }
  const embedded: Embedded = opened.add(await startEmbedded({ dataDir, logger }), (part) => part.stop());
  return opened.add(await openStore({ connection: embedded.connection, logger }), (part) => part.close());
}
