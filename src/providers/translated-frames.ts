/** Turns the frames of an upstream's stream into OpenAI's frames. Of a native pass, the consumer also gets each event as it came. */
import type { Latin1Text } from '../base/latin1.js';
import type { StreamTranslator } from './dialects/dialect.js';
import type { FrameConsumer, FrameVerdict } from './frame-consumer.js';

/** Translates the frames of an upstream's dialect. */
export class TranslatedFrames implements FrameConsumer {
  protected verdict: FrameVerdict = 'more';

  constructor(
    private readonly consumer: FrameConsumer,
    protected readonly translator: StreamTranslator,
  ) {}

  onFrame(text: Latin1Text, start: number, end: number, event: string): FrameVerdict {
    this.translator.onEvent(text.slice(start, end), event, this.emit);
    return this.verdict;
  }

  onStreamEnd(): FrameVerdict {
    if (this.goesOn) this.translator.onEnd(this.emit);
    return this.verdict;
  }

  onStreamOver(): void {
    this.translator.onOver?.(this.emit);
  }

  onChunkEnd(resume: () => void): boolean {
    return this.consumer.onChunkEnd(resume);
  }

  /** Frames after the end, or after a failure, are dropped. */
  protected readonly emit = (chunk: Latin1Text): void => {
    if (this.goesOn) this.verdict = this.consumer.onFrame(chunk, 0, chunk.length, '');
  };

  private get goesOn(): boolean {
    return this.verdict === 'more' || this.verdict === 'ending';
  }
}

interface EventConsumer extends FrameConsumer {
  onEvent(data: Latin1Text, event: string): void;
}

/** Hands the events of a native pass to the consumer as they are, each before the OpenAI frames that are read from it. */
export class NativeFrames extends TranslatedFrames {
  private data: Latin1Text | null = null;
  private event = '';

  constructor(
    private readonly events: EventConsumer,
    translator: StreamTranslator,
  ) {
    super(events, translator);
  }

  override onFrame(text: Latin1Text, start: number, end: number, event: string): FrameVerdict {
    const data = text.slice(start, end) as Latin1Text;
    this.data = data;
    this.event = event;
    this.translator.onEvent(data, event, this.emitAfterEvent);
    this.handOver();
    return this.verdict;
  }

  /** A translator emits what it cannot read as it came: an error, or no event at all, which does not pass. */
  private readonly emitAfterEvent = (chunk: Latin1Text): void => {
    if (chunk === this.data) this.data = null;
    else this.handOver();
    this.emit(chunk);
  };

  private handOver(): void {
    const { data } = this;
    if (data === null) return;
    this.data = null;
    this.events.onEvent(data, this.event);
  }
}
