/** Reads whole completions. Large ones are read in a separate thread, so that no upstream can delay other clients. */
import type { MaybePromise } from '../base/maybe-promise.js';
import { SideThread } from '../base/side-thread.js';
import type { UsageTerms } from '../wire/usage.js';
import type { AnswerToRead } from './answer-thread.js';
import type { CompletionReading } from './dialects/openai/completion.js';
import { readAnswer } from './read-answer.js';

const largeAnswerBytes = 256 * 1024;

export class AnswerReader {
  private readonly thread = new SideThread<AnswerToRead, CompletionReading>(
    new URL('./answer-thread.js', import.meta.url),
    { idleMs: 30_000, resourceLimits: { maxOldGenerationSizeMb: 1024 } },
  );

  read(body: Buffer, dialect: string, terms: UsageTerms): MaybePromise<CompletionReading> {
    return body.length <= largeAnswerBytes ? readAnswer(body, dialect, terms) : this.readLarge(body, dialect, terms);
  }

  close(): Promise<void> {
    return this.thread.close();
  }

  private async readLarge(
    body: Buffer,
    dialect: string,
    { contextWindow, hiddenReasoning, price }: UsageTerms,
  ): Promise<CompletionReading> {
    const bytes = new Uint8Array(body);
    const terms = { contextWindow, hiddenReasoning, price };
    try {
      return await this.thread.run({ bytes: bytes.buffer, dialect, terms }, [bytes.buffer]);
    } catch {
      return { kind: 'malformed', reason: 'its answer holds more values than can be read' };
    }
  }
}
