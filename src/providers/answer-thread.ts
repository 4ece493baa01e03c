/** The thread that reads large completions. */
import { serveThread } from '../base/side-thread-port.js';
import type { UsageTerms } from '../wire/usage.js';
import type { CompletionReading } from './dialects/openai/completion.js';
import { readAnswer } from './read-answer.js';
import { readTaskAnswer, type TaskQuestion, type TaskReading } from './read-task.js';

export interface AnswerToRead {
  bytes: ArrayBuffer;
  dialect: string;
  terms: UsageTerms;
}

export interface TaskAnswerToRead {
  bytes: ArrayBuffer;
  question: TaskQuestion;
}

serveThread<AnswerToRead | TaskAnswerToRead, CompletionReading | TaskReading>((answer) => {
  const body = Buffer.from(answer.bytes);
  if ('question' in answer) return { result: readTaskAnswer(body, answer.question) };
  return { result: readAnswer(body, answer.dialect, answer.terms) };
});
