/**
 * Takes long texts out of a JSON body before it is parsed, and puts them back into what is written from it. A body of 32 MiB is mostly a
 * few long texts, and each step that copies them takes that much memory again.
 */
import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { spaceFor } from '../base/large-memory.js';
import type { TextEncoding } from './json-text.js';

/** Shorter texts stay where they are. */
const longFrom = 512;

/** Members that hold what a client says, shows or attaches. Nothing is decided by these texts, so they need not be read. */
const textMembers = new Set([
  ...['content', 'text', 'data', 'url', 'image_url', 'file_data', 'arguments', 'output', 'input', 'instructions'],
  ...['system', 'thinking', 'signature', 'query', 'documents'],
]);
/** A longer name is none that is read. */
const nameMax = 128;

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const letterU = 0x75;
const escapable = new Set([...'"\\/bfnrtu'].map((character) => character.charCodeAt(0)));

/**
 * null where there are none, or where the body is not valid: a parser then says what is wrong. `isRead` says of a field of the body whether
 * anything is read from it; the others go on as they are, with whatever they hold. `isText` says of a member whether its text may be taken out.
 */
export function takeOutLongTexts(
  body: Buffer,
  isRead: (field: string) => boolean,
  isText: (member: string) => boolean = (member) => textMembers.has(member),
): LongTexts | null {
  if (body.length < longFrom || !isUtf8(body)) return null;
  const found = new LongTexts(body);
  let depth = 0;
  let inTextMember = false;
  let inUnread = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (byte === 0x7b || byte === 0x5b) depth++;
    else if (byte === 0x7d || byte === 0x5d) depth--;
    if (byte !== quote) continue;
    const end = stringEnd(body, at + 1);
    if (end === -1) return null;
    if (nextCode(body, end + 1) === colon) {
      const name = end - at <= nameMax ? body.toString('latin1', at + 1, end) : '';
      inTextMember = isText(name);
      if (depth === 1) inUnread = name !== '' && !isRead(name);
    } else if ((inTextMember || inUnread) && end - at > longFrom) found.takeOut(at + 1, end);
    at = end;
  }
  return found.isEmpty ? null : found;
}

/** Where the string ends whose inside begins at `from`; -1 where it does not end, or is not valid JSON. */
function stringEnd(body: Buffer, from: number): number {
  for (let at = from; at < body.length; at++) {
    const byte = body[at]!;
    if (byte === quote) return at;
    if (byte < 0x20) return -1;
    if (byte !== backslash) continue;
    const escaped = body[++at]!;
    if (!escapable.has(escaped)) return -1;
    if (escaped !== letterU) continue;
    for (let digit = 1; digit <= 4; digit++) if (!isHex(body[at + digit] ?? 0)) return -1;
    at += 4;
  }
  return -1;
}

function isHex(byte: number): boolean {
  const lower = byte | 0x20;
  return (byte >= 0x30 && byte <= 0x39) || (lower >= 0x61 && lower <= 0x66);
}

function nextCode(body: Buffer, from: number): number {
  let at = from;
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at++;
  return body[at] ?? 0;
}

const nothing = Buffer.alloc(0);

export class LongTexts {
  /** Nobody can guess it, so no text of a client looks like the place of another. */
  private readonly mark = randomBytes(16).toString('hex');
  /** A place has a quote on both sides: each time that it is written into a JSON text, more backslashes come before them. */
  private readonly place = new RegExp(`(\\\\+)"${this.mark}:(\\d+)\\1"`, 'g');
  /** Where the insides begin and end. There may be tens of thousands, so nothing is made for each of them. */
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];

  constructor(private readonly body: Buffer) {}

  get isEmpty(): boolean {
    return this.starts.length === 0;
  }

  /** The inside of a string, which has to come behind those that were taken out before. */
  takeOut(start: number, end: number): void {
    this.starts.push(start);
    this.ends.push(end);
  }

  /** The body with a short text in the place of each long one. */
  rest(): Buffer {
    const { body, starts, ends } = this;
    const rest = spaceFor(body.length);
    let at = 0;
    let from = 0;
    for (let number = 0; number < starts.length; number++) {
      at += body.copy(rest, at, from, starts[number]);
      at += rest.write(`\\"${this.mark}:${number}\\"`, at, 'latin1');
      from = ends[number]!;
    }
    at += body.copy(rest, at, from);
    return rest.subarray(0, at);
  }

  /** The bytes of a JSON text that was written from the rest, with the long texts in their places. They own their memory. */
  putBack(text: string, encoding: TextEncoding): Buffer {
    let length = 0;
    this.eachPlace(text, (from, to, inside) => {
      length += Buffer.byteLength(text.slice(from, to), encoding) + inside.length;
    });
    const bytes = spaceFor(length);
    let at = 0;
    this.eachPlace(text, (from, to, inside) => {
      at += bytes.write(text.slice(from, to), at, encoding);
      bytes.set(inside, at);
      at += inside.length;
    });
    return bytes;
  }

  /** Where a position of such a text is once the long texts are in their places. */
  positionOf(text: string, position: number): number {
    let length = 0;
    this.eachPlace(text.slice(0, position), (from, to, inside) => {
      length += to - from + inside.length;
    });
    return length;
  }

  /** Calls `take` with each piece of such a text, in order. A long text comes as the client wrote it. */
  eachPiece(text: string, encoding: TextEncoding, take: (piece: Buffer, isLong: boolean) => void): void {
    this.eachPlace(text, (from, to, inside) => {
      take(Buffer.from(text.slice(from, to), encoding), false);
      if (inside.length > 0) take(inside, true);
    });
  }

  /** Calls `take` with each piece of the text between two places, and what belongs behind it; nothing at the end. */
  private eachPlace(text: string, take: (from: number, to: number, inside: Buffer) => void): void {
    let from = 0;
    for (const { index, 0: found, 1: slashes, 2: number } of text.matchAll(this.place)) {
      const inside = this.body.subarray(this.starts[Number(number)], this.ends[Number(number)]);
      take(from, index, escapedText(inside, slashes!.length));
      from = index + found.length;
    }
    take(from, text.length, nothing);
  }
}

/** `slashes` are those before a quote: one in a JSON text, three in a JSON text that is a string of another one, and so on. */
function escapedText(inside: Buffer, slashes: number): Buffer {
  let text = inside;
  for (let rest = slashes; rest > 1; rest = (rest - 1) / 2) {
    text = Buffer.from(JSON.stringify(text.toString('latin1')).slice(1, -1), 'latin1');
  }
  return text;
}

/** What is read of a long text at once: the whole of it would take its memory several times. */
const partBytes = 64 * 1024;

/** Cuts the inside of a JSON string between its characters and escapes. The escapes of a surrogate pair stay together. */
export function* partsOf(inside: Buffer): Generator<Buffer> {
  let from = 0;
  for (let at = 0; at < inside.length; at += lengthAt(inside, at)) {
    const byte = inside[at]!;
    if (at - from < partBytes || (byte >= 0x80 && byte < 0xc0) || isLowSurrogate(inside, at)) continue;
    yield inside.subarray(from, at);
    from = at;
  }
  yield inside.subarray(from);
}

/** Of a character's byte, or of an escape. */
function lengthAt(inside: Buffer, at: number): number {
  if (inside[at] !== backslash) return 1;
  return inside[at + 1] === letterU ? 6 : 2;
}

function isLowSurrogate(inside: Buffer, at: number): boolean {
  return inside[at] === backslash && /^\\ud[c-f]/i.test(inside.toString('latin1', at, at + 4));
}
