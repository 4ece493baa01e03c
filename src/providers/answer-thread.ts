/** The thread that reads large completions. */
import { serveThread } from '../base/side-thread-port.js';
import type { CompletionReading } from './dialects/openai/completion.js';
import {
  type AnswerToRead,
  readAnswer,
  readTaskAnswer,
  type TaskAnswerToRead,
  type TaskReading,
} from './read-answer.js';

serveThread<AnswerToRead | TaskAnswerToRead, CompletionReading | TaskReading>((answer) => {
  const body = Buffer.from(answer.bytes);
  if ('question' in answer) return { result: readTaskAnswer(body, answer.question) };
  return { result: readAnswer(body, answer.dialect, answer.terms) };
});
