/** Opens the store for a command of the command line, where no gateway runs. */

import { rotateSecrets } from '../accounts/credentials/rotate-secrets.js';
import { silentLogger } from '../base/logger.js';
import { systemClock } from '../base/time.js';
import type { Config } from '../config/config.js';
import { type RotatedKey, rotateKey } from '../sealing/rotate-key.js';
import type { Store } from '../storage/store.js';
import { keyRingOf, rotationJson } from './open-own-credentials.js';
import { OpenParts } from './open-parts.js';
import { logKeyFileOf } from './proof.js';
import { type Retention, retentionOf } from './record-keeper.js';
import { openStorage } from './storage.js';

export type StoreAlone = Pick<Store, 'records'> & {
  readonly retention: Retention | null;
  /** Replaces the key that signs the log of receipts. */
  rotateLogKey(): Promise<RotatedKey>;
  /** Replaces the key that stored credentials are sealed with. */
  rotateSecrets(): Promise<ReturnType<typeof rotationJson>>;
};

export async function withStoreAlone<T>(config: Config, work: (store: StoreAlone) => Promise<T>): Promise<T> {
  const parts = new OpenParts();
  try {
    const { records, log, credentials } = (await openStorage(config, silentLogger, parts)).store;
    const rotateLogKey = () => rotateKey({ store: log, keyFile: logKeyFileOf(config), clock: systemClock });
    const rotate = async () => rotationJson(await rotateSecrets(keyRingOf(config), credentials));
    return await work({ records, retention: retentionOf(config), rotateLogKey, rotateSecrets: rotate });
  } finally {
    await parts.close();
  }
}
