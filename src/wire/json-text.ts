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

const byteOrderMark = '\u00ef\u00bb\u00bf';

/** Parses a whole body; throws SyntaxError on text that is not JSON or not UTF-8. */
export function parseJsonBytes(bytes: Buffer): JsonText {
  if (!isUtf8(bytes)) throw new SyntaxError('the body is not valid UTF-8');
  // Asked of the bytes, because a text for nothing would be as large as the body.
  if (!bytes.includes('\\u')) {
    let text = bytes.toString('latin1');
    if (text.startsWith(byteOrderMark)) text = text.slice(3);
    return { value: JSON.parse(text), text, encoding: 'latin1' };
  }
  const decoded = bytes.toString('utf8');
  const text = decoded.charCodeAt(0) === 0xfeff ? decoded.slice(1) : decoded;
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

/** The same cap before parsing, by bytes: for large bodies, whose parse would pay for every level. */
export function bytesTooDeep(bytes: Uint8Array): boolean {
  return new JsonMeasure(depthAlone).add(bytes) !== null;
}

/** How much JSON text may hold before it is parsed. */
export interface JsonBounds {
  /** Objects, arrays and what they hold. */
  readonly values: number;
  /** Different names of members. Each is kept as a string and as a shape of objects, so they cost ten times as much as others. */
  readonly names: number;
}

const depthAlone: JsonBounds = { values: Infinity, names: Infinity };
/** Longer names count as different from all others, and so do those that two pieces share. */
const nameBytesMax = 64;
const nameBuckets = 1 << 16;
/** Unknown to whoever writes the text, so that nobody can choose names that are taken for one. */
const nameSeed = (Math.random() * 2 ** 32) | 0;
/** To read one of millions takes longer than to read millions. */
const digitsMax = 1_000;
/** After as many bytes a text is probably long, and native code looks for its end, in so many bytes at a time. */
const longBytes = 512;
const windowBytes = 4 * 1024;
const seenNames = new Uint8Array(nameBuckets);

/** The bytes that make the structure of JSON text. */
const structural = new Uint8Array(256);
for (const character of '",:[]{}') structural[character.charCodeAt(0)] = 1;

/** Measures JSON text before it is parsed, in one pass over its bytes, piece by piece. It does not check that it is JSON. */
export class JsonMeasure {
  private depth = 0;
  private values = 0;
  private names = 0;
  /** Of the number that is being read. */
  private digits = 0;
  private inString = false;
  private afterBackslash = false;
  private tooDeep = false;

  constructor(private readonly bounds: JsonBounds) {
    if (bounds.names !== Infinity) seenNames.fill(0);
  }

  /** The bound that is passed, as the end of "its answer …"; null where none is. Nothing more is read then. */
  add(bytes: Uint8Array, length = bytes.length): string | null {
    const { bounds } = this;
    let { depth, values, digits } = this;
    let at = this.inString ? this.endOfString(bytes, 0, length) : 0;
    let nameStart = -1;
    let nameEnd = -1;
    for (; at < length; at++) {
      const byte = bytes[at]!;
      if (structural[byte] === 0) {
        if (byte > 0x20 && ++digits > digitsMax && bounds !== depthAlone)
          return `has a number of over ${digitsMax} digits`;
        continue;
      }
      digits = 0;
      if (byte === 0x22) {
        nameStart = at + 1;
        at = this.endOfString(bytes, nameStart, length) - 1;
        nameEnd = at;
      } else if (byte === 0x3a) {
        if (this.isManyNames(bytes, nameStart, nameEnd)) return `has over ${bounds.names} different names`;
      } else if (byte === 0x7d || byte === 0x5d) depth--;
      else {
        // A comma or an opening bracket.
        if (++values > bounds.values) return `has over ${bounds.values} values`;
        if (byte !== 0x2c && ++depth > nestingMax) {
          this.tooDeep = true;
          return `is nested deeper than ${nestingMax} levels`;
        }
      }
    }
    this.depth = depth;
    this.values = values;
    this.digits = digits;
    return null;
  }

  /** Whether it was the depth that passed its bound. */
  get isTooDeep(): boolean {
    return this.tooDeep;
  }

  /** Where the bytes go on behind the closing quote; `length` where the string goes on in the next piece. */
  private endOfString(bytes: Uint8Array, from: number, length: number): number {
    let at = this.afterBackslash ? from + 1 : from;
    let long = from + longBytes;
    for (; at < length; at++) {
      const byte = bytes[at];
      if (byte === 0x22) {
        this.inString = false;
        this.afterBackslash = false;
        return at + 1;
      }
      if (byte === 0x5c) at++;
      else if (at >= long) {
        const next = beforeNext(bytes, at, length);
        long = next - at >= windowBytes ? next : next + longBytes;
        at = next;
      }
    }
    this.inString = true;
    this.afterBackslash = at > length;
    return length;
  }

  private isManyNames(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.bounds.names === Infinity) return false;
    if (start !== -1 && end - start <= nameBytesMax) {
      let hash = nameSeed;
      for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x5bd1e995) ^ (hash >>> 15);
      const bucket = (hash ^ (hash >>> 16)) & (nameBuckets - 1);
      if (seenNames[bucket] === 1) return false;
      seenNames[bucket] = 1;
    }
    return ++this.names > this.bounds.names;
  }
}

/** The byte before the next backslash or quote, or before what is beyond the window. */
function beforeNext(bytes: Uint8Array, at: number, length: number): number {
  const window = bytes.subarray(at + 1, Math.min(length, at + 1 + windowBytes));
  const backslash = window.indexOf(0x5c);
  const quote = (backslash === -1 ? window : window.subarray(0, backslash)).indexOf(0x22);
  if (quote !== -1) return at + quote;
  return at + (backslash === -1 ? window.length : backslash);
}

/** No honest request has nearly as many, but for the tokens of embeddings. */
const requestBounds: JsonBounds = { values: 500_000, names: 50_000 };
/**
 * What is left of a request once its long texts are set aside. A parse takes several times as much memory, and no model reads as many short
 * texts.
 */
const parsedBytesMax = 8 * 1024 * 1024;

/** What makes a request too dear to read into objects. */
interface JsonExcess {
  /** As the end of "the request body …". */
  readonly what: string;
  readonly isDeep: boolean;
}

/** Measures a request before it is parsed, because a parse pays for every level and every value. null where it may be parsed. */
export function requestExcessOf(bytes: Uint8Array): JsonExcess | null {
  const measure = new JsonMeasure(requestBounds);
  const what = measure.add(bytes);
  return what === null ? null : { what, isDeep: measure.isTooDeep };
}

/** What makes a request too dear to parse, once its long texts are set aside; null where nothing does. */
export function parseExcessOf(bytes: Uint8Array): JsonExcess | null {
  const excess = requestExcessOf(bytes);
  if (excess !== null || bytes.length <= parsedBytesMax) return excess;
  const what = `has ${bytes.length} bytes of names, settings and short texts, but at most ${parsedBytesMax} are read`;
  return { what, isDeep: false };
}

/** The entry of a table by a word of a client or a provider, which may name what every object has, such as `constructor`. */
export function entryOf<T>(table: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}
