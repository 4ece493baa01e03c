/**
 * Decodes an upstream's `content-encoding`. Requests ask for `identity`, but some upstreams compress anyway, and a few bytes can
 * expand to gigabytes. So input, output and window are limited, and a slow decoder or reader pauses the upstream. No decoder
 * works on the thread that serves requests.
 */
import type { Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { createZstdDecoder } from './zstd.js';

interface DecoderSink {
  /** False = the reader is slow: nothing more comes until resume(). */
  onDecoded(chunk: Buffer): boolean;
  onDecodedEnd(): void;
  /** `excess`: it is too large. */
  onUndecodable(reason: string, excess?: true): void;
  /** The decoder has caught up after a write() that returned false. */
  onDrained(): void;
}

export interface Decoder {
  /** Copies the bytes. False = the decoder is behind: pause the upstream until onDrained(). */
  write(chunk: Buffer): boolean;
  end(): void;
  resume(): void;
  destroy(): void;
}

export const encodedBytesMax = 32 * 1024 * 1024;
export const decodedBytesMax = 32 * 1024 * 1024;
const broken = 'its compressed body is broken';
export const overDecoded = `its decompressed body is over ${decodedBytesMax} bytes`;
const severalFrames = 'its compressed body has several frames, which cannot be decoded';
const windowTooLarge = 'its compressed body needs a window of over 8 MiB';

/** Creates the decoder of a body with this first byte; a string is the reason why it cannot be decoded. */
type Start = (firstByte: number) => Duplex | string;

const starts = new Map<string, Start>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['deflate', startInflate],
  ['br', startBrotli],
  ['zstd', () => createZstdDecoder()],
]);

/** Null where the encoding is not supported. */
export function createDecoder(encoding: string, sink: DecoderSink): Decoder | null {
  const start = starts.get(encoding);
  return start ? new StreamDecoder(start, sink, encoding !== 'zstd') : null;
}

/** Many servers send bare deflate under this name; a zlib header always has 8 in its low bits. */
function startInflate(firstByte: number): Duplex {
  return (firstByte & 0x0f) === 8 ? createInflate() : createInflateRaw();
}

/** The first bits of a brotli stream are its window size. All ones mean 16 MiB, the only size over the limit that Node decodes. */
function startBrotli(firstByte: number): Duplex | string {
  return (firstByte & 0x0f) === 0x0f ? windowTooLarge : createBrotliDecompress();
}

/** An empty body decodes to an empty body, whatever its head says, so the stream is created with the first byte. */
class StreamDecoder implements Decoder {
  private stream: Duplex | null = null;
  private taken = 0;
  private given = 0;
  private inputEnded = false;
  private outputEnded = false;
  private over = false;

  constructor(
    private readonly start: Start,
    private readonly sink: DecoderSink,
    /** Bytes after the compressed data are ignored. False for zstd: Node's decoder ends after the first of several frames. */
    private readonly mayBePadded: boolean,
  ) {}

  write(chunk: Buffer): boolean {
    if (this.over || chunk.length === 0) return true;
    this.taken += chunk.length;
    if (this.taken > encodedBytesMax) {
      this.fail(`its compressed body is over ${encodedBytesMax} bytes`, true);
      return true;
    }
    if (this.outputEnded) {
      if (!this.mayBePadded) this.fail(severalFrames);
      return true;
    }
    this.stream ??= this.startWith(chunk[0]!);
    return this.stream?.write(Buffer.from(chunk)) ?? true;
  }

  end(): void {
    if (this.over) return;
    this.inputEnded = true;
    if (this.stream && !this.outputEnded) this.stream.end();
    else this.finish();
  }

  resume(): void {
    this.stream?.resume();
  }

  destroy(): void {
    this.over = true;
    this.stream?.destroy();
  }

  private startWith(firstByte: number): Duplex | null {
    const stream = this.start(firstByte);
    if (typeof stream === 'string') {
      this.fail(stream);
      return null;
    }
    stream.on('data', (chunk: Buffer) => this.give(stream, chunk));
    stream.on('drain', () => this.over || this.sink.onDrained());
    stream.on('end', () => this.endOutput(stream));
    stream.on('error', (error: NodeJS.ErrnoException) => {
      const reason = reasonOf(error);
      this.fail(reason, reason === overDecoded || undefined);
    });
    return stream;
  }

  private give(stream: Duplex, chunk: Buffer): void {
    if (this.over) return;
    this.given += chunk.length;
    if (this.given > decodedBytesMax) this.fail(overDecoded, true);
    else if (!this.sink.onDecoded(chunk)) stream.pause();
  }

  /** Node's decoders count the bytes that they have read in `bytesWritten`. */
  private endOutput({ bytesWritten }: Duplex & { bytesWritten?: number }): void {
    this.outputEnded = true;
    if (this.over) return;
    if (!this.mayBePadded && bytesWritten !== undefined && bytesWritten < this.taken) this.fail(severalFrames);
    else if (this.inputEnded) this.finish();
    else this.sink.onDrained();
  }

  private finish(): void {
    this.over = true;
    this.sink.onDecodedEnd();
  }

  private fail(reason: string, excess?: true): void {
    if (this.over) return;
    this.destroy();
    this.sink.onUndecodable(reason, excess);
  }
}

/** A window over the limit is named; every other error of a decoder means a broken body. */
function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ZSTD_error_frameParameter_windowTooLarge') return windowTooLarge;
  return code === 'UNDECODABLE' ? message : broken;
}
