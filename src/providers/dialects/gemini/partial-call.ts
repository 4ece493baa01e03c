/**
 * Assembles a function call that arrives in pieces: first the name, then argument values with their paths. A text value may itself
 * arrive in pieces. The call is passed on when it is complete.
 */
import { asLatin1, decodeLatin1, encodeLatin1 } from '../../../base/latin1.js';
import type { TextEncoding } from '../../../wire/json-text.js';
import { argumentsOf } from '../chat-parts/completion.js';
import { type Fields, isFields } from '../chat-parts/conversation.js';

/** A call, in the encoding of the event that completes it. */
export interface CompleteCall {
  id: unknown;
  name: string;
  /** JSON text, empty where the call has none. */
  arguments: string;
  signature: unknown;
}

/** Limits against hostile input. */
const depthMax = 128;
/** No model writes arguments of that length. */
const charactersMax = 1024 * 1024;

export class PartialCall {
  private readonly name: string;
  private id: unknown;
  private signature: unknown;
  private readonly args: Fields = Object.create(null) as Fields;
  /** The path of a text value that continues; null where none does. */
  private openPath: string | null = null;
  private characters = 0;

  constructor(name: string, encoding: TextEncoding) {
    this.name = decode(name, encoding);
  }

  take(call: Fields, signature: unknown, encoding: TextEncoding): void {
    this.id ??= call.id;
    this.signature ??= signature;
    if (this.characters > charactersMax) return;
    this.characters += JSON.stringify(call).length;
    if (this.characters > charactersMax) return;
    if (isFields(call.args)) Object.assign(this.args, decodeAll(call.args, encoding));
    const pieces = Array.isArray(call.partialArgs) ? call.partialArgs : [];
    for (const piece of pieces) if (isFields(piece)) this.takePiece(piece, encoding);
  }

  /** A call that was cut off, or became too long, keeps its last brace open, so that nobody takes its arguments for all. */
  complete(encoding: TextEncoding, isCut: boolean): CompleteCall {
    const { id, signature } = this;
    const text = argumentsOf(this.args);
    return {
      id,
      name: encode(this.name, encoding),
      arguments: encode(isCut || this.characters > charactersMax ? text.slice(0, -1) : text, encoding),
      signature,
    };
  }

  private takePiece(piece: Fields, encoding: TextEncoding): void {
    const path = String(piece.jsonPath ?? '');
    const keys = keysOf(decode(path, encoding));
    const continues = this.openPath === path;
    this.openPath = piece.willContinue === true ? path : null;
    if (keys === null) return;
    const value = pieceValue(piece, encoding);
    if (value !== undefined) put(this.args, keys, value, continues);
  }
}

/** Undefined where the piece has no value, such as one that only ends a text. */
function pieceValue({ stringValue, numberValue, boolValue, nullValue }: Fields, encoding: TextEncoding): unknown {
  if (typeof stringValue === 'string') return decode(stringValue, encoding);
  if (typeof numberValue === 'number') return numberValue;
  if (typeof boolValue === 'boolean') return boolValue;
  return nullValue === undefined ? undefined : null;
}

const firstKey = /^\$?/;
const nextKey = /\.?([^.[\]'"*?]+)|\[\s*(?:(\d+)|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\]/y;

/** The keys of a JSONPath (RFC 9535) to a single value, such as `$.a.b[0]['c d']`. Null for any other path. */
function keysOf(path: string): (string | number)[] | null {
  const keys: (string | number)[] = [];
  nextKey.lastIndex = firstKey.exec(path)![0].length;
  while (nextKey.lastIndex < path.length) {
    const match = nextKey.exec(path);
    // A path must not reach the prototype of an object.
    if (match === null || keys.length === depthMax || match[0].includes('__proto__')) return null;
    const [, plain, index, single, double] = match;
    keys.push(index !== undefined ? Number(index) : (plain ?? withoutBackslashes(single ?? double ?? '')));
  }
  return keys.length > 0 && typeof keys[0] === 'string' ? keys : null;
}

function withoutBackslashes(text: string): string {
  return text.replace(/\\(.)/g, '$1');
}

/** Creates the objects and lists along the path. */
function put(root: Fields, keys: readonly (string | number)[], value: unknown, continues: boolean): void {
  let at: unknown = root;
  keys.forEach((key, depth) => {
    const holder = at as Record<string | number, unknown>;
    // A list grows by one element at a time, whatever index the provider names.
    const place = Array.isArray(holder) ? Math.min(Number(key) || 0, holder.length) : key;
    if (depth === keys.length - 1) {
      const before = holder[place];
      holder[place] = continues && typeof before === 'string' && typeof value === 'string' ? before + value : value;
      return;
    }
    const below = holder[place];
    if (typeof below !== 'object' || below === null) {
      holder[place] = typeof keys[depth + 1] === 'number' ? [] : Object.create(null);
    }
    at = holder[place];
  });
}

/** Events of one stream may have different encodings, so pieces are kept as ordinary text. */
function decode(text: string, encoding: TextEncoding): string {
  return encoding === 'latin1' ? decodeLatin1(asLatin1(text)) : text;
}

function encode(text: string, encoding: TextEncoding): string {
  return encoding === 'latin1' ? encodeLatin1(text) : text;
}

function decodeAll(value: Fields, encoding: TextEncoding): Fields {
  return JSON.parse(decode(JSON.stringify(value), encoding)) as Fields;
}
