/** Stands between an upstream that streams in a dialect of its own and a consumer that knows OpenAI's frames only. */

import type { FrameConsumer, FrameVerdict } from './call.js';
import type { StreamTranslator } from './dialects/dialect.js';

export class TranslatedFrames implements FrameConsumer {
  private verdict: FrameVerdict = 'more';

  constructor(
    private readonly consumer: FrameConsumer,
    private readonly translator: StreamTranslator,
  ) {}

  onFrame(text: string, start: number, end: number, event: string): FrameVerdict {
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

  /** What follows the end, or a failure, is not passed on. */
  private readonly emit = (chunk: string): void => {
    if (this.goesOn) this.verdict = this.consumer.onFrame(chunk, 0, chunk.length, '');
  };

  private get goesOn(): boolean {
    return this.verdict === 'more' || this.verdict === 'ending';
  }
}
