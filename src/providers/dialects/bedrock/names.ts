/**
 * Writes names and ids of tools with the characters that Converse accepts. A name can be decoded from the answer alone; an id only
 * has to be the same in a call and in its result.
 */
import { createHash } from 'node:crypto';
import type { TextEncoding } from '../../../wire/json-text.js';

/** Other characters become `_xHH` for each byte; so does a `_` that looks like the beginning of such an escape. */
const unsafe = /[^a-zA-Z0-9_-]|_(?=x[0-9a-f]{2})/;
const encodedByte = /_x([0-9a-f]{2})/g;

export function encodedName(name: string, encoding: TextEncoding): string {
  if (!unsafe.test(name)) return name;
  const bytes = Buffer.from(name, encoding).toString('latin1');
  return bytes.replace(new RegExp(unsafe, 'g'), (char) => `_x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** The name as the client wrote it, in the encoding of the answer. */
export function decodedName(name: string, encoding: TextEncoding): string {
  if (!name.includes('_x')) return name;
  const bytes = name.replace(encodedByte, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return encoding === 'latin1' ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Ids of other providers may have other characters or more than 64; a digest then keeps them distinct. */
export function toolUseId(id: string): string {
  if (/^[a-zA-Z0-9_.:-]{1,64}$/.test(id)) return id;
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 16);
  return `${id.replace(/[^a-zA-Z0-9_.:-]/g, '_').slice(0, 47)}-${digest}`;
}
