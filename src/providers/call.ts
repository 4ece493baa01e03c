/**
 * One attempt on one route: dispatches the request, keeps the budgets of §8, and returns what the upstream did as a value.
 * Frames go straight to the consumer while they arrive; everything else is collected, capped.
 */
import type { Clock } from '../base/time.js';
import { atEndOfTurn } from '../base/turn.js';
import { reasonOf } from './classify/failure.js';
import { AnswerHead, errorBytesMax } from './transport/answer-head.js';
import type { Deadlines, Watched } from './transport/deadlines.js';
import { createDecoder, type Decoder } from './transport/decode.js';
import { EventStreamReader } from './transport/event-stream.js';
import { FrameReader } from './transport/frames.js';
import type { Transport, UpstreamCall, UpstreamHandler, UpstreamRequest } from './transport/transport.js';

export type Budget = 'first-byte' | 'stream-idle' | 'overall';

export interface Budgets {
  firstByteMs: number;
  idleMs: number;
  /** What is left of the overall budget. */
  overallMs: number;
  /** The whole of it, as a 504 names it. */
  overallNamedMs: number;
  /** What the attempt has spent of its budgets before the call. */
  spentMs?: number;
}

/** `more`: go on; `ending`: it may be over, do not wait long; `done`: it is over, whatever still comes; `failed`: the consumer has its reason. */
export type FrameVerdict = 'more' | 'ending' | 'done' | 'failed';

export interface FrameConsumer {
  onFrame(text: string, start: number, end: number, event: string): FrameVerdict;
  /** The upstream closed its stream; only for consumers that still have something to say then. */
  onStreamEnd?(): FrameVerdict;
  /** All frames of a chunk have been given; false = the caller is slow, pause. `resume` is called when it is not. */
  onChunkEnd(resume: () => void): boolean;
}

export type CallResult =
  | { kind: 'answer'; status: number; body: Buffer }
  /** The stream is over; `cleanly` = the consumer said done, or the upstream closed it properly. */
  | { kind: 'stream'; status: number; cleanly: boolean; reason: string }
  /** The consumer found a failure in a frame. */
  | { kind: 'frame_failed'; status: number }
  | { kind: 'refused'; status: number; head: AnswerHead; body: Buffer }
  | { kind: 'malformed'; status: number; reason: string; body: Buffer }
  | { kind: 'timeout'; status: number | null; budget: Budget; budgetMs: number }
  | { kind: 'connection'; status: number | null; reason: string; code: string }
  | { kind: 'gone' };

export const answerBytesMax = 32 * 1024 * 1024;
/** After what is or may be the last frame the upstream may still close its body, so that the connection can be used again. */
const lingerMs = 250;
const errorBodyMs = 2_000;
/** How a body of server-sent events begins: where it is called one, and where it is not. */
const notBareJson = /^\s*[^\s{[]|^\s*$/;
const namedField = /^\s*(?:data|event|id|retry)?:/;

export interface CallPorts {
  transport: Transport;
  deadlines: Deadlines;
  clock: Clock;
}

export class Call implements UpstreamHandler, Watched {
  deadlineMs: number;
  /** Monotonic milliseconds of the first byte, as §8 means it: the first data frame, or the first byte of a JSON body. */
  firstByteAtMs: number | null = null;
  readonly startedAtMs: number;
  readonly result: Promise<CallResult>;
  private resolve!: (result: CallResult) => void;
  private readonly overallAtMs: number;
  /** How long the next frame may take. */
  private idleMs: number;
  private upstream: UpstreamCall | null = null;
  private head: AnswerHead | null = null;
  private decoder: Decoder | null = null;
  private reader: FrameReader | EventStreamReader | null = null;
  private chunks: Buffer[] = [];
  private collected = 0;
  private over = false;
  private paused = false;
  private resumeUpstream: () => void = () => {};

  constructor(
    private readonly ports: CallPorts,
    request: UpstreamRequest,
    private readonly budgets: Budgets,
    private readonly frames: FrameConsumer | null,
  ) {
    this.result = new Promise((resolve) => {
      this.resolve = resolve;
    });
    this.startedAtMs = ports.clock.monotonicMs();
    const beganAtMs = this.startedAtMs - (budgets.spentMs ?? 0);
    this.overallAtMs = beganAtMs + budgets.overallMs;
    this.idleMs = budgets.idleMs;
    this.deadlineMs = Math.min(beganAtMs + budgets.firstByteMs, this.overallAtMs);
    ports.deadlines.watch(this);
    this.upstream = ports.transport.dispatch(request, this);
  }

  /** The caller has left: nothing more is wanted of the upstream. */
  abandon(): void {
    if (!this.over) this.cut({ kind: 'gone' });
  }

  onHeaders(status: number, headers: readonly string[], resume: () => void): void {
    this.head = new AnswerHead(status, headers);
    this.resumeUpstream = resume;
    if (this.head.encoding !== '') {
      this.decoder = createDecoder(this.head.encoding, {
        onDecoded: (chunk) => this.take(chunk),
        onDecodedEnd: () => this.ended(),
        onDrained: () => this.resumeUpstream(),
        onUndecodable: (reason) => this.cut({ kind: 'malformed', status, reason, body: Buffer.alloc(0) }),
      });
      if (!this.decoder)
        this.malformed(`its body is encoded as "${this.head.encoding.slice(0, 40)}", which cannot be decoded`);
    }
    if (!this.head.ok) this.deadlineMs = Math.min(this.deadlineMs, this.ports.clock.monotonicMs() + errorBodyMs);
  }

  onData(chunk: Buffer): boolean {
    if (this.over) return true;
    return this.decoder ? this.decoder.write(chunk) : this.take(chunk);
  }

  onEnd(): void {
    // The connection may serve another request by the time that a decoder has given all it holds.
    this.resumeUpstream = () => {};
    if (this.over) {
      this.ports.deadlines.unwatch(this);
      return;
    }
    if (this.decoder) this.decoder.end();
    else this.ended();
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

  /** false = pause. */
  private take(chunk: Buffer): boolean {
    if (this.over) return true;
    if (this.reader) this.readFrames(this.reader, chunk);
    else if (this.collected === 0 && this.head?.ok && this.frames) this.startStream(chunk);
    else this.collect(chunk);
    return !this.paused;
  }

  /**
   * The content type decides, and where it does not say, the first bytes (some servers stream without naming it). A bare JSON
   * value is never a stream, whatever it is called: an error in its place (wire 4).
   */
  private startStream(chunk: Buffer): void {
    const beginning = chunk.toString('latin1', 0, 64);
    const onFrame = (text: string, start: number, end: number, event: string) => this.frame(text, start, end, event);
    const onBroken = (reason: string) => this.cut({ kind: 'stream', status: this.status, cleanly: false, reason });
    if (this.head!.isAmazonEventStream) {
      this.reader = new EventStreamReader({ onFrame, onBroken });
    } else if ((this.head!.isEventStream ? notBareJson : namedField).test(beginning)) {
      this.reader = new FrameReader({ onFrame, onOverflow: () => onBroken('a frame that never ends') });
    } else {
      this.collect(chunk);
      return;
    }
    this.readFrames(this.reader, chunk);
  }

  private readFrames(reader: FrameReader | EventStreamReader, chunk: Buffer): void {
    reader.read(chunk);
    if (this.frames!.onChunkEnd(this.resumed) || this.over) return;
    this.paused = true;
    // The caller is slow, not the upstream: only the overall budget runs.
    this.deadlineMs = this.overallAtMs;
  }

  private readonly resumed = (): void => {
    if (!this.paused) return;
    this.paused = false;
    if (this.over) return;
    this.progress();
    if (this.decoder) this.decoder.resume();
    else this.resumeUpstream();
  };

  private progress(): void {
    const { deadlines } = this.ports;
    this.deadlineMs = Math.min(deadlines.coarseNowMs + this.idleMs, this.overallAtMs);
  }

  private frame(text: string, start: number, end: number, event: string): void {
    if (text.charCodeAt(start) === 58) return; // `data: : keepalive` is a comment in disguise.
    if (this.firstByteAtMs === null) this.firstByteAtMs = this.ports.clock.monotonicMs();
    const verdict = this.frames!.onFrame(text, start, end, event);
    this.idleMs = verdict === 'ending' ? Math.min(lingerMs, this.budgets.idleMs) : this.budgets.idleMs;
    this.progress();
    if (verdict === 'more' || verdict === 'ending') return;
    this.reader!.stopped = true;
    if (verdict === 'done') this.finish({ kind: 'stream', status: this.status, cleanly: true, reason: '' }, lingerMs);
    else this.cut({ kind: 'frame_failed', status: this.status });
  }

  private collect(chunk: Buffer): void {
    if (this.firstByteAtMs === null && this.head?.ok) {
      if (chunk.every((byte) => byte <= 32)) return; // Blank lines keep the connection alive; they are no answer.
      this.firstByteAtMs = this.ports.clock.monotonicMs();
      this.deadlineMs = this.overallAtMs;
    }
    this.chunks.push(Buffer.from(chunk));
    this.collected += chunk.length;
    if (this.head?.ok) {
      if (this.collected > answerBytesMax) this.malformed(`its answer is over ${answerBytesMax} bytes`);
    } else if (this.collected >= errorBytesMax) {
      const body = Buffer.concat(this.chunks, errorBytesMax);
      this.cut({ kind: 'refused', status: this.status, head: this.head!, body });
    }
  }

  private ended(): void {
    if (this.over || !this.head) return;
    const { status } = this;
    if (this.reader) {
      this.reader.finish();
      const verdict = this.over ? 'more' : this.frames!.onStreamEnd?.();
      this.frames!.onChunkEnd(this.resumed);
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

  private malformed(reason: string): void {
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
    if (result.kind === 'answer') atEndOfTurn('answers', () => this.resolve(result));
    else this.resolve(result);
  }
}
