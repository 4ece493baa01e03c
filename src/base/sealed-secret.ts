/**
 * Seals a text so that only who has the operator's key can read it: AES-256-GCM under a data key of its own, which is wrapped by the
 * operator's key in the same way. What the text belongs to is authenticated with both, so a row that is copied elsewhere does not open.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** A key of the operator. */
export interface WrappingKey {
  /** Names the key without saying anything about it. */
  readonly id: string;
  readonly bytes: Buffer;
}

export interface SealedSecret {
  /** The key that `wrapped` was made with. */
  readonly keyId: string;
  /** The data key, base64. A rotation replaces it and the key's id. */
  readonly wrapped: string;
  /** The text, base64. */
  readonly sealed: string;
}

/** The account and the credential that a secret belongs to. */
export interface SecretOwner {
  readonly accountId: string;
  readonly id: string;
}

export const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** It was sealed for something else, or with another key, or was changed. */
export class NotOpened extends Error {
  override readonly name = 'NotOpened';
}

export function wrappingKey(bytes: Buffer): WrappingKey {
  return {
    id: createHash('sha256').update('lodestone-secrets-key/1\n').update(bytes).digest('hex').slice(0, 16),
    bytes,
  };
}

export function seal(text: string, owner: SecretOwner, key: WrappingKey): SealedSecret {
  const dataKey = randomBytes(keyBytes);
  try {
    return {
      keyId: key.id,
      wrapped: encrypt(dataKey, key.bytes, context('key', owner)),
      sealed: encrypt(Buffer.from(text, 'utf8'), dataKey, context('secret', owner)),
    };
  } finally {
    dataKey.fill(0);
  }
}

/** Throws NotOpened. */
export function open(secret: SealedSecret, owner: SecretOwner, key: WrappingKey): string {
  const dataKey = decrypt(secret.wrapped, key.bytes, context('key', owner));
  try {
    return decrypt(secret.sealed, dataKey, context('secret', owner)).toString('utf8');
  } finally {
    dataKey.fill(0);
  }
}

/** The same secret under another key. The text itself is not read. Throws NotOpened. */
export function wrapAnew(secret: SealedSecret, owner: SecretOwner, from: WrappingKey, to: WrappingKey): SealedSecret {
  const dataKey = decrypt(secret.wrapped, from.bytes, context('key', owner));
  try {
    return { keyId: to.id, wrapped: encrypt(dataKey, to.bytes, context('key', owner)), sealed: secret.sealed };
  } finally {
    dataKey.fill(0);
  }
}

function context(what: string, { accountId, id }: SecretOwner): Buffer {
  return Buffer.from(JSON.stringify(['lodestone-credential/1', what, accountId, id]), 'utf8');
}

function encrypt(plain: Buffer, key: Buffer, authenticated: Buffer): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(authenticated);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64');
}

function decrypt(text: string, key: Buffer, authenticated: Buffer): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length < nonceBytes + tagBytes) throw new NotOpened('The sealed text is too short.');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes))
    .setAAD(authenticated)
    .setAuthTag(bytes.subarray(bytes.length - tagBytes));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, bytes.length - tagBytes)), decipher.final()]);
  } catch {
    throw new NotOpened('The sealed text does not open with this key.');
  }
}
