/** Reads whole completions; large ones in a thread of their own, so that no upstream can hold up other callers. */
import { SideThread } from '../base/side-thread.js';
import { type CompletionReading, readCompletion } from './adapters/openai/completion.js';

const largeAnswerBytes = 256 * 1024;

export class AnswerReader {
  private readonly thread = new SideThread<ArrayBuffer, CompletionReading>(
    new URL('./answer-thread.js', import.meta.url),
    { idleMs: 30_000, resourceLimits: { maxOldGenerationSizeMb: 1024 } },
  );

  read(body: Buffer): CompletionReading | Promise<CompletionReading> {
    return body.length <= largeAnswerBytes ? readCompletion(body) : this.readLarge(body);
  }

  close(): Promise<void> {
    return this.thread.close();
  }

  private async readLarge(body: Buffer): Promise<CompletionReading> {
    const bytes = new Uint8Array(body);
    try {
      return await this.thread.run(bytes.buffer, [bytes.buffer]);
    } catch {
      return { kind: 'malformed', reason: 'its answer holds more values than can be read' };
    }
  }
}
