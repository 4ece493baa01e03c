/** Hands the events of a native pass to the consumer as they are, each before the OpenAI frames that are read from it. */
import type { Latin1Text } from '../base/latin1.js';
import type { FrameConsumer, FrameVerdict } from './call.js';
import type { StreamTranslator } from './dialects/dialect.js';
import { TranslatedFrames } from './translated-frames.js';

export interface EventConsumer extends FrameConsumer {
  onEvent(data: Latin1Text, event: string): void;
}

export class NativeFrames extends TranslatedFrames {
  constructor(
    private readonly events: EventConsumer,
    translator: StreamTranslator,
  ) {
    super(events, translator);
  }

  override onFrame(text: Latin1Text, start: number, end: number, event: string): FrameVerdict {
    this.events.onEvent(text.slice(start, end) as Latin1Text, event);
    return super.onFrame(text, start, end, event);
  }
}
