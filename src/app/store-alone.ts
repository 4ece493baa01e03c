/** Opens the store for a command of the command line, where no gateway runs. */
import { silentLogger } from '../base/logger.js';
import type { Config } from '../config/config.js';
import type { Store } from '../storage/store.js';
import { OpenParts } from './open-parts.js';
import { type Retention, retentionOf } from './record-keeper.js';
import { openStorage } from './storage.js';

export type StoreAlone = Pick<Store, 'records'> & { readonly retention: Retention | null };

export async function withStoreAlone<T>(config: Config, work: (store: StoreAlone) => Promise<T>): Promise<T> {
  const parts = new OpenParts();
  try {
    const { records } = await openStorage(config, silentLogger, parts);
    return await work({ records, retention: retentionOf(config) });
  } finally {
    await parts.close();
  }
}
