/**
 * A function call that comes in pieces: its name first, then values of its arguments, each with the path where it belongs. A
 * value of text may itself come in pieces. The call is passed on when it is complete.
 */
import type { TextEncoding } from '../../../wire/json-text.js';
import { type Fields, isFields } from '../chat-parts/items.js';

/** What is read of a call, in the encoding of the event that completes it. */
export interface CompleteCall {
  id: unknown;
  name: string;
  /** JSON text. */
  arguments: string;
  signature: unknown;
}

/** Nested deeper than this, arguments are no use to anybody. */
const depthMax = 128;

export class PartialCall {
  private readonly name: string;
  private id: unknown;
  private signature: unknown;
  private readonly args: Fields = Object.create(null) as Fields;
  /** The path of a text that goes on; null where none does. */
  private openPath: string | null = null;

  constructor(name: string, encoding: TextEncoding) {
    this.name = decoded(name, encoding);
  }

  take(call: Fields, signature: unknown, encoding: TextEncoding): void {
    this.id ??= call.id;
    this.signature ??= signature;
    if (isFields(call.args)) Object.assign(this.args, decodedAll(call.args, encoding));
    const pieces = Array.isArray(call.partialArgs) ? call.partialArgs : [];
    for (const piece of pieces) if (isFields(piece)) this.takePiece(piece, encoding);
  }

  complete(encoding: TextEncoding): CompleteCall {
    const { id, signature } = this;
    return {
      id,
      name: encoded(this.name, encoding),
      arguments: encoded(JSON.stringify(this.args), encoding),
      signature,
    };
  }

  private takePiece(piece: Fields, encoding: TextEncoding): void {
    const path = String(piece.jsonPath ?? '');
    const keys = keysOf(decoded(path, encoding));
    const goesOn = this.openPath === path;
    this.openPath = piece.willContinue === true ? path : null;
    if (keys === null) return;
    const value = pieceValue(piece, encoding);
    if (value !== undefined) put(this.args, keys, value, goesOn);
  }
}

/** undefined where the piece has no value, as one that only says that a text is over. */
function pieceValue({ stringValue, numberValue, boolValue, nullValue }: Fields, encoding: TextEncoding): unknown {
  if (typeof stringValue === 'string') return decoded(stringValue, encoding);
  if (typeof numberValue === 'number') return numberValue;
  if (typeof boolValue === 'boolean') return boolValue;
  return nullValue === undefined ? undefined : null;
}

const firstKey = /^\$?/;
const nextKey = /\.?([^.[\]'"*?]+)|\[\s*(?:(\d+)|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\]/y;

/** The keys of a JSONPath (RFC 9535) that names one place: `$.a.b[0]['c d']`. null where it is something else. */
function keysOf(path: string): (string | number)[] | null {
  const keys: (string | number)[] = [];
  nextKey.lastIndex = firstKey.exec(path)![0].length;
  while (nextKey.lastIndex < path.length) {
    const match = nextKey.exec(path);
    // The prototype of an object is no argument.
    if (match === null || keys.length === depthMax || match[0].includes('__proto__')) return null;
    const [, plain, index, single, double] = match;
    keys.push(index !== undefined ? Number(index) : (plain ?? unescaped(single ?? double ?? '')));
  }
  return keys.length > 0 && typeof keys[0] === 'string' ? keys : null;
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, '$1');
}

/** Objects and lists on the way are made as they are named. */
function put(root: Fields, keys: readonly (string | number)[], value: unknown, goesOn: boolean): void {
  let at: unknown = root;
  keys.forEach((key, depth) => {
    const holder = at as Record<string | number, unknown>;
    // A list grows by one at a time, whatever index a provider names.
    const place = Array.isArray(holder) ? Math.min(Number(key) || 0, holder.length) : key;
    if (depth === keys.length - 1) {
      const before = holder[place];
      holder[place] = goesOn && typeof before === 'string' && typeof value === 'string' ? before + value : value;
      return;
    }
    const below = holder[place];
    if (typeof below !== 'object' || below === null) {
      holder[place] = typeof keys[depth + 1] === 'number' ? [] : Object.create(null);
    }
    at = holder[place];
  });
}

/** Events of one stream may be read in different encodings, so text is kept as it was meant. */
function decoded(text: string, encoding: TextEncoding): string {
  return encoding === 'latin1' ? Buffer.from(text, 'latin1').toString('utf8') : text;
}

function encoded(text: string, encoding: TextEncoding): string {
  return encoding === 'latin1' ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

function decodedAll(value: Fields, encoding: TextEncoding): Fields {
  return JSON.parse(decoded(JSON.stringify(value), encoding)) as Fields;
}
