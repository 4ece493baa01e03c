/** Makes the secret of a key, hashes it for the store and shows its label. */
import { hash, randomBytes } from 'node:crypto';

export const tokenPrefix = 'sk-lr-';
export const retiredTokenPrefix = 'sk-bf-';
/** 32 bytes in base64url without padding. */
export const tokenBodyLength = 43;
/** The first characters of the body are the key's public id; the rest is its secret. */
export const keyIdLength = 10;
export const tokenLength = tokenPrefix.length + tokenBodyLength;

export interface MadeToken {
  /** Shown once in full and never stored. */
  readonly token: string;
  readonly id: string;
  readonly lastFour: string;
  readonly hash: Buffer;
}

export function makeToken(random: () => Buffer = () => randomBytes(32)): MadeToken {
  let body = random().toString('base64url');
  // An id that begins with a dash would be read as an option on a command line.
  while (body.startsWith('-')) body = random().toString('base64url');
  const token = tokenPrefix + body;
  return { token, id: keyIdOf(token), lastFour: token.slice(-4), hash: hashToken(token) };
}

/** SHA-256 of the whole token. 256 random bits need no slow hash, and every request pays for this one. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

export function keyIdOf(token: string): string {
  return token.slice(tokenPrefix.length, tokenPrefix.length + keyIdLength);
}

/** The text that may be shown after creation: the prefix and the last four characters. */
export function keyLabel(lastFour: string): string {
  return `${tokenPrefix}…${lastFour}`;
}
