/**
 * Reads the messages of an AWS event stream from bytes that are split anywhere. Checksums are verified, and a damaged message ends
 * the reading. docs/decisions/0032-reading-aws-event-streams.md says why this is not a library.
 */

import { crc32 } from 'node:zlib';
import { asLatin1, bytesOfLatin1, type Latin1Text, latin1OfBytes } from '../../base/latin1.js';
import { errorBytesMax } from './response.js';
import { frameCharactersMax } from './sse-frames.js';

interface AwsEventStreamSink {
  /**
   * The payload is `text.slice(start, end)`, `event` is its type. An exception has the event `exception` and the payload
   * `{"error":{"__type":…,"message":…}}`.
   */
  onFrame(text: Latin1Text, start: number, end: number, event: string): void;
  /** `excess`: a message is too large. */
  onBroken(reason: string, excess?: true): void;
}

const preludeBytes = 12;
const checksumBytes = 4;
const frameBytesMin = preludeBytes + checksumBytes;
const none = Buffer.alloc(0);

interface FrameHeaders {
  /** The type of an event; null where the message is an exception or an error. */
  event: string | null;
  /** The type of an exception or an error. */
  type: string;
  message: string;
}

export class AwsEventStreamReader {
  /** The consumer sets it to end the reading. */
  stopped = false;
  private pending: Buffer[] = [];
  private pendingLength = 0;
  /** The number of bytes that must have arrived before the next message can be read. */
  private wanted = preludeBytes;
  /** The last headers and what they mean: nearly all messages of a stream have the same. */
  private knownHeaders = '';
  private known: FrameHeaders = { event: null, type: '', message: '' };

  constructor(private readonly sink: AwsEventStreamSink) {}

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

  /** The stream has ended. An incomplete message is dropped: the stream was cut inside it. */
  finish(): void {
    this.pending = [];
    this.pendingLength = 0;
  }

  /** The caller reuses the bytes, so they are copied. */
  private hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.pending.push(Buffer.from(bytes));
    this.pendingLength += bytes.length;
  }

  /** Reads all complete messages and returns the bytes after the last one. */
  private takeFrames(bytes: Buffer): Buffer {
    let at = 0;
    this.wanted = preludeBytes;
    while (!this.stopped && bytes.length - at >= preludeBytes) {
      const length = bytes.readUInt32BE(at);
      const isWhole = bytes.length - at >= length && length >= frameBytesMin;
      // The last checksum covers the whole message, so the checksum of the lengths matters only for an incomplete one.
      if (!isWhole && crc32(bytes.subarray(at, at + 8)) !== bytes.readUInt32BE(at + 8)) {
        return this.fail('a frame whose lengths are damaged');
      }
      if (length > frameCharactersMax) return this.fail('a frame that never ends', true);
      if (length < frameBytesMin) return this.fail('a frame that is shorter than its parts');
      if (!isWhole) {
        this.wanted = length;
        break;
      }
      const end = at + length - checksumBytes;
      if (crc32(bytes.subarray(at, end)) !== bytes.readUInt32BE(end)) return this.fail('a damaged frame');
      this.takeFrame(bytes.readUInt32BE(at + 4), latin1OfBytes(bytes, at + preludeBytes, end));
      at += length;
    }
    return this.stopped || at === bytes.length ? none : bytes.subarray(at);
  }

  /** `text` is the headers followed by the payload. */
  private takeFrame(headersLength: number, text: Latin1Text): void {
    if (headersLength > text.length) {
      this.fail('a frame that is shorter than its parts');
      return;
    }
    const headers = text.slice(0, headersLength);
    if (headers !== this.knownHeaders) {
      const read = readHeaders(bytesOfLatin1(headers));
      if (read === null) {
        this.fail('a frame with headers that cannot be read');
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

  private fail(reason: string, excess?: true): Buffer {
    this.stopped = true;
    this.sink.onBroken(reason, excess);
    return none;
  }
}

/** The payload of an exception is an object with its message and is passed on unchanged. An error has type and message in its headers. */
function exceptionText(type: string, message: string, payload: Latin1Text): Latin1Text {
  let members = message === '' ? '' : `,"message":${JSON.stringify(message)}`;
  try {
    if (payload.length > errorBytesMax) throw new RangeError('No exception is that large.');
    const value: unknown = JSON.parse(payload);
    const isObject = value !== null && typeof value === 'object' && !Array.isArray(value);
    if (isObject && Object.keys(value).length > 0) members = `,${payload.trim().slice(1, -1)}`;
  } catch {
    // Only the headers describe the error then.
  }
  return asLatin1(`{"error":{"__type":${JSON.stringify(type)}${members}}}`);
}

/** The length of values by type; null for strings and byte arrays, which carry their own length. */
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
