/** Checks files of a release against its signed checksums. It needs no network. */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const listName = 'SHA256SUMS';

interface ReleaseCheck {
  readonly checked: readonly string[];
  readonly faults: readonly string[];
  /** SHA-256 of the public key in DER, to compare with what its owner publishes. */
  readonly fingerprint: string | null;
}

/** `file` is one of the release, or its SHA256SUMS, which stands for all files that it lists. */
export function checkRelease(file: string, keyFile?: string): ReleaseCheck {
  const folder = dirname(file);
  const list = read(join(folder, listName));
  const signature = read(join(folder, `${listName}.sig`));
  const key = keyIn(keyFile ?? join(folder, 'release-key.pem'));
  const absent = [
    ...(list ? [] : [`${join(folder, listName)} cannot be read. Download it to the folder of the file.`]),
    ...(signature ? [] : [`${join(folder, `${listName}.sig`)} cannot be read. Download it to the folder of the file.`]),
    ...(typeof key === 'string' ? [key] : []),
  ];
  if (!list || !signature || typeof key === 'string') return { checked: [], faults: absent, fingerprint: null };
  const fingerprint = createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex');
  if (!verify(null, list, key, signature))
    return {
      checked: [],
      faults: [`The signature of ${listName} is not of this key. Do not use the files.`],
      fingerprint,
    };
  const checked = [`${listName} is signed by the key ${fingerprint}.`];
  const sums = sumsIn(list.toString('utf8'));
  const name = basename(file);
  const wanted = name === listName ? [...sums.keys()] : [name];
  const faults: string[] = [];
  for (const each of wanted) {
    const fault = faultOf(join(folder, each), sums.get(each));
    if (fault) faults.push(fault);
    else checked.push(`${each} has the SHA-256 that is signed.`);
  }
  return { checked, faults, fingerprint };
}

function faultOf(path: string, expected: string | undefined): string | undefined {
  if (expected === undefined) return `${basename(path)} is not in the signed ${listName}. Do not use it.`;
  const bytes = read(path);
  if (!bytes) return `${path} cannot be read.`;
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found === expected) return undefined;
  return `${basename(path)} has the SHA-256 ${found}, and ${expected} is signed. Do not use it.`;
}

/** Names without a path: a list must not lead to files elsewhere. */
function sumsIn(text: string): Map<string, string> {
  return new Map([...text.matchAll(/^([0-9a-f]{64}) [ *]([^/\n]+)$/gm)].map(([, sum, name]) => [name!, sum!]));
}

function keyIn(file: string): KeyObject | string {
  const text = read(file);
  if (!text) return `The public key ${file} cannot be read. Name it with --key.`;
  try {
    const key = createPublicKey(text);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // Said below.
  }
  return `${file} is no public Ed25519 key in PEM. Name another with --key.`;
}

function read(path: string): Buffer | undefined {
  return existsSync(path) ? readFileSync(path) : undefined;
}
