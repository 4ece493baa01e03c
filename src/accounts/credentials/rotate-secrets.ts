/**
 * Replaces the operator's key: writes a new key file, keeps the old key beside it, and wraps every secret anew while the gateway serves.
 * It can be killed at any point and run again, which goes on where it was: the kept key says that a rotation is not over.
 */
import { NotOpened, wrapAnew } from '../../base/sealed-secret.js';
import type { CredentialStore, WrappedSecret } from '../../storage/credential-types.js';
import { dropKeptKeys, type KeyRing, keptKeyFiles, replaceKeyFile } from './key-ring.js';

const rowsAtOnce = 200;

export interface RotatedSecrets {
  /** The key that is in use from now on. */
  readonly keyId: string;
  readonly wrapped: number;
  /** Credentials that no key opens, and stay as they are. Old keys are kept while there are any. */
  readonly failed: readonly string[];
}

/** There is no key that could be replaced. */
export class NoSecretsKey extends Error {}

export async function rotateSecrets(
  ring: KeyRing,
  store: Pick<CredentialStore, 'wrappedOtherwise' | 'rewrap' | 'setCurrentKey'>,
): Promise<RotatedSecrets> {
  const { keyFile } = ring.files;
  ring.load();
  const before = ring.current;
  if (!before) throw new NoSecretsKey(ring.fault);
  const isUnderWay = keptKeyFiles(keyFile).some((file) => !file.endsWith(before.id));
  if (!isUnderWay) {
    replaceKeyFile(keyFile, before);
    ring.load();
  }
  const to = ring.current!;
  // From here on nothing is sealed with the old key: who seals and does not know of it yet is refused, and reads the file again.
  await store.setCurrentKey(to.id);
  let wrapped = 0;
  const failed: string[] = [];
  let after = '';
  for (;;) {
    const rows: WrappedSecret[] = await store.wrappedOtherwise(to.id, rowsAtOnce, after);
    if (rows.length === 0) break;
    for (const row of rows) {
      after = row.id;
      const from = ring.byId(row.keyId);
      try {
        if (!from) throw new NotOpened('its key is missing');
        // A row that was changed meanwhile was sealed with the new key.
        if (await store.rewrap(row, wrapAnew(row, row, from, to))) wrapped++;
      } catch (error) {
        if (!(error instanceof NotOpened)) throw error;
        failed.push(row.id);
      }
    }
  }
  if (failed.length === 0) dropKeptKeys(keyFile);
  return { keyId: to.id, wrapped, failed };
}
