/** What a translator makes of an event stream, whatever the pieces that its bytes came in. */
import type { Dialect } from '../../src/providers/dialects/dialect.js';
import { SseReader } from '../../src/providers/transport/sse-frames.js';

export function sseChunks(dialect: Dialect, pieces: readonly Buffer[]): string[] {
  const translator = dialect.createStreamTranslator?.() ?? null;
  const chunks: string[] = [];
  const emit = (chunk: string) => void chunks.push(chunk);
  const reader = new SseReader({
    onFrame: (text, start, end, event) => {
      const data = text.slice(start, end);
      if (translator) translator.onEvent(data, event, emit);
      else emit(data);
    },
    onOverflow: () => {
      throw new Error('a frame without end');
    },
  });
  for (const piece of pieces) reader.read(piece);
  reader.finish();
  translator?.onEnd(emit);
  translator?.onOver?.(emit);
  return chunks;
}
