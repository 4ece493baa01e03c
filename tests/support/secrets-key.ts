/** A key file for stored credentials, as an operator with an external store makes it. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The path of a new one. */
export function makeSecretsKey(): string {
  const file = join(mkdtempSync(join(tmpdir(), 'lodestone-secrets-')), 'secrets.key');
  writeFileSync(file, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  return file;
}
