/** Reads whole completions. Large ones are read in a separate thread, so that no upstream can delay other clients. */
import type { MaybePromise } from '../base/maybe-promise.js';
import { SideThread } from '../base/side-thread.js';
import type { UsageTerms } from '../wire/usage.js';
import type { AnswerToRead, TaskAnswerToRead } from './answer-thread.js';
import type { CompletionReading } from './dialects/openai/completion.js';
import { readAnswer } from './read-answer.js';
import { readTaskAnswer, type TaskQuestion, type TaskReading } from './read-task.js';

const largeAnswerBytes = 256 * 1024;

export class AnswerReader {
  private readonly thread = new SideThread<AnswerToRead | TaskAnswerToRead, CompletionReading | TaskReading>(
    new URL('./answer-thread.js', import.meta.url),
    { idleMs: 30_000, resourceLimits: { maxOldGenerationSizeMb: 1024 } },
  );

  read(body: Buffer, dialect: string, terms: UsageTerms): MaybePromise<CompletionReading> {
    return body.length <= largeAnswerBytes ? readAnswer(body, dialect, terms) : this.readLarge(body, dialect, terms);
  }

  /** Vectors are many numbers, so most answers with more than a few of them are read in the thread. */
  readTask(body: Buffer, question: TaskQuestion): MaybePromise<TaskReading> {
    return body.length <= largeAnswerBytes ? readTaskAnswer(body, question) : this.readLargeTask(body, question);
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
      return (await this.thread.run({ bytes: bytes.buffer, dialect, terms }, [bytes.buffer])) as CompletionReading;
    } catch {
      return { kind: 'malformed', reason: 'its answer holds more values than can be read' };
    }
  }
  private async readLargeTask(body: Buffer, question: TaskQuestion): Promise<TaskReading> {
    const bytes = new Uint8Array(body);
    try {
      return (await this.thread.run({ bytes: bytes.buffer, question }, [bytes.buffer])) as TaskReading;
    } catch {
      return { kind: 'malformed', reason: 'its answer holds more values than can be read' };
    }
  }
}
