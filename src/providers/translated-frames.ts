/** Translates the frames of an upstream's dialect for a consumer that only reads OpenAI's frames. */
import type { Latin1Text } from '../base/latin1.js';
import type { FrameConsumer, FrameVerdict } from './call.js';
import type { StreamTranslator } from './dialects/dialect.js';

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
