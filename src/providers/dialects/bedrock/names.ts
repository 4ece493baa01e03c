/**
 * Names and ids of tools within the characters that Converse takes (wire 5). A name is written so that it can be read back
 * from the answer alone; an id only has to be the same in a call and in its result.
 */
import { createHash } from 'node:crypto';
import type { TextEncoding } from '../../../wire/json-text.js';

/** Characters beyond these become `_xHH`, a byte each; so does a `_` that would look like the beginning of one. */
const unsafe = /[^a-zA-Z0-9_-]|_(?=x[0-9a-f]{2})/;
const written = /_x([0-9a-f]{2})/g;

export function writtenName(name: string, encoding: TextEncoding): string {
  if (!unsafe.test(name)) return name;
  const bytes = Buffer.from(name, encoding).toString('latin1');
  return bytes.replace(new RegExp(unsafe, 'g'), (char) => `_x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** The name as the caller wrote it, in the encoding of the answer. */
export function readName(name: string, encoding: TextEncoding): string {
  if (!name.includes('_x')) return name;
  const bytes = name.replace(written, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return encoding === 'latin1' ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Ids of other providers may have other characters, or be longer than 64: then 16 of them tell it apart. */
export function toolUseId(id: string): string {
  if (/^[a-zA-Z0-9_.:-]{1,64}$/.test(id)) return id;
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 16);
  return `${id.replace(/[^a-zA-Z0-9_.:-]/g, '_').slice(0, 47)}-${digest}`;
}
