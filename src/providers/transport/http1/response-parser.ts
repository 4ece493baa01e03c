/**
 * Parses an HTTP/1.1 response from bytes that are split anywhere. It is strict about framing (two lengths, an unknown transfer
 * coding, a bad chunk or a bad header are faults), limits the head, and passes body bytes on as views without copying.
 */
import { type Head, HeadCheck, HttpFault, notHttp, parseHead } from '../parse-head.js';
import { scanHead } from '../response.js';

interface ResponseEvents {
  onHead(status: number, headers: readonly string[]): void;
  /** The view is valid only during the call: its bytes are reused. */
  onBody(view: Buffer): boolean;
}

type Framing = 'head' | 'length' | 'chunked' | 'until_close' | 'done';

export const headBytesMax = 16 * 1024;
const informationalMax = 32;
const headStart = 'HTTP/1.';
const headEnd = Buffer.from('\r\n\r\n');

export class ResponseParser {
  /** The connection may serve another request after this response. */
  reusable = false;
  /** From a `keep-alive: timeout=…`; null where the server gave no hint. */
  keepAliveMs: number | null = null;
  private framing: Framing = 'head';
  private pending: Buffer | null = null;
  private headCheck: HeadCheck | null = null;
  private remaining = 0;
  private informational = 0;
  private readonly chunks = new ChunkedBody();

  constructor(private readonly events: ResponseEvents) {}

  get done(): boolean {
    return this.framing === 'done';
  }

  /** Prepares for the next response on the same connection. */
  reset(): void {
    this.framing = 'head';
    this.pending = this.headCheck = null;
    this.reusable = false;
    this.keepAliveMs = null;
    this.informational = 0;
  }

  /** Reads bytes; false = the consumer wants a pause. Throws HttpFault. */
  take(bytes: Buffer): boolean {
    if (this.framing !== 'head') return this.body(bytes);
    const scanned = this.pending === null ? scanHead(bytes) : null;
    if (scanned !== null && scanned.bodyStart <= headBytesMax) {
      this.startBody(scanned);
      return this.body(bytes.subarray(scanned.bodyStart));
    }
    const whole = this.pending ? Buffer.concat([this.pending, bytes]) : bytes;
    const end = whole.indexOf(headEnd);
    if (end === -1 || end > headBytesMax) {
      this.holdHead(whole);
      return true;
    }
    this.pending = this.headCheck = null;
    this.startBody(parseHead(whole.toString('latin1', 0, end)));
    const rest = whole.subarray(end + headEnd.length);
    return this.framing === 'head' ? rest.length === 0 || this.take(rest) : this.body(rest);
  }

  /** Keeps the beginning of a head. */
  private holdHead(whole: Buffer): void {
    if (!headStart.startsWith(whole.toString('latin1', 0, headStart.length))) throw new HttpFault(notHttp);
    if (whole.length > headBytesMax) throw new HttpFault(`its response head is over ${headBytesMax} bytes`);
    this.headCheck ??= new HeadCheck();
    this.headCheck.check(whole.toString('latin1'));
    // A copy, because the caller reuses the bytes.
    this.pending = this.pending ? whole : Buffer.from(whole);
  }

  /** The connection was closed; returns true where that ends the response properly. */
  closed(): boolean {
    if (this.framing === 'until_close') this.framing = 'done';
    return this.framing === 'done';
  }

  private startBody(head: Head): void {
    const { status } = head;
    if (status < 200) {
      if (status === 101) throw new HttpFault('it switched protocols');
      if (++this.informational > informationalMax) throw new HttpFault('it sent only interim responses');
      return;
    }
    this.reusable = head.keepsAlive;
    this.keepAliveMs = head.keepAliveMs;
    if (status === 204 || status === 304) this.framing = 'done';
    else if (head.chunked) this.framing = 'chunked';
    else if (head.contentLength !== null) {
      this.remaining = head.contentLength;
      this.framing = this.remaining === 0 ? 'done' : 'length';
    } else {
      this.framing = 'until_close';
      this.reusable = false;
    }
    this.chunks.reset();
    this.events.onHead(status, head.headers);
  }

  private body(bytes: Buffer): boolean {
    switch (this.framing) {
      case 'length':
        return this.bodyOfLength(bytes);
      case 'chunked':
        return this.bodyOfChunks(bytes);
      case 'until_close':
        return bytes.length === 0 || this.events.onBody(bytes);
      default:
        // Bytes after the response: request and response no longer match.
        if (bytes.length > 0) this.reusable = false;
        return true;
    }
  }

  private bodyOfLength(bytes: Buffer): boolean {
    if (bytes.length === 0) return true;
    const within = bytes.length <= this.remaining;
    if (!within) this.reusable = false;
    const view = within ? bytes : bytes.subarray(0, this.remaining);
    this.remaining -= view.length;
    if (this.remaining === 0) this.framing = 'done';
    return this.events.onBody(view);
  }

  private bodyOfChunks(bytes: Buffer): boolean {
    const data = this.chunks.decode(bytes);
    if (this.chunks.ended) {
      this.framing = 'done';
      if (this.chunks.excess) this.reusable = false;
    }
    return data.length === 0 || this.events.onBody(data);
  }
}

type Part = 'size' | 'extension' | 'size_lf' | 'data' | 'data_cr' | 'data_lf' | 'trailer' | 'trailer_lf';

const cr = 13;
const lf = 10;
const sizeMax = 0xffff_ffff;
const lineBytesMax = 1024;
const trailerBytesMax = 16 * 1024;

/**
 * Decodes the chunked coding in place: moves the data of all chunks of a read to the front of the given bytes, so that data that arrived
 * together is passed on together.
 */
class ChunkedBody {
  ended = false;
  /** Bytes followed the end. */
  excess = false;
  private part: Part = 'size';
  private size = 0;
  private digits = 0;
  private lineBytes = 0;
  private trailerLine = 0;
  private trailerBytes = 0;

  reset(): void {
    this.ended = this.excess = false;
    this.startSize();
    this.trailerLine = this.trailerBytes = 0;
  }

  /** Returns the data as a view on the given bytes, which are overwritten. */
  decode(bytes: Buffer): Buffer {
    let to = 0;
    let at = 0;
    while (at < bytes.length && !this.ended) {
      if (this.part === 'data') {
        const length = Math.min(this.size, bytes.length - at);
        if (to !== at) bytes.copyWithin(to, at, at + length);
        to += length;
        at += length;
        this.size -= length;
        if (this.size === 0) this.part = 'data_cr';
      } else {
        this.step(bytes[at++]!);
      }
    }
    if (at < bytes.length) this.excess = true;
    return bytes.subarray(0, to);
  }

  private startSize(): void {
    this.part = 'size';
    this.size = this.digits = this.lineBytes = 0;
  }

  private step(byte: number): void {
    switch (this.part) {
      case 'size':
        this.sizeByte(byte);
        break;
      case 'extension':
        if (byte === cr) this.part = 'size_lf';
        else if (isControl(byte) || ++this.lineBytes > lineBytesMax) throw broken();
        break;
      case 'size_lf':
        if (byte !== lf) throw broken();
        this.part = this.size === 0 ? 'trailer' : 'data';
        break;
      case 'data_cr':
        if (byte !== cr) throw broken();
        this.part = 'data_lf';
        break;
      case 'data_lf':
        if (byte !== lf) throw broken();
        this.startSize();
        break;
      case 'trailer':
        this.trailerByte(byte);
        break;
      case 'trailer_lf':
        if (byte !== lf) throw broken();
        if (this.trailerLine === 0) this.ended = true;
        this.trailerLine = 0;
        this.part = 'trailer';
        break;
    }
  }

  private sizeByte(byte: number): void {
    const digit = hexDigit(byte);
    if (digit !== -1) {
      this.size = this.size * 16 + digit;
      if (++this.digits > 8 || this.size > sizeMax) throw broken();
    } else if (this.digits === 0) throw broken();
    else if (byte === cr) this.part = 'size_lf';
    else if (byte === 0x3b || byte === 0x20 || byte === 0x09) this.part = 'extension';
    else throw broken();
  }

  /** Trailers are skipped; an empty line ends them. */
  private trailerByte(byte: number): void {
    if (++this.trailerBytes > trailerBytesMax) throw broken();
    if (byte === cr) this.part = 'trailer_lf';
    else if (isControl(byte)) throw broken();
    else this.trailerLine++;
  }
}

/** A tab is white space; every other control character, such as a bare LF, is not allowed in a line. */
function isControl(byte: number): boolean {
  return (byte < 0x20 && byte !== 0x09) || byte === 0x7f;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function broken(): HttpFault {
  return new HttpFault('its chunked body is broken');
}
