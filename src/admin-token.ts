/** The operators' token: from the configuration, else from `data_dir/admin-token`, made there at the first start. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateDirectory } from './base/private-directory.js';
import type { Config } from './config/config.js';

export function adminTokenOf({ adminToken, storage: { dataDir } }: Config): string {
  if (adminToken !== null) return adminToken;
  const file = join(dataDir, 'admin-token');
  makePrivateDirectory(dataDir);
  try {
    // `wx`: two processes that start at once end up with one token, the first one's.
    writeFileSync(file, `lodestone-admin-${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(file, 'utf8').trim();
}
