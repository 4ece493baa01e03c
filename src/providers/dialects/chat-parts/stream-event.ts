/** Reads events of a stream without damaging text, and checks text that is copied between frames without parsing. */
import { asLatin1, decodeLatin1, encodeLatin1, type Latin1Text } from '../../../base/latin1.js';
import type { TextEncoding } from '../../../wire/json-text.js';

const unplain = /["\\]|[^\u0020-\uffff]/;
const inside = /^(?:[\u0020\u0021\u0023-\u005b\u005d-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*$/;
/** Beyond this a regular expression may run out of stack. */
const checkedMax = 1024 * 1024;

/** Whether the text, between two quotes, is one JSON string. Text that is too long to check is not accepted. */
export function isStringInside(text: string): boolean {
  if (!unplain.test(text)) return true;
  return text.length <= checkedMax && inside.test(text);
}

/** The parsed JSON of an event. */
export interface ReadEvent {
  value: unknown;
  /** The encoding of the strings in `value`. */
  encoding: TextEncoding;
  /** Writes a value of the event as latin1 JSON text. */
  write(value: unknown): Latin1Text;
}

const writeLatin1 = (value: unknown): Latin1Text => asLatin1(JSON.stringify(value));
const writeUtf8 = (value: unknown): Latin1Text => encodeLatin1(JSON.stringify(value));

/** With a `\\u` escape in it, the data is read as UTF-8 (src/wire/json-text.ts). Null where it is not JSON. */
export function readEvent(data: Latin1Text): ReadEvent | null {
  const escaped = data.includes('\\u');
  try {
    const value: unknown = JSON.parse(escaped ? decodeLatin1(data) : data);
    return escaped ? { value, encoding: 'utf8', write: writeUtf8 } : { value, encoding: 'latin1', write: writeLatin1 };
  } catch {
    return null;
  }
}
