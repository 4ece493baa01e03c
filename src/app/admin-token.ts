/** The admin token: from the configuration, else from `data_dir/admin-token`, which the first start makes. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateDirectory } from '../base/private-directory.js';
import type { Config } from '../config/config.js';
import { ConfigFault } from '../config/config-fault.js';
import { adminToken, adminTokenExpected } from '../config/field-types.js';

/** Throws a ConfigFault where the file has no usable token. */
export function adminTokenOf({ adminToken: configured, storage: { dataDir } }: Config): string {
  if (configured !== null) return configured;
  const file = join(dataDir, 'admin-token');
  makePrivateDirectory(dataDir);
  try {
    // `wx`: two processes that start at once use one token, the first one's.
    writeFileSync(file, `lodestone-admin-${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const token = adminToken.safeParse(readFileSync(file, 'utf8'));
  if (token.success) return token.data;
  throw new ConfigFault([
    `${file}: found a text, expected ${adminTokenExpected}. Replace it, or delete the file to have a new one made`,
  ]);
}
