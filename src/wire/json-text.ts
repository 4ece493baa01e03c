/**
 * JSON in and out without paying for UTF-8. A body whose text has no `\u` escape is read as latin1: every byte becomes one
 * character, so structure and ASCII values are right, and writing the text back as latin1 restores the very bytes
 *. With an escape the plain way is taken.
 */
import { isUtf8 } from 'node:buffer';

export type TextEncoding = 'latin1' | 'utf8';

export interface JsonText {
  value: unknown;
  /** What was parsed. */
  text: string;
  /** How the strings inside `value`, and any text made from it, must be written. */
  encoding: TextEncoding;
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

/** The readable form of a string that came out of a latin1 reading, for messages. */
export function readable(text: string, encoding: TextEncoding): string {
  return encoding === 'latin1' ? Buffer.from(text, 'latin1').toString('utf8') : text;
}

const beyondAscii = /[\u0080-\uffff]/;

/** A string as it was meant, for strings that are kept; nearly all are ASCII, and those cost nothing. */
export function plainText(text: string, encoding: TextEncoding): string {
  return encoding === 'latin1' && beyondAscii.test(text) ? readable(text, encoding) : text;
}

const shownMax = 100;

/** A value as a message may show it: JSON, cut to a length that fits a line, between two characters. */
export function shown(value: unknown, encoding: TextEncoding): string {
  if (Array.isArray(value)) return 'an array';
  if (value !== null && typeof value === 'object') return 'an object';
  // A character has at most four bytes, so this many always hold more than is shown.
  const text =
    typeof value === 'string' ? JSON.stringify(readable(value.slice(0, 4 * shownMax), encoding)) : String(value);
  return text.length > shownMax ? `${text.slice(0, shownMax).replace(/[\ud800-\udbff]$/, '')}…` : text;
}
