/** The response of an upstream as it arrives: its head, and the body of one that is no stream. */
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
  private pieces: Buffer[] = [];
  private memory: ArrayBuffer | null = null;

  /** `bytesMax` is as much as is ever added. */
  constructor(readonly bytesMax: number) {}

  /** Copies the bytes. */
  add(bytes: Buffer): void {
    if (this.length + bytes.length > largeBytes) bytes.copy(this.room(bytes.length));
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
    this.pieces = [];
    this.memory = null;
  }

  /** The memory behind what is there. */
  private room(bytes: number): Uint8Array {
    const needed = this.length + bytes;
    if (this.memory === null) {
      this.memory = new ArrayBuffer(needed, { maxByteLength: this.bytesMax });
      let at = 0;
      for (const piece of this.pieces) at += piece.copy(new Uint8Array(this.memory, at));
      this.pieces = [];
    } else if (needed > this.memory.byteLength) {
      this.memory.resize(Math.min(this.bytesMax, needed + growthBytes));
    }
    return new Uint8Array(this.memory, this.length);
  }
}
