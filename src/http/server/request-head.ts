/**
 * A strict parser for the heads of requests to the doors. It accepts one plain form of request and nothing else; whatever it does not
 * accept goes to node:http, which decides and refuses (docs/decisions/0037). So it never needs to say what is wrong.
 */

import type { Door } from '../../doors/door.js';
import { doors } from '../../doors/registry.js';

/** The head has not arrived in full, and what is there may still be accepted. */
export const headIncomplete = 0;
/** Not a request that this parser accepts. */
export const headNotAccepted = -1;

/** A request with a longer body goes to node:http. It is also the length that is read and thrown away after a refusal. */
export const plainBodyBytesMax = 64 * 1024;
/** node:http counts names and values only, so whatever is within this bound here is within it there. */
const headBytesMax = 16 * 1024;
const contentLengthDigitsMax = 5;

const cr = 13;
const lf = 10;
const colon = 58;
const space = 32;
const tab = 9;

/** The bytes of a header's name: `tchar` of RFC 9110, each as its lower case; 0 for all others. */
const nameBytes = new Uint8Array(256);
for (const char of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz")
  nameBytes[char.charCodeAt(0)] = char.charCodeAt(0);
for (let byte = 65; byte <= 90; byte++) nameBytes[byte] = byte + 32;

/** 1 for the bytes of a header's value: visible ones, space, tab and everything from 0x80. */
const valueBytes = new Uint8Array(256).fill(1, space).fill(0, 127, 128);
valueBytes[tab] = 1;

/** 1 for the bytes of a host and port, the same as `headFault` in `malformed-requests.ts` accepts in a Host header. */
const hostBytes = new Uint8Array(256);
for (let byte = 0; byte < 128; byte++)
  if (/[\w.:[\]~!$&'()*+;=%-]/.test(String.fromCharCode(byte))) hostBytes[byte] = 1;

const ascii = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'));

interface DoorLine {
  readonly door: Door;
  readonly bytes: Uint8Array;
}

const doorLines: readonly DoorLine[] = doors.map((door) => ({ door, bytes: ascii(`POST ${door.path} HTTP/1.1\r\n`) }));

const names = {
  host: ascii('host'),
  origin: ascii('origin'),
  expect: ascii('expect'),
  upgrade: ascii('upgrade'),
  connection: ascii('connection'),
  contentType: ascii('content-type'),
  authorization: ascii('authorization'),
  contentLength: ascii('content-length'),
  proxyConnection: ascii('proxy-connection'),
  transferEncoding: ascii('transfer-encoding'),
} as const;
const keepAlive = ascii('keep-alive');

/** Reads heads one after another. Its fields describe the head that was accepted last; positions are those in the bytes it was given. */
export class HeadParser {
  door: Door = doorLines[0]!.door;
  contentLength = -1;
  /** 0 where the header is absent. */
  authorizationStart = 0;
  authorizationEnd = 0;
  contentTypeStart = 0;
  contentTypeEnd = 0;
  /** Only browsers send `origin`. */
  fromBrowser = false;
  private hasHost = false;
  private hasConnection = false;
  /** Where the first line starts that was not read in full; 0 before the request line was. */
  private lineStart = 0;

  /** Returns where the body starts, `headIncomplete` or `headNotAccepted`. */
  parse(bytes: Uint8Array, length: number): number {
    this.lineStart = 0;
    this.contentLength = -1;
    this.authorizationStart = 0;
    this.contentTypeStart = 0;
    this.fromBrowser = false;
    this.hasHost = false;
    this.hasConnection = false;
    return this.parseOn(bytes, length, 0);
  }

  /** The same for a head that was incomplete, with more bytes behind the `known` ones. Each line is read once, when it has ended. */
  parseOn(bytes: Uint8Array, length: number, known: number): number {
    if (known > 0 && this.lineStart > 0 && length < headBytesMax && !hasLineEnd(bytes, known, length))
      return headIncomplete;
    if (this.lineStart === 0) {
      const line = doorLine(bytes, length);
      if (line === null) return headNotAccepted;
      if (length < line.bytes.length) return headIncomplete;
      this.door = line.door;
      this.lineStart = line.bytes.length;
    }
    const end = this.parseHeaders(bytes, Math.min(length, headBytesMax));
    if (end === headIncomplete && length >= headBytesMax) return headNotAccepted;
    if (end > 0 && !(this.hasHost && this.contentLength >= 0)) return headNotAccepted;
    return end;
  }

  private parseHeaders(bytes: Uint8Array, length: number): number {
    for (;;) {
      let at = this.lineStart;
      if (at >= length) return headIncomplete;
      if (bytes[at] === cr) {
        if (at + 1 >= length) return headIncomplete;
        return bytes[at + 1] === lf ? at + 2 : headNotAccepted;
      }
      const nameStart = at;
      while (at < length && nameBytes[bytes[at]!] !== 0) at++;
      if (at >= length) return headIncomplete;
      if (bytes[at] !== colon || at === nameStart) return headNotAccepted;
      const nameEnd = at++;
      while (at < length && isBlank(bytes[at]!)) at++;
      const valueStart = at;
      while (at < length && valueBytes[bytes[at]!] === 1) at++;
      if (at >= length) return headIncomplete;
      if (bytes[at] !== cr) return headNotAccepted;
      if (at + 1 >= length) return headIncomplete;
      if (bytes[at + 1] !== lf) return headNotAccepted;
      let valueEnd = at;
      while (valueEnd > valueStart && isBlank(bytes[valueEnd - 1]!)) valueEnd--;
      if (!this.accepts(bytes, nameStart, nameEnd, valueStart, valueEnd)) return headNotAccepted;
      this.lineStart = at + 2;
    }
  }

  /** False for headers that change the framing or the connection, and for those that may be sent once only and come twice. */
  private accepts(bytes: Uint8Array, nameStart: number, nameEnd: number, start: number, end: number): boolean {
    switch (nameEnd - nameStart) {
      case names.host.length:
        return !equals(bytes, nameStart, names.host) || this.takeHost(bytes, start, end);
      case names.origin.length:
        if (equals(bytes, nameStart, names.origin)) this.fromBrowser = true;
        return !equals(bytes, nameStart, names.expect);
      case names.upgrade.length:
        return !equals(bytes, nameStart, names.upgrade);
      case names.connection.length:
        return !equals(bytes, nameStart, names.connection) || this.takeConnection(bytes, start, end);
      case names.contentType.length:
        if (!equals(bytes, nameStart, names.contentType)) return true;
        if (this.contentTypeStart !== 0) return false;
        this.contentTypeStart = start;
        this.contentTypeEnd = end;
        return true;
      case names.authorization.length:
        if (!equals(bytes, nameStart, names.authorization)) return true;
        if (this.authorizationStart !== 0) return false;
        this.authorizationStart = start;
        this.authorizationEnd = end;
        return true;
      case names.contentLength.length:
        return !equals(bytes, nameStart, names.contentLength) || this.takeContentLength(bytes, start, end);
      case names.proxyConnection.length:
        return !equals(bytes, nameStart, names.proxyConnection);
      case names.transferEncoding.length:
        return !equals(bytes, nameStart, names.transferEncoding);
      default:
        return true;
    }
  }

  private takeHost(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.hasHost) return false;
    this.hasHost = true;
    for (let at = start; at < end; at++) if (hostBytes[bytes[at]!] === 0) return false;
    return true;
  }

  private takeConnection(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.hasConnection) return false;
    this.hasConnection = true;
    return end - start === keepAlive.length && equals(bytes, start, keepAlive);
  }

  private takeContentLength(bytes: Uint8Array, start: number, end: number): boolean {
    const digits = end - start;
    if (this.contentLength >= 0 || digits === 0 || digits > contentLengthDigitsMax) return false;
    // Node accepts some blanks behind the digits and refuses others.
    if (bytes[end] !== cr) return false;
    let value = 0;
    for (let at = start; at < end; at++) {
      const digit = bytes[at]! - 48;
      if (digit < 0 || digit > 9) return false;
      value = value * 10 + digit;
    }
    this.contentLength = value;
    return value <= plainBodyBytesMax && (bytes[start] !== 48 || digits === 1);
  }
}

/** The door whose request line these bytes are, or the start of; null where there is none. */
function doorLine(bytes: Uint8Array, length: number): DoorLine | null {
  for (const line of doorLines) {
    const compared = Math.min(length, line.bytes.length);
    let at = 0;
    while (at < compared && bytes[at] === line.bytes[at]) at++;
    if (at === compared) return line;
  }
  return null;
}

function hasLineEnd(bytes: Uint8Array, from: number, to: number): boolean {
  const at = bytes.indexOf(lf, from);
  return at >= 0 && at < to;
}

function isBlank(byte: number): boolean {
  return byte === space || byte === tab;
}

/** Without regard to case. `name` is in lower case. */
function equals(bytes: Uint8Array, start: number, name: Uint8Array): boolean {
  for (let i = 0; i < name.length; i++) if (nameBytes[bytes[start + i]!] !== name[i]) return false;
  return true;
}

/** The flat list of names and values in the text of an accepted head, as node:http gives it. */
export function rawHeadersOf(head: string): string[] {
  const list: string[] = [];
  const lines = head.split('\r\n');
  // The request line is before them, and two empty lines are behind.
  for (let i = 1; i < lines.length - 2; i++) {
    const line = lines[i]!;
    const at = line.indexOf(':');
    list.push(line.slice(0, at), withoutBlanks(line, at + 1));
  }
  return list;
}

const linePatterns = new Map<string, RegExp>();

/** Whether a head has a line of this name, which is one of the few names that the code asks for. */
export function hasLine(head: string, name: string): boolean {
  let pattern = linePatterns.get(name);
  if (!pattern) {
    pattern = new RegExp(`\\r\\n${name}:`, 'i');
    linePatterns.set(name, pattern);
  }
  return pattern.test(head);
}

/** Not `trim`, which also removes other blanks, and no regular expression, which takes too long for a long run of blanks. */
function withoutBlanks(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isBlank(line.charCodeAt(start))) start++;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}
