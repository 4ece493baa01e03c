/**
 * One call to an upstream: sends the request, enforces the time budgets, and returns what the upstream did as a value. Frames of
 * a stream go to the consumer as they arrive; any other body is collected up to a limit.
 */
import type { Latin1Text } from '../base/latin1.js';
import type { Clock } from '../base/time.js';
import { atEndOfTurn } from '../base/turn.js';
import type { CallResult } from './call-result.js';
import { reasonOf, type TimeBudget } from './classify/failure.js';
import { excessOfFrame, type FrameConsumer } from './frame-consumer.js';
import { AwsEventStreamReader } from './transport/aws-event-stream.js';
import type { Deadlines, Watched } from './transport/deadlines.js';
import { createDecoder, type Decoder } from './transport/decode.js';
import { CollectedBody, errorBytesMax, ResponseHead } from './transport/response.js';
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

/** Of an answer, where the call allows no more. */
export const answerBytesMax = 32 * 1024 * 1024;
/** After the last frame the upstream has this long to end its body, so that the connection can be reused. */
const lingerMs = 250;
const errorBodyMs = 2_000;
const nothingToResume = (): void => {};

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
  /** The time budget for the next frame. */
  private idleMs: number;
  private upstream: UpstreamCall | null = null;
  head: ResponseHead | null = null;
  private decoder: Decoder | null = null;
  private reader: SseReader | AwsEventStreamReader | null = null;
  private readonly body: CollectedBody;
  private over = false;
  private paused = false;
  /** For the consumer of frames; only a stream has one. */
  private resume: (() => void) | null = null;
  private resumeUpstream = nothingToResume;

  constructor(
    private readonly ports: CallPorts,
    request: UpstreamRequest & { readonly answerBytes?: number },
    private readonly budgets: Budgets,
    private readonly frames: FrameConsumer | null,
    /** Called once, when it is known what the upstream did. */
    private readonly done: (result: CallResult, call: Call) => void,
  ) {
    this.body = new CollectedBody(request.answerBytes ?? answerBytesMax);
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
        onUndecodable: (reason, excess) => this.failMalformed(reason, excess),
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
    this.resumeUpstream = nothingToResume;
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
      this.finish(this.refusal());
    } else {
      const { code = '' } = error;
      this.finish({ kind: 'connection', status: this.head?.status ?? null, reason: reasonOf(error), code });
    }
  }

  expire(nowMs: number): void {
    if (this.over) {
      this.ports.deadlines.unwatch(this);
      this.upstream?.abort();
    } else if (this.head && !this.head.ok && nowMs < this.overallAtMs) {
      this.cut(this.refusal());
    } else {
      this.cut({ kind: 'timeout', status: this.head?.status ?? null, ...this.spentBudget(nowMs) });
    }
  }

  private get status(): number {
    return this.head?.status ?? 0;
  }

  private spentBudget(nowMs: number): { budget: TimeBudget; budgetMs: number } {
    const { firstByteMs, idleMs, overallNamedMs } = this.budgets;
    if (nowMs >= this.overallAtMs) return { budget: 'overall', budgetMs: overallNamedMs };
    if (this.firstByteAtMs === null) return { budget: 'first-byte', budgetMs: firstByteMs };
    return { budget: 'stream-idle', budgetMs: idleMs };
  }

  /** False = pause. */
  private take(chunk: Buffer): boolean {
    if (this.over) return true;
    if (this.reader) this.readFrames(this.reader, chunk);
    else if (this.body.length === 0 && this.head?.ok && this.frames) this.startStream(chunk);
    else this.collect(chunk);
    return !this.paused;
  }

  private startStream(chunk: Buffer): void {
    const onFrame = (text: Latin1Text, start: number, end: number, event: string) =>
      this.takeFrame(text, start, end, event);
    const onBroken = (reason: string, excess?: true) => this.breakStream(`it sent ${reason}`, excess);
    if (this.head!.isAmazonEventStream) {
      this.reader = new AwsEventStreamReader({ onFrame, onBroken });
    } else if (this.head!.startsEvents(chunk)) {
      this.reader = new SseReader({ onFrame, onOverflow: () => onBroken('a frame that never ends', true) });
    } else {
      this.collect(chunk);
      return;
    }
    this.readFrames(this.reader, chunk);
  }

  private readFrames(reader: SseReader | AwsEventStreamReader, chunk: Buffer): void {
    reader.read(chunk);
    this.resume ??= () => this.resumeNow();
    if (this.frames!.onChunkEnd(this.resume) || this.over) return;
    this.paused = true;
    // The client is slow, not the upstream, so only the overall budget applies.
    this.deadlineMs = this.overallAtMs;
  }

  private resumeNow(): void {
    if (!this.paused) return;
    this.paused = false;
    if (this.over) return;
    this.renewDeadline();
    if (this.decoder) this.decoder.resume();
    else this.resumeUpstream();
  }

  private renewDeadline(): void {
    const { deadlines } = this.ports;
    this.deadlineMs = Math.min(deadlines.coarseNowMs + this.idleMs, this.overallAtMs);
  }

  private takeFrame(text: Latin1Text, start: number, end: number, event: string): void {
    if (text.charCodeAt(start) === 58) return; // `data: : keepalive` is a comment inside a data line.
    if (this.firstByteAtMs === null) this.firstByteAtMs = this.ports.clock.monotonicMs();
    const excess = excessOfFrame(text, start, end);
    if (excess !== null) {
      this.reader!.stopped = true;
      this.breakStream(`it sent a frame that ${excess}`, true);
      return;
    }
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
      if (isBlank(chunk)) return; // Blank lines only keep the connection alive.
      this.firstByteAtMs = this.ports.clock.monotonicMs();
      this.deadlineMs = this.overallAtMs;
    }
    if (this.head?.ok) {
      const { length, bytesMax } = this.body;
      if (length + chunk.length <= bytesMax) this.body.add(chunk);
      else this.failMalformed(`its answer is over ${bytesMax} bytes`, true);
    } else {
      this.body.add(chunk.subarray(0, errorBytesMax - this.body.length));
      if (this.body.length === errorBytesMax) this.cut(this.refusal());
    }
  }

  private endBody(): void {
    if (this.over || !this.head) return;
    const { status } = this;
    if (this.reader) {
      this.reader.finish();
      const verdict = this.over ? 'more' : this.frames!.onStreamEnd?.();
      this.frames!.onChunkEnd(this.resume!);
      if (verdict === 'failed') this.finish({ kind: 'frame_failed', status });
      else if (!this.over) this.finish({ kind: 'stream', status, cleanly: true, reason: 'it closed the stream' });
      return;
    }
    const body = this.body.take();
    if (!this.head.ok) this.finish({ kind: 'refused', status, head: this.head, body });
    else if (this.frames)
      this.finish({ kind: 'malformed', status, reason: 'it answered a streaming request without a stream', body });
    else if (this.head.isEventStream)
      this.finish({ kind: 'malformed', status, reason: 'it answered with a stream that was not asked for', body });
    else this.finish({ kind: 'answer', status, body });
  }

  private refusal(): CallResult {
    return { kind: 'refused', status: this.status, head: this.head!, body: this.body.take() };
  }

  /** A decoder may fail after frames that the client has: then the stream breaks off, as with a connection that fails. */
  private failMalformed(reason: string, excess?: true): void {
    this.reader?.finish();
    if (this.over) return;
    // No error is that large.
    const body = excess ? Buffer.alloc(0) : this.body.take();
    if (this.reader) this.breakStream(reason, excess);
    else this.cut({ kind: 'malformed', status: this.status, reason, body, ...(excess && { excess }) });
  }

  private breakStream(reason: string, excess?: true): void {
    this.cut({ kind: 'stream', status: this.status, cleanly: false, reason, ...(excess && { excess }) });
  }

  private cut(result: CallResult): void {
    this.finish(result);
    this.upstream?.abort();
  }

  private finish(result: CallResult, linger = 0): void {
    this.over = true;
    this.body.clear();
    this.decoder?.destroy();
    this.frames?.onStreamOver?.();
    if (linger > 0) {
      this.deadlineMs = this.ports.clock.monotonicMs() + linger;
      if (this.paused || this.decoder) this.resumeUpstream();
    } else this.ports.deadlines.unwatch(this);
    if (result.kind === 'answer') atEndOfTurn('answers', () => this.done(result, this));
    else this.done(result, this);
  }
}

function isBlank(chunk: Buffer): boolean {
  for (let at = 0; at < chunk.length; at++) if (chunk[at]! > 32) return false;
  return true;
}
