/** The thread that reads large completions. */
import { serveThread } from '../base/side-thread-port.js';
import type { CompletionReading } from './adapters/openai/completion.js';
import { readAnswer } from './read-answer.js';

export interface AnswerToRead {
  bytes: ArrayBuffer;
  dialect: string;
}

serveThread<AnswerToRead, CompletionReading>(({ bytes, dialect }) => ({
  result: readAnswer(Buffer.from(bytes), dialect),
}));
