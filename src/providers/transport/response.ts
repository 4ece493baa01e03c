/** The response of an upstream as it arrives: its head, which is parsed here, and the body of one that is no stream. */
import { collectSoon } from '../../base/v8-settings.js';

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

export interface Head {
  status: number;
  /** Names and values alternately, as the server wrote them. */
  headers: string[];
  contentLength: number | null;
  chunked: boolean;
  keepsAlive: boolean;
  keepAliveMs: number | null;
}

export const notHttp = 'its answer does not begin with an HTTP/1.1 status line';

const statusLine = /^HTTP\/1\.([01]) (\d{3})(?: [\t\u0020-\u007e\u0080-\u00ff]*)?$/;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerValue = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;
const digits = /^\d{1,15}$/;
const openLine = /^[\t\u0020-\u007e\u0080-\u00ff]*\r?$/;
const folded = /^[ \t]/;
const malformedHeader = 'its answer has a malformed header';
const twoLengths = 'its answer has both a length and chunks';

/** `text` is latin1, without the empty line at the end of the head. */
export function parseHead(text: string): Head {
  let lineEnd = text.indexOf('\r\n');
  const head = parseStatusLine(lineEnd === -1 ? text : text.slice(0, lineEnd));
  while (lineEnd !== -1) {
    const from = lineEnd + 2;
    lineEnd = text.indexOf('\r\n', from);
    takeHeader(head, lineEnd === -1 ? text.slice(from) : text.slice(from, lineEnd));
  }
  return head;
}

/** Checks a head before its end has arrived, so that a malformed one fails at once and not at a timeout. */
export class HeadCheck {
  private head: Head | null = null;
  private checkedTo = 0;

  /** `text` is the part of the head that has arrived so far. */
  check(text: string): void {
    for (let end = text.indexOf('\r\n', this.checkedTo); end !== -1; end = text.indexOf('\r\n', this.checkedTo)) {
      const line = text.slice(this.checkedTo, end);
      if (this.head) takeHeader(this.head, line);
      else this.head = parseStatusLine(line);
      this.checkedTo = end + 2;
    }
    this.checkOpenLine(text.slice(this.checkedTo));
  }

  /** An incomplete line: only its last byte may be a CR, since the LF may still arrive. */
  private checkOpenLine(line: string): void {
    if (!openLine.test(line)) throw new HttpFault(this.head ? malformedHeader : notHttp);
    if (this.head && folded.test(line)) throw new HttpFault(malformedHeader);
  }
}

function parseStatusLine(line: string): Head {
  const match = statusLine.exec(line);
  if (!match) throw new HttpFault(notHttp);
  return {
    status: Number(match[2]),
    headers: [],
    contentLength: null,
    chunked: false,
    keepsAlive: match[1] === '1',
    keepAliveMs: null,
  };
}

function takeHeader(head: Head, line: string): void {
  const colon = line.indexOf(':');
  const name = line.slice(0, colon);
  const value = line.slice(colon + 1).trim();
  if (colon < 1 || !headerName.test(name) || !headerValue.test(value)) throw new HttpFault(malformedHeader);
  head.headers.push(name, value);
  // Only names of these lengths frame the body.
  switch (name.length) {
    case 10:
      takeConnection(head, name.toLowerCase(), value);
      break;
    case 14:
      if (name.toLowerCase() === 'content-length') takeLength(head, value);
      break;
    case 17:
      if (name.toLowerCase() === 'transfer-encoding') takeCoding(head, value);
      break;
  }
}

function takeConnection(head: Head, name: string, value: string): void {
  if (name === 'connection') {
    const options = value.toLowerCase();
    if (options.includes('close')) head.keepsAlive = false;
    else if (options.includes('keep-alive')) head.keepsAlive = true;
  } else if (name === 'keep-alive') {
    const seconds = /timeout=(\d{1,6})/i.exec(value)?.[1];
    if (seconds !== undefined) head.keepAliveMs = Number(seconds) * 1000;
  }
}

function takeLength(head: Head, value: string): void {
  const length = Number(value);
  if (!digits.test(value) || (head.contentLength !== null && head.contentLength !== length)) {
    throw new HttpFault('its answer has a content-length that is no single number');
  }
  if (head.chunked) throw new HttpFault(twoLengths);
  head.contentLength = length;
}

function takeCoding(head: Head, value: string): void {
  if (value.toLowerCase() !== 'chunked' || head.chunked)
    throw new HttpFault(`its answer has the transfer coding "${value.slice(0, 40)}"`);
  if (head.contentLength !== null) throw new HttpFault(twoLengths);
  head.chunked = true;
}

/** The upstream does not speak HTTP as it should. */
export class HttpFault extends Error {
  readonly code = 'HTTP_FAULT';
}
