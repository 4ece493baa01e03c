/**
 * Parses JSON without the cost of decoding UTF-8. A body without a `\u` escape is read as latin1: every byte becomes one character,
 * so structure and ASCII values are right, and writing the text back as latin1 restores the same bytes. With an escape the
 * body is decoded as UTF-8.
 */

import { isUtf8 } from 'node:buffer';
import { asLatin1, decodeLatin1 } from '../base/latin1.js';

export type TextEncoding = 'latin1' | 'utf8';

export interface JsonText {
  value: unknown;
  /** The text that was parsed. */
  text: string;
  /** The encoding in which `text`, the strings in `value` and any text made from them must be written. */
  encoding: TextEncoding;
}

const jsonType = /^application\/(?:[\w.+-]+\+)?json\s*(?:[;,]|$)/i;

/** True for the content types of JSON bodies. A header that was sent twice is joined by a comma. */
export function isJsonType(contentType: string | undefined): boolean {
  return contentType === 'application/json' || (contentType !== undefined && jsonType.test(contentType));
}

const byteOrderMark = '\u00ef\u00bb\u00bf';

/** Parses a whole body; throws SyntaxError on text that is not JSON or not UTF-8. */
export function parseJsonBytes(bytes: Buffer): JsonText {
  let text = bytes.toString('latin1');
  if (text.startsWith(byteOrderMark)) text = text.slice(3);
  if (!text.includes('\\u')) {
    if (!isUtf8(bytes)) throw new SyntaxError('the body is not valid UTF-8');
    return { value: JSON.parse(text), text, encoding: 'latin1' };
  }
  if (!isUtf8(bytes)) throw new SyntaxError('the body is not valid UTF-8');
  const decoded = bytes.toString('utf8');
  text = decoded.charCodeAt(0) === 0xfeff ? decoded.slice(1) : decoded;
  return { value: JSON.parse(text), text, encoding: 'utf8' };
}

/** A string of a JSON text as ordinary text, for messages. */
export function readable(text: string, encoding: TextEncoding): string {
  return encoding === 'latin1' ? decodeLatin1(asLatin1(text)) : text;
}

const beyondAscii = /[\u0080-\uffff]/;

/** A string of a JSON text as ordinary text, for strings that are kept. ASCII strings, nearly all, are returned unchanged. */
export function plainText(text: string, encoding: TextEncoding): string {
  return encoding === 'latin1' && beyondAscii.test(text) ? readable(text, encoding) : text;
}

const shownMax = 100;

/** A value for a message: JSON, cut to the length of a line without splitting a character. */
export function shown(value: unknown, encoding: TextEncoding): string {
  if (Array.isArray(value)) return 'an array';
  if (value !== null && typeof value === 'object') return 'an object';
  // A character has at most four bytes, so this is always enough.
  const text =
    typeof value === 'string' ? JSON.stringify(readable(value.slice(0, 4 * shownMax), encoding)) : String(value);
  return excerpt(text);
}

/** A text of a client for a message, cut to the length of a line. */
export function excerpt(text: string): string {
  return text.length > shownMax ? `${text.slice(0, shownMax).replace(/[\ud800-\udbff]$/, '')}…` : text;
}

/** The deepest nesting of a body that is read. */
export const nestingMax = 128;

/** True where `value` holds objects or arrays more than `nestingMax` levels deep, itself included. */
export function tooDeep(value: object, level = 1): boolean {
  if (level > nestingMax) return true;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item: unknown = value[i];
      if (item !== null && typeof item === 'object' && tooDeep(item, level + 1)) return true;
    }
    return false;
  }
  for (const key in value) {
    const item: unknown = (value as Record<string, unknown>)[key];
    if (item !== null && typeof item === 'object' && tooDeep(item, level + 1)) return true;
  }
  return false;
}

/** The most values that are read into objects, and the most texts, lists and objects among them: each of these takes memory of its own. */
export const valuesMax = 1_000_000;
export const partsMax = 250_000;

/** What makes JSON too dear to parse: its depth, or the number of its values. */
export type JsonExcess = 'deep' | 'many';

const quote = 0x22;
const backslash = 0x5c;

/** Measures JSON before it is parsed, because a parse pays for every level and every value. null where it may be parsed. */
export function excessOf(bytes: Uint8Array): JsonExcess | null {
  let depth = 0;
  let values = 0;
  let parts = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inString) {
      if (byte === backslash) at++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) {
      inString = true;
      if (++parts > partsMax) return 'many';
    } else if (byte === 0x2c) {
      if (++values > valuesMax) return 'many';
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > nestingMax) return 'deep';
      if (++parts > partsMax) return 'many';
    } else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return null;
}

/** The entry of a table by a word of a client or a provider, which may name what every object has, such as `constructor`. */
export function entryOf<T>(table: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}
