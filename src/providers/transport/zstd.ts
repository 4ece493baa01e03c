/**
 * Decodes zstd with Node's own decoder (from Node 22.15), else with a JavaScript decoder in a separate thread. A few kilobytes can
 * keep the JavaScript decoder busy for seconds, so it gets only checked bodies and little time.
 */
import { Duplex } from 'node:stream';
import { Worker } from 'node:worker_threads';
import * as zlib from 'node:zlib';

/** Members of zlib from Node 22.15 on, which the types of Node 20 lack. */
interface ZlibWithZstd {
  createZstdDecompress?(options: { params: Record<number, number> }): Duplex;
  constants: { ZSTD_d_windowLogMax?: number };
}

/** 8 MiB. */
const windowLogMax = 23;
const native = zlib as unknown as ZlibWithZstd;

export function createZstdDecoder(): Duplex {
  const { ZSTD_d_windowLogMax: parameter } = native.constants;
  if (!native.createZstdDecompress || parameter === undefined) return new ThreadDecoder();
  return native.createZstdDecompress({ params: { [parameter]: windowLogMax } });
}

export type ThreadReply = { decoded: Uint8Array } | { reason: string };

/** A body of 32 MiB takes a tenth of this. */
const decodeMs = 2_000;
const pieceBytes = 64 * 1024;
/** More threads would take CPU time from requests. */
const threadsMax = 2;
const waiting: ThreadDecoder[] = [];
let running = 0;

/** Decodes a body once it is complete, so a stream is delivered in one burst at its end. */
class ThreadDecoder extends Duplex {
  private parts: Buffer[] = [];
  private decoded: Buffer | null = null;
  private wanted = false;
  private worker: Worker | null = null;
  private timer: NodeJS.Timeout | undefined;
  private inputEnded: (error?: Error) => void = () => {};

  override _write(chunk: Buffer, _encoding: string, taken: () => void): void {
    this.parts.push(chunk);
    taken();
  }

  override _final(ended: (error?: Error) => void): void {
    this.inputEnded = ended;
    waiting.push(this);
    runWaiting();
  }

  override _read(): void {
    this.wanted = true;
    // Other work runs between two pieces.
    if (this.decoded) setImmediate(() => this.pushPiece());
  }

  override _destroy(error: Error | null, destroyed: (error: Error | null) => void): void {
    this.leaveThread();
    this.parts = [];
    this.decoded = null;
    destroyed(error);
  }

  run(): void {
    const body = new Uint8Array(Buffer.concat(this.parts));
    this.parts = [];
    const worker = new Worker(new URL('./zstd-thread.js', import.meta.url), {
      workerData: body,
      transferList: [body.buffer],
    });
    this.worker = worker;
    // A terminated thread may still send an event.
    const whileInUse =
      <Event>(handle: (event: Event) => void) =>
      (event: Event) => {
        if (this.worker === worker) handle(event);
      };
    const tooSlow = () => this.fail(`its compressed body took over ${decodeMs} ms to decode`);
    worker.once(
      'online',
      whileInUse(() => {
        this.timer = setTimeout(tooSlow, decodeMs);
      }),
    );
    worker.once(
      'message',
      whileInUse<ThreadReply>((reply) => this.takeReply(reply)),
    );
    worker.once(
      'error',
      whileInUse(() => this.fail('its compressed body is broken')),
    );
  }

  private takeReply(reply: ThreadReply): void {
    if ('reason' in reply) {
      this.fail(reply.reason);
      return;
    }
    this.leaveThread();
    this.decoded = Buffer.from(reply.decoded.buffer);
    this.inputEnded();
    if (this.wanted) this.pushPiece();
  }

  private fail(reason: string): void {
    this.leaveThread();
    this.inputEnded(Object.assign(new Error(reason), { code: 'UNDECODABLE' }));
  }

  private pushPiece(): void {
    if (!this.decoded || !this.wanted) return;
    this.wanted = false;
    const piece = this.decoded.subarray(0, pieceBytes);
    this.decoded = this.decoded.subarray(piece.length);
    this.push(piece.length === 0 ? null : piece);
  }

  /** Removes this body from the queue, or stops its thread. */
  private leaveThread(): void {
    clearTimeout(this.timer);
    const at = waiting.indexOf(this);
    if (at !== -1) waiting.splice(at, 1);
    if (!this.worker) return;
    void this.worker.terminate();
    this.worker = null;
    running--;
    runWaiting();
  }
}

function runWaiting(): void {
  while (running < threadsMax && waiting.length > 0) {
    running++;
    waiting.shift()!.run();
  }
}
