/**
 * One call to an upstream: sends the request, enforces the time budgets, and returns what the upstream did as a value. Frames of
 * a stream go to the consumer as they arrive; any other body is collected up to a limit.
 */
import type { Latin1Text } from '../base/latin1.js';
import type { Clock } from '../base/time.js';
import { atEndOfTurn } from '../base/turn.js';
import { type Budget, reasonOf } from './classify/failure.js';
import { AwsEventStreamReader } from './transport/aws-event-stream.js';
import type { Deadlines, Watched } from './transport/deadlines.js';
import { createDecoder, type Decoder } from './transport/decode.js';
import { errorBytesMax, ResponseHead } from './transport/response-head.js';
import { SseReader } from './transport/sse-frames.js';
import type { Transport, UpstreamCall, UpstreamHandler, UpstreamRequest } from './transport/transport.js';

export interface Budgets {
  firstByteMs: number;
  idleMs: number;
  /** What is left of the overall budget. */
  overallMs: number;
  /** The whole overall budget, for the message of a 504. */
  overallNamedMs: number;
  /** Time that the attempt used before this call, for example to obtain credentials. */
  spentMs?: number;
}

/** `more`: continue; `ending`: possibly the last frame, so wait only briefly; `done`: ignore further frames; `failed`: the consumer knows why. */
export type FrameVerdict = 'more' | 'ending' | 'done' | 'failed';

export interface FrameConsumer {
  onFrame(text: Latin1Text, start: number, end: number, event: string): FrameVerdict;
  /** The upstream closed its stream. Only consumers that may then emit more frames need it. */
  onStreamEnd?(): FrameVerdict;
  /** All frames of a read have been passed on. False = the client is slow: pause until `resume` is called. */
  onChunkEnd(resume: () => void): boolean;
}

export type CallResult =
  | { kind: 'answer'; status: number; body: Buffer }
  /** The stream is over; `cleanly` = the consumer returned `done`, or the upstream closed it properly. */
  | { kind: 'stream'; status: number; cleanly: boolean; reason: string }
  /** The consumer found a failure in a frame. */
  | { kind: 'frame_failed'; status: number }
  | { kind: 'refused'; status: number; head: ResponseHead; body: Buffer }
  | { kind: 'malformed'; status: number; reason: string; body: Buffer }
  | { kind: 'timeout'; status: number | null; budget: Budget; budgetMs: number }
  | { kind: 'connection'; status: number | null; reason: string; code: string }
  | { kind: 'gone' };

/** Of an answer, where the call allows no more. */
export const answerBytesMax = 32 * 1024 * 1024;
/** After the last frame the upstream has this long to end its body, so that the connection can be reused. */
const lingerMs = 250;
const errorBodyMs = 2_000;
/** How server-sent events begin: with the right content type, and without it. */
const notBareJson = /^\s*[^\s{[]|^\s*$/;
const namedField = /^\s*(?:data|event|id|retry)?:/;

export interface CallPorts {
  transport: Transport;
  deadlines: Deadlines;
  clock: Clock;
}

export class Call implements UpstreamHandler, Watched {
  deadlineMs: number;
  watchIndex = -1;
  /** Monotonic milliseconds of the first byte: the first data frame, or the first byte of a JSON body that is not blank. */
  firstByteAtMs: number | null = null;
  readonly startedAtMs: number;
  private readonly overallAtMs: number;
  private readonly answerBytes: number;
  /** The time budget for the next frame. */
  private idleMs: number;
  private upstream: UpstreamCall | null = null;
  head: ResponseHead | null = null;
  private decoder: Decoder | null = null;
  private reader: SseReader | AwsEventStreamReader | null = null;
  private chunks: Buffer[] = [];
  private collected = 0;
  private over = false;
  private paused = false;
  private resumeUpstream: () => void = () => {};

  constructor(
    private readonly ports: CallPorts,
    request: UpstreamRequest & { readonly answerBytes?: number },
    private readonly budgets: Budgets,
    private readonly frames: FrameConsumer | null,
    /** Called once, when it is known what the upstream did. */
    private readonly done: (result: CallResult, call: Call) => void,
  ) {
    this.answerBytes = request.answerBytes ?? answerBytesMax;
    this.startedAtMs = ports.clock.monotonicMs();
    const beganAtMs = this.startedAtMs - (budgets.spentMs ?? 0);
    this.overallAtMs = beganAtMs + budgets.overallMs;
    this.idleMs = budgets.idleMs;
    this.deadlineMs = Math.min(beganAtMs + budgets.firstByteMs, this.overallAtMs);
    ports.deadlines.watch(this);
    this.upstream = ports.transport.dispatch(request, this);
  }

  /** The client disconnected: stops the call. */
  abandon(): void {
    if (!this.over) this.cut({ kind: 'gone' });
  }

  onHeaders(status: number, headers: readonly string[], resume: () => void): void {
    this.head = new ResponseHead(status, headers);
    this.resumeUpstream = resume;
    if (this.head.encoding !== '') {
      this.decoder = createDecoder(this.head.encoding, {
        onDecoded: (chunk) => this.take(chunk),
        onDecodedEnd: () => this.endBody(),
        onDrained: () => this.resumeUpstream(),
        onUndecodable: (reason) => this.cut({ kind: 'malformed', status, reason, body: Buffer.alloc(0) }),
      });
      if (!this.decoder)
        this.failMalformed(`its body is encoded as "${this.head.encoding.slice(0, 40)}", which cannot be decoded`);
    }
    if (!this.head.ok) this.deadlineMs = Math.min(this.deadlineMs, this.ports.clock.monotonicMs() + errorBodyMs);
  }

  onData(chunk: Buffer): boolean {
    if (this.over) return true;
    return this.decoder ? this.decoder.write(chunk) : this.take(chunk);
  }

  onEnd(): void {
    // The connection may serve another request before the decoder has emitted everything.
    this.resumeUpstream = () => {};
    if (this.over) {
      this.ports.deadlines.unwatch(this);
      return;
    }
    if (this.decoder) this.decoder.end();
    else this.endBody();
  }

  onError(error: Error & { code?: string }): void {
    if (this.over) {
      this.ports.deadlines.unwatch(this);
    } else if (this.reader) {
      this.reader.finish();
      if (!this.over) this.finish({ kind: 'stream', status: this.status, cleanly: false, reason: reasonOf(error) });
    } else if (this.head && !this.head.ok) {
      this.finish({ kind: 'refused', status: this.status, head: this.head, body: Buffer.concat(this.chunks) });
    } else {
      this.finish({
        kind: 'connection',
        status: this.head?.status ?? null,
        reason: reasonOf(error),
        code: error.code ?? '',
      });
    }
  }

  expire(nowMs: number): void {
    if (this.over) {
      this.ports.deadlines.unwatch(this);
      this.upstream?.abort();
    } else if (this.head && !this.head.ok && nowMs < this.overallAtMs) {
      this.cut({ kind: 'refused', status: this.status, head: this.head, body: Buffer.concat(this.chunks) });
    } else {
      this.cut({ kind: 'timeout', status: this.head?.status ?? null, ...this.spentBudget(nowMs) });
    }
  }

  private get status(): number {
    return this.head?.status ?? 0;
  }

  private spentBudget(nowMs: number): { budget: Budget; budgetMs: number } {
    const { firstByteMs, idleMs, overallNamedMs } = this.budgets;
    if (nowMs >= this.overallAtMs) return { budget: 'overall', budgetMs: overallNamedMs };
    if (this.firstByteAtMs === null) return { budget: 'first-byte', budgetMs: firstByteMs };
    return { budget: 'stream-idle', budgetMs: idleMs };
  }

  /** False = pause. */
  private take(chunk: Buffer): boolean {
    if (this.over) return true;
    if (this.reader) this.readFrames(this.reader, chunk);
    else if (this.collected === 0 && this.head?.ok && this.frames) this.startStream(chunk);
    else this.collect(chunk);
    return !this.paused;
  }

  /**
   * The content type decides; without one, the first bytes do, because some servers stream without naming it. A bare JSON value
   * is never a stream: it is an error in the place of one.
   */
  private startStream(chunk: Buffer): void {
    const beginning = chunk.toString('latin1', 0, 64);
    const onFrame = (text: Latin1Text, start: number, end: number, event: string) =>
      this.takeFrame(text, start, end, event);
    const onBroken = (reason: string) => this.cut({ kind: 'stream', status: this.status, cleanly: false, reason });
    if (this.head!.isAmazonEventStream) {
      this.reader = new AwsEventStreamReader({ onFrame, onBroken });
    } else if ((this.head!.isEventStream ? notBareJson : namedField).test(beginning)) {
      this.reader = new SseReader({ onFrame, onOverflow: () => onBroken('a frame that never ends') });
    } else {
      this.collect(chunk);
      return;
    }
    this.readFrames(this.reader, chunk);
  }

  private readFrames(reader: SseReader | AwsEventStreamReader, chunk: Buffer): void {
    reader.read(chunk);
    if (this.frames!.onChunkEnd(this.resume) || this.over) return;
    this.paused = true;
    // The client is slow, not the upstream, so only the overall budget applies.
    this.deadlineMs = this.overallAtMs;
  }

  private readonly resume = (): void => {
    if (!this.paused) return;
    this.paused = false;
    if (this.over) return;
    this.renewDeadline();
    if (this.decoder) this.decoder.resume();
    else this.resumeUpstream();
  };

  private renewDeadline(): void {
    const { deadlines } = this.ports;
    this.deadlineMs = Math.min(deadlines.coarseNowMs + this.idleMs, this.overallAtMs);
  }

  private takeFrame(text: Latin1Text, start: number, end: number, event: string): void {
    if (text.charCodeAt(start) === 58) return; // `data: : keepalive` is a comment inside a data line.
    if (this.firstByteAtMs === null) this.firstByteAtMs = this.ports.clock.monotonicMs();
    const verdict = this.frames!.onFrame(text, start, end, event);
    this.idleMs = verdict === 'ending' ? Math.min(lingerMs, this.budgets.idleMs) : this.budgets.idleMs;
    this.renewDeadline();
    if (verdict === 'more' || verdict === 'ending') return;
    this.reader!.stopped = true;
    if (verdict === 'done') this.finish({ kind: 'stream', status: this.status, cleanly: true, reason: '' }, lingerMs);
    else this.cut({ kind: 'frame_failed', status: this.status });
  }

  private collect(chunk: Buffer): void {
    if (this.firstByteAtMs === null && this.head?.ok) {
      if (chunk.every((byte) => byte <= 32)) return; // Blank lines only keep the connection alive.
      this.firstByteAtMs = this.ports.clock.monotonicMs();
      this.deadlineMs = this.overallAtMs;
    }
    this.chunks.push(Buffer.from(chunk));
    this.collected += chunk.length;
    if (this.head?.ok) {
      if (this.collected > this.answerBytes) this.failMalformed(`its answer is over ${this.answerBytes} bytes`);
    } else if (this.collected >= errorBytesMax) {
      const body = Buffer.concat(this.chunks, errorBytesMax);
      this.cut({ kind: 'refused', status: this.status, head: this.head!, body });
    }
  }

  private endBody(): void {
    if (this.over || !this.head) return;
    const { status } = this;
    if (this.reader) {
      this.reader.finish();
      const verdict = this.over ? 'more' : this.frames!.onStreamEnd?.();
      this.frames!.onChunkEnd(this.resume);
      if (verdict === 'failed') this.finish({ kind: 'frame_failed', status });
      else if (!this.over) this.finish({ kind: 'stream', status, cleanly: true, reason: 'it closed the stream' });
      return;
    }
    const body = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
    if (!this.head.ok) this.finish({ kind: 'refused', status, head: this.head, body });
    else if (this.frames)
      this.finish({ kind: 'malformed', status, reason: 'it answered a streaming request without a stream', body });
    else if (this.head.isEventStream)
      this.finish({ kind: 'malformed', status, reason: 'it answered with a stream that was not asked for', body });
    else this.finish({ kind: 'answer', status, body });
  }

  private failMalformed(reason: string): void {
    this.cut({ kind: 'malformed', status: this.status, reason, body: Buffer.concat(this.chunks) });
  }

  private cut(result: CallResult): void {
    this.finish(result);
    this.upstream?.abort();
  }

  private finish(result: CallResult, linger = 0): void {
    this.over = true;
    this.chunks = [];
    this.decoder?.destroy();
    if (linger > 0) {
      this.deadlineMs = this.ports.clock.monotonicMs() + linger;
      if (this.paused || this.decoder) this.resumeUpstream();
    } else this.ports.deadlines.unwatch(this);
    if (result.kind === 'answer') atEndOfTurn('answers', () => this.done(result, this));
    else this.done(result, this);
  }
}
