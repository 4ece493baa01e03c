/** The response of an upstream as it arrives: its head, which is scanned here where it is usual, and the body of one that is no stream. */
import { Buffer } from 'node:buffer';
import { collectSoon } from '../../base/v8-settings.js';
import type { Head } from './parse-head.js';

/** Only this much of an error body is read. */
export const errorBytesMax = 64 * 1024;

/** How server-sent events begin: with the right content type, and without it. */
const notBareJson = /^\s*[^\s{[]|^\s*$/;
const namedField = /^\s*(?:data|event|id|retry)?:/;

/** The parts of the head that the gateway uses. Headers of an upstream never reach a client. */
export class ResponseHead {
  /** The content encoding; empty where there is none. */
  readonly encoding: string;
  readonly contentType: string;

  constructor(
    readonly status: number,
    private readonly headers: readonly string[],
  ) {
    let contentType = '';
    let encoding = '';
    for (let i = 0; i + 1 < headers.length; i += 2) {
      const { length } = headers[i]!;
      // Only the two wanted names have these lengths.
      if (length !== 12 && length !== 16) continue;
      const name = headers[i]!.toLowerCase();
      if (name === 'content-type') contentType = headers[i + 1]!.toLowerCase();
      else if (name === 'content-encoding') encoding += `${encoding && ','}${headers[i + 1]!.trim().toLowerCase()}`;
    }
    this.contentType = contentType;
    this.encoding = encoding === 'identity' ? '' : encoding;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get isEventStream(): boolean {
    return this.contentType.startsWith('text/event-stream');
  }

  /**
   * Whether a body that begins like this is a stream. The content type decides; without one, the first bytes do, because some servers
   * stream without naming it. A bare JSON value is never a stream: it is an error in the place of one.
   */
  startsEvents(chunk: Buffer): boolean {
    return (this.isEventStream ? notBareJson : namedField).test(chunk.toString('latin1', 0, 64));
  }

  /** AWS's own framing of a stream. */
  get isAmazonEventStream(): boolean {
    return this.contentType.startsWith('application/vnd.amazon.eventstream');
  }

  header(wanted: string): string | undefined {
    for (let i = 0; i + 1 < this.headers.length; i += 2) {
      if (this.headers[i]!.toLowerCase() === wanted) return this.headers[i + 1]!;
    }
    return undefined;
  }
}

/** Never added to: the first piece is a list of its own. */
const noPieces: Buffer[] = [];
const largeBytes = 256 * 1024;
const growthBytes = 4 * 1024 * 1024;
/** What is read of a larger one leaves so much garbage that it is collected soon. */
const collectedBytes = 1024 * 1024;

/**
 * The bytes of a body while it arrives. A large one is kept in one piece of memory that grows in its place: pieces that are put together at
 * the end would take twice as much, and stay until the next full collection.
 */
export class CollectedBody {
  length = 0;
  private pieces: Buffer[] = noPieces;
  private memory: ArrayBuffer | null = null;

  /** `bytesMax` is as much as is ever added. */
  constructor(readonly bytesMax: number) {}

  /** Copies the bytes. */
  add(bytes: Buffer): void {
    if (this.length + bytes.length > largeBytes) bytes.copy(this.room(bytes.length));
    else if (this.length === 0) this.pieces = [Buffer.from(bytes)];
    else this.pieces.push(Buffer.from(bytes));
    this.length += bytes.length;
  }

  /** All bytes; of a large body it is memory of its own. Nothing is left here. */
  take(): Buffer {
    const { pieces, memory, length } = this;
    this.clear();
    if (memory === null) return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    memory.resize(length);
    return Buffer.from(memory);
  }

  clear(): void {
    if (this.length > collectedBytes) collectSoon();
    this.pieces = noPieces;
    this.memory = null;
  }

  /** The memory behind what is there. */
  private room(bytes: number): Uint8Array {
    const needed = this.length + bytes;
    if (this.memory === null) {
      this.memory = new ArrayBuffer(needed, { maxByteLength: this.bytesMax });
      let at = 0;
      for (const piece of this.pieces) at += piece.copy(new Uint8Array(this.memory, at));
      this.pieces = noPieces;
    } else if (needed > this.memory.byteLength) {
      this.memory.resize(Math.min(this.bytesMax, needed + growthBytes));
    }
    return new Uint8Array(this.memory, this.length);
  }
}

const ascii = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'));

/** 1 for the bytes of a header's name. */
const nameBytes = new Uint8Array(256);
for (const char of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
  nameBytes[char.charCodeAt(0)] = 1;

/** Not 0 for the bytes of a header's value, and 1 for those that a value may have which is read here. */
const valueBytes = new Uint8Array(256).fill(1, 0x20, 0x7f).fill(2, 0x80);
valueBytes[0x09] = 2;

const statusStart = ascii('HTTP/1.1 2');
const names = {
  connection: ascii('connection'),
  keepAlive: ascii('keep-alive'),
  contentType: ascii('content-type'),
  contentLength: ascii('content-length'),
  contentEncoding: ascii('content-encoding'),
  transferEncoding: ascii('transfer-encoding'),
} as const;
const json = ascii('application/json');
const chunked = ascii('chunked');
const lengthDigitsMax = 10;
const space = 0x20;
const colon = 0x3a;
const none: readonly string[] = [];
const jsonOnly: readonly string[] = ['content-type', 'application/json'];

interface ScannedHead extends Head {
  bodyStart: number;
}

/**
 * The head of the usual good answer, from the bytes of its connection and without a text of it. Of its headers only the type of the body is
 * listed. null for everything else, which `parseHead` reads or refuses.
 */
export function scanHead(bytes: Buffer): ScannedHead | null {
  const statusEnd = statusStart.length + 2;
  if (!isAt(bytes, 0, statusStart) || bytes.length < statusEnd + 2) return null;
  const status = 200 + digitAt(bytes, statusEnd - 2) * 10 + digitAt(bytes, statusEnd - 1);
  let at = bytes[statusEnd] === space ? valueEnd(bytes, statusEnd) : statusEnd;
  if (Number.isNaN(status) || !isLineEnd(bytes, at)) return null;
  const head: ScannedHead = {
    status,
    headers: none,
    contentLength: null,
    chunked: false,
    keepsAlive: true,
    keepAliveMs: null,
    bodyStart: 0,
  };
  for (at += 2; at < bytes.length; at += 2) {
    if (isLineEnd(bytes, at)) {
      head.bodyStart = at + 2;
      return head;
    }
    const start = at;
    while (at < bytes.length && nameBytes[bytes[at]!] === 1) at++;
    if (at === bytes.length || bytes[at] !== colon || at === start) return null;
    const colonAt = at;
    at = valueEnd(bytes, colonAt + 1);
    if (!isLineEnd(bytes, at) || !takeLine(head, bytes, start, colonAt, at)) return null;
  }
  return null;
}

/** False where the line decides about the body or the connection in an unusual way. */
function takeLine(head: ScannedHead, bytes: Buffer, nameStart: number, nameEnd: number, lineEnd: number): boolean {
  switch (nameEnd - nameStart) {
    case names.connection.length:
      if (isAt(bytes, nameStart, names.keepAlive)) return false;
      return !isAt(bytes, nameStart, names.connection) || isValue(bytes, nameEnd + 1, lineEnd, names.keepAlive);
    case names.contentType.length:
      return !isAt(bytes, nameStart, names.contentType) || takeType(head, bytes, nameEnd + 1, lineEnd);
    case names.contentLength.length:
      return !isAt(bytes, nameStart, names.contentLength) || takeLength(head, bytes, nameEnd + 1, lineEnd);
    case names.contentEncoding.length:
      return !isAt(bytes, nameStart, names.contentEncoding);
    case names.transferEncoding.length:
      if (!isAt(bytes, nameStart, names.transferEncoding)) return true;
      if (head.chunked || head.contentLength !== null) return false;
      head.chunked = true;
      return isValue(bytes, nameEnd + 1, lineEnd, chunked);
    default:
      return true;
  }
}

function takeType(head: ScannedHead, bytes: Buffer, start: number, end: number): boolean {
  if (head.headers !== none) return false;
  if (isValue(bytes, start, end, json)) head.headers = jsonOnly;
  else {
    for (let at = start; at < end; at++) if (valueBytes[bytes[at]!] !== 1) return false;
    head.headers = ['content-type', bytes.toString('latin1', start, end).trim()];
  }
  return true;
}

function takeLength(head: ScannedHead, bytes: Buffer, start: number, end: number): boolean {
  const from = withoutSpaces(bytes, start);
  const digits = end - from;
  if (head.chunked || head.contentLength !== null || digits < 1 || digits > lengthDigitsMax) return false;
  let length = 0;
  for (let at = from; at < end; at++) length = length * 10 + digitAt(bytes, at);
  head.contentLength = length;
  return !Number.isNaN(length);
}

function withoutSpaces(bytes: Buffer, start: number): number {
  let at = start;
  while (bytes[at] === space) at++;
  return at;
}

/** Whether a value, with spaces before it and none behind, is this text. */
function isValue(bytes: Buffer, start: number, end: number, text: Uint8Array): boolean {
  const from = withoutSpaces(bytes, start);
  return end - from === text.length && isAt(bytes, from, text);
}

/** Without regard to the case of letters. `text` has no capitals, except at the start of a response. */
function isAt(bytes: Buffer, start: number, text: Uint8Array): boolean {
  if (start + text.length > bytes.length) return false;
  for (let i = 0; i < text.length; i++) {
    const byte = bytes[start + i]!;
    if (byte !== text[i] && (byte < 0x41 || byte > 0x5a || byte + 32 !== text[i])) return false;
  }
  return true;
}

function valueEnd(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && valueBytes[bytes[at]!] !== 0) at++;
  return at;
}

function isLineEnd(bytes: Buffer, at: number): boolean {
  return at + 1 < bytes.length && bytes[at] === 0x0d && bytes[at + 1] === 0x0a;
}

function digitAt(bytes: Buffer, at: number): number {
  const digit = bytes[at]! - 0x30;
  return digit >= 0 && digit <= 9 ? digit : Number.NaN;
}
