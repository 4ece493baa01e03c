/**
 * Reads the frames of AWS's event stream out of bytes cut anywhere (wire 5). Both checksums are checked, and a frame that is
 * broken ends the reading. Text is latin1 (one character a byte), as that of server-sent events.
 */
import { crc32 } from 'node:zlib';
import { frameCharactersMax } from './frames.js';

export interface EventStreamSink {
  /**
   * The payload is `text.slice(start, end)`, `event` its type. An exception is given as `{"error":{"__type":…,"message":…}}`
   * with the event `exception`.
   */
  onFrame(text: string, start: number, end: number, event: string): void;
  onBroken(reason: string): void;
}

const preludeBytes = 12;
const checksumBytes = 4;
const frameBytesMin = preludeBytes + checksumBytes;
const none = Buffer.alloc(0);

interface FrameHeaders {
  /** Of an event; null where the frame is none. */
  event: string | null;
  /** Of an exception or an error. */
  type: string;
  message: string;
}

export class EventStreamReader {
  /** Set by the consumer when it wants nothing more. */
  stopped = false;
  private pending: Buffer[] = [];
  private pendingLength = 0;
  /** How many bytes must be there before it is worth looking again. */
  private wanted = preludeBytes;
  /** Nearly all frames of a stream have the same headers. */
  private knownHeaders = '';
  private known: FrameHeaders = { event: null, type: '', message: '' };

  constructor(private readonly sink: EventStreamSink) {}

  read(chunk: Buffer): void {
    if (this.stopped || chunk.length === 0) return;
    if (this.pendingLength + chunk.length < this.wanted) {
      this.hold(chunk);
      return;
    }
    const bytes = this.pendingLength === 0 ? chunk : Buffer.concat([...this.pending, chunk]);
    this.pending = [];
    this.pendingLength = 0;
    this.hold(this.takeFrames(bytes));
  }

  /** The bytes have ended. A frame that is not whole says nothing: the stream was cut in it. */
  finish(): void {
    this.pending = [];
    this.pendingLength = 0;
  }

  /** The bytes are only lent, so what is kept is copied. */
  private hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.pending.push(Buffer.from(bytes));
    this.pendingLength += bytes.length;
  }

  /** What is left of the bytes after the last whole frame. */
  private takeFrames(bytes: Buffer): Buffer {
    let at = 0;
    this.wanted = preludeBytes;
    while (!this.stopped && bytes.length - at >= preludeBytes) {
      const length = bytes.readUInt32BE(at);
      const isWhole = bytes.length - at >= length && length >= frameBytesMin;
      // The last checksum covers everything before it, so of a whole frame it alone tells.
      if (!isWhole && crc32(bytes.subarray(at, at + 8)) !== bytes.readUInt32BE(at + 8)) {
        return this.broken('a frame whose lengths are damaged');
      }
      if (length > frameCharactersMax) return this.broken('a frame that never ends');
      if (length < frameBytesMin) return this.broken('a frame that is shorter than its parts');
      if (!isWhole) {
        this.wanted = length;
        break;
      }
      const end = at + length - checksumBytes;
      if (crc32(bytes.subarray(at, end)) !== bytes.readUInt32BE(end)) return this.broken('a damaged frame');
      this.takeFrame(bytes.readUInt32BE(at + 4), bytes.toString('latin1', at + preludeBytes, end));
      at += length;
    }
    return this.stopped || at === bytes.length ? none : bytes.subarray(at);
  }

  /** `text` is the headers and then the payload. */
  private takeFrame(headersLength: number, text: string): void {
    if (headersLength > text.length) {
      this.broken('a frame that is shorter than its parts');
      return;
    }
    const headers = text.slice(0, headersLength);
    if (headers !== this.knownHeaders) {
      const read = readHeaders(Buffer.from(headers, 'latin1'));
      if (read === null) {
        this.broken('a frame with headers that cannot be read');
        return;
      }
      this.knownHeaders = headers;
      this.known = read;
    }
    const { event, type, message } = this.known;
    if (event !== null) {
      this.sink.onFrame(text, headersLength, text.length, event);
    } else {
      const error = exceptionText(type, message, text.slice(headersLength));
      this.sink.onFrame(error, 0, error.length, 'exception');
    }
  }

  private broken(reason: string): Buffer {
    this.stopped = true;
    this.sink.onBroken(reason);
    return none;
  }
}

/** An exception's payload is an object with its message, which is passed on as it was written; an error has both in its headers. */
function exceptionText(type: string, message: string, payload: string): string {
  let members = message === '' ? '' : `,"message":${JSON.stringify(message)}`;
  try {
    const value: unknown = JSON.parse(payload);
    const isObject = value !== null && typeof value === 'object' && !Array.isArray(value);
    if (isObject && Object.keys(value).length > 0) members = `,${payload.trim().slice(1, -1)}`;
  } catch {
    // The headers alone must tell, then.
  }
  return `{"error":{"__type":${JSON.stringify(type)}${members}}}`;
}

/** Bytes of the values of each type that has a fixed length; strings and byte arrays say their own. */
const fixedBytes = [0, 0, 1, 2, 4, 8, null, null, 8, 16] as const;
const stringType = 7;

function readHeaders(bytes: Buffer): FrameHeaders | null {
  const texts = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const typeAt = at + 1 + bytes[at]!;
    const type = bytes[typeAt];
    if (type === undefined || type >= fixedBytes.length) return null;
    const fixed = fixedBytes[type]!;
    if (fixed === null && typeAt + 3 > bytes.length) return null;
    const valueAt = typeAt + (fixed === null ? 3 : 1);
    const end = valueAt + (fixed ?? bytes.readUInt16BE(typeAt + 1));
    if (end > bytes.length) return null;
    if (type === stringType)
      texts.set(bytes.toString('latin1', at + 1, typeAt), bytes.toString('latin1', valueAt, end));
    at = end;
  }
  const kind = texts.get(':message-type') ?? 'event';
  const type = texts.get(':exception-type') ?? texts.get(':error-code') ?? 'unknown';
  return {
    event: kind === 'event' ? (texts.get(':event-type') ?? '') : null,
    type,
    message: texts.get(':error-message') ?? '',
  };
}
