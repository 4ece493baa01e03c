/**
 * Carries a stream from an upstream to the caller under the commit rule: nothing is sent before the first frame with content,
 * nothing switches route after it, the frame with the `finish_reason` waits for the usage or the end, and a stream that breaks
 * off never gets a `finish_reason`.
 */

import { asLatin1, type Latin1Text } from '../../base/latin1.js';
import { answeredModelFault } from '../../billing/pricing.js';
import type { Route } from '../../catalogue/route.js';
import type { BilledUsage, FrameTemplate, StreamEnding, StreamWriter } from '../../doors/door.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import type { Permit } from '../../health/route-health.js';
import type { FrameVerdict } from '../../providers/frame-consumer.js';
import {
  type Chunk,
  type ChunkIdentity,
  deliveredText,
  finishReasonOf,
  hasContent,
  parseChunk,
  usageOf,
} from '../../wire/chunk.js';
import { DeltaReader } from '../../wire/deltas.js';
import type { UsageReading } from '../../wire/usage-types.js';
import type { Caller } from '../caller.js';
import type { Relay, RelayFault } from '../handover.js';
import { DeliveredText } from './delivered-text.js';
import { errorFrame, isErrorFrame } from './error-frame.js';
import type { RelayContext } from './relay-context.js';
import { ReportedUsage } from './reported-usage.js';
import { SideMembers } from './side-members.js';
import { WaitingFrames } from './waiting-frames.js';

const learningsMax = 8;
/** How much more text is sent before it is written down again: about a thousand tokens, of a long stream a quarter more. */
const recordEveryCharacters = 4 * 1024;
const recordGrowth = 1 / 4;
const largeFrameCharacters = 64 * 1024;

export class StreamRelay implements Relay {
  committed = false;
  fault: RelayFault | null = null;
  finishReason: string | null = null;
  sawDone = false;
  /** When text was sent last, monotonic milliseconds. */
  lastTextAtMs = 0;
  /** What has been sent: the basis of counting when no usage comes. */
  readonly delivered: DeliveredText;
  /** The amount of text at which it is written down again: at the first text, and then from time to time. */
  private recordAt = 0;
  private route!: Route;
  private reported!: ReportedUsage;
  private permit!: Pick<Permit, 'reportContent'>;
  private readonly waiting = new WaitingFrames();
  private readonly sides = new SideMembers();
  private out = '';
  private writer!: StreamWriter;
  private template: FrameTemplate | null = null;
  private learnings = 0;
  private deltas = new DeltaReader();
  private checkedModel: unknown = undefined;
  private metadataPending = true;
  private finishFrames: readonly Chunk[] = [];

  constructor(
    private readonly caller: Caller,
    private readonly context: RelayContext,
  ) {
    this.delivered = new DeliveredText(context.counter);
  }

  /** How much text has been sent, in bytes of the inside of a JSON string. */
  get deliveredCharacters(): number {
    return this.delivered.characters;
  }

  /** The last cumulative usage that the upstream gave, as it wrote it. */
  get usage(): unknown {
    return this.reported.given;
  }

  /** What `usage` says on this route. */
  get reading(): UsageReading {
    return this.reported.reading;
  }

  begin(route: Route, permit: Pick<Permit, 'reportContent'>): void {
    this.route = route;
    this.permit = permit;
    this.writer = this.context.openWriter(route);
    this.fault = null;
    this.reported = new ReportedUsage(route);
    this.finishReason = null;
    this.sawDone = false;
    this.waiting.clear();
    this.sides.clear();
    this.deltas = new DeltaReader();
    this.checkedModel = undefined;
  }

  hasFinished(closed: boolean): boolean {
    if (this.finishReason === null) return false;
    return this.context.choices === 1 || this.sawDone || this.deltas.hasFinished(closed ? 1 : this.context.choices);
  }

  onFrame(text: Latin1Text, start: number, end: number): FrameVerdict {
    if (this.template !== null && !this.waiting.hasFinal) {
      const inside = this.template.textIn(text, start, end);
      if (inside !== null) {
        this.out += this.template.write(inside);
        this.delivered.add(inside, text.length);
        return 'more';
      }
    }
    return this.readFrame(asLatin1(text.slice(start, end).trim()));
  }

  onEvent(data: Latin1Text, event: string): void {
    this.writer.takeEvent!(data, event);
  }

  callerLeft(): void {
    this.recordSoFar(true);
  }

  /** Nothing before the first text: until then nothing is owed. */
  recordSoFar(left: boolean): void {
    if (!this.committed) return;
    const sent = this.deliveredCharacters;
    this.recordAt = sent + Math.max(recordEveryCharacters, sent * recordGrowth);
    this.context.recordSoFar(this.route, left);
  }

  onChunkEnd(resume: () => void): boolean {
    if (this.committed && this.writer.flush) this.out += this.writer.flush();
    const text = this.takeOut();
    if (text !== '') this.lastTextAtMs = this.context.nowMs();
    // Recorded before it is sent, so that delivered text is billed even if the process dies now.
    if (text !== '' && this.deliveredCharacters >= this.recordAt) this.recordSoFar(false);
    this.context.answer?.add(text);
    const flowing = text === '' || this.caller.write(text);
    if (!this.delivered.countIfLong()) return this.waitForCount(flowing, resume);
    if (!flowing) this.caller.onDrain = resume;
    return flowing;
  }

  /** Goes on when the text has been counted, and a slow caller has taken what it was sent. */
  private waitForCount(flowing: boolean, resume: () => void): false {
    let waitsFor = flowing ? 1 : 2;
    const goOn = (): void => {
      if (--waitsFor === 0) resume();
    };
    if (!flowing) this.caller.onDrain = goOn;
    this.delivered.whenCounted(goOn);
    return false;
  }

  finish(): readonly Chunk[] {
    const { frames, alone } = this.sides.addTo(this.waiting.takeFinal());
    if (alone !== null) this.emit(alone);
    this.finishFrames = frames;
    for (const frame of this.finishFrames) this.addDelivered(frame);
    return this.finishFrames;
  }

  /** What is left to send of a stream, its closing frames included. `metadata` is JSON text. */
  takeEnd(end: StreamEnding['end'], usage: BilledUsage, metadata: string): Latin1Text {
    const ending = { end, usage, metadata, finishFrames: this.finishFrames, firstMetadata: this.firstMetadata() };
    return asLatin1(this.takeOut() + this.writer.writeEnd(ending, this.identity()));
  }

  takeError(error: GatewayError): Latin1Text {
    return asLatin1(this.takeOut() + this.writer.writeError(error, this.context.requestId));
  }

  /** Makes the 200 of an answer that had no content, only a `finish_reason`. */
  commitEmpty(): void {
    if (!this.committed) this.commit();
  }

  private takeOut(): Latin1Text {
    const text = this.out;
    this.out = '';
    return asLatin1(text);
  }

  private readFrame(data: Latin1Text): FrameVerdict {
    if (data.startsWith('[DONE]')) {
      this.sawDone = true;
      this.finishWithoutReason();
      return 'done';
    }
    if (data === '') return 'more';
    const chunk = parseChunk(data);
    if (chunk === null) return this.committed ? 'more' : this.failed({ kind: 'malformed' });
    if (isErrorFrame(chunk)) {
      // An error may come after the answer, with the usage of all that was delivered.
      this.reported.take(chunk);
      return this.failed(errorFrame(data));
    }
    const pricing = this.pricingFault(chunk);
    if (pricing) return this.failed({ kind: 'pricing', reason: pricing });
    if (!Array.isArray(chunk.choices) || chunk.choices.length === 0) {
      if (this.committed || this.waiting.hasFinal) this.sides.take(chunk);
      // Usage alone, after a `finish_reason`, is mostly the last frame; where several come, the last one is billed.
      return usageOf(chunk) !== null && this.hasFinished(false) ? 'ending' : 'more';
    }
    this.deltas.tidy(chunk);
    const finish = finishReasonOf(chunk);
    if (finish === 'error') return this.failed(errorFrame(data));
    if (finish !== null) {
      this.finishReason ??= finish;
      const due = this.waiting.addFinal(chunk, data.length);
      if (due.length > 0 && !this.committed) this.commit();
      for (const frame of due) this.emit(frame);
    } else if (hasContent(chunk) || this.committed) {
      this.send(chunk, data);
    } else {
      this.waiting.addEarly(chunk, data.length);
    }
    return 'more';
  }

  /** Usage is checked as it comes, so that a fault is found while it can still be an ordinary error. */
  private pricingFault(chunk: Chunk): string | undefined {
    const reading = this.reported.take(chunk);
    if (reading?.kind === 'fault') return reading.reason;
    if (typeof chunk.model !== 'string' || chunk.model === '' || chunk.model === this.checkedModel) return undefined;
    this.checkedModel = chunk.model;
    return answeredModelFault(this.context.snapshot, this.route, chunk.model);
  }

  /** A server that never writes `finish_reason` says with `[DONE]` alone that its answer is whole. */
  private finishWithoutReason(): void {
    if (!this.committed || this.finishReason !== null || this.deltas.writesNullReasons) return;
    for (const chunk of this.deltas.finishAll()) {
      this.waiting.addFinal(chunk, 0);
      this.finishReason ??= finishReasonOf(chunk);
    }
  }

  private failed(fault: RelayFault): FrameVerdict {
    this.fault = fault;
    return 'failed';
  }

  private send(chunk: Chunk, data: Latin1Text): void {
    if (!this.committed) this.commit();
    // With several choices one may finish while another goes on: what was held for it was not the last frame.
    if (hasContent(chunk)) for (const finish of this.waiting.takeFinal()) this.emit(finish);
    if (this.learnings < learningsMax) {
      this.learnings++;
      this.template = this.writer.templateFor(data, this.identity()) ?? this.template;
    }
    if (data.length < largeFrameCharacters || !this.splice(data)) this.emit(chunk);
  }

  /** A frame of megabytes is spliced though it was parsed: serialising it, twice, would hold up others. */
  private splice(data: Latin1Text): boolean {
    if (this.template === null) return false;
    const inside = this.template.textIn(data, 0, data.length);
    if (inside === null) return false;
    this.out += this.template.write(inside, this.firstMetadata());
    this.delivered.add(inside, data.length);
    return true;
  }

  /** `router_metadata` goes out with the first frame of all, whichever it is. */
  private firstMetadata(): string | undefined {
    if (!this.metadataPending) return undefined;
    this.metadataPending = false;
    return this.context.metadata(this.route);
  }

  private commit(): void {
    this.committed = true;
    this.permit.reportContent();
    this.caller.openStream(this.context.headers(this.route));
    for (const chunk of this.waiting.takeEarly()) this.emit(chunk);
  }

  private emit(chunk: Chunk): void {
    this.out += this.writer.writeFrame(chunk, this.identity(), this.firstMetadata());
    this.addDelivered(chunk);
  }

  private addDelivered(chunk: Chunk): void {
    const text = deliveredText(chunk);
    this.delivered.add(text, text.length);
  }

  private identity(): ChunkIdentity {
    const { id, created, includeUsage } = this.context;
    return { id, created, includeUsage, model: this.route.id };
  }
}
