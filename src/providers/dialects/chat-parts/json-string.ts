/** The insides of JSON strings, for translators that splice text from frame to frame without parsing it. */
import type { TextEncoding } from '../../../wire/json-text.js';

const unplain = /["\\]|[^\u0020-\uffff]/;
const inside = /^(?:[\u0020\u0021\u0023-\u005b\u005d-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*$/;
/** Beyond this a regular expression may run out of stack. */
const checkedMax = 1024 * 1024;

/** True where the text, between two quotes, is one JSON string. Text that is too long to be checked is not taken for one. */
export function isStringInside(text: string): boolean {
  if (!unplain.test(text)) return true;
  return text.length <= checkedMax && inside.test(text);
}

/** An event's JSON, read so that no character is harmed. */
export interface ReadEvent {
  value: unknown;
  /** Of the strings in it. */
  encoding: TextEncoding;
  /** Writes any value out of it as latin1 JSON text. */
  write(value: unknown): string;
}

const writeBytes = (value: unknown): string => JSON.stringify(value);
const writeThroughUtf8 = (value: unknown): string => Buffer.from(JSON.stringify(value), 'utf8').toString('latin1');

/** `data` is latin1; with an escape in it, it is read as UTF-8 (see wire/json-text). null where it is no JSON. */
export function readEvent(data: string): ReadEvent | null {
  const escaped = data.includes('\\u');
  try {
    const value: unknown = JSON.parse(escaped ? Buffer.from(data, 'latin1').toString('utf8') : data);
    return escaped
      ? { value, encoding: 'utf8', write: writeThroughUtf8 }
      : { value, encoding: 'latin1', write: writeBytes };
  } catch {
    return null;
  }
}
