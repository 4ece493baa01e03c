/** The thread that reads large completions. */
import { serveThread } from '../base/side-thread-port.js';
import type { UsageTerms } from '../wire/usage.js';
import type { CompletionReading } from './dialects/openai/completion.js';
import { readAnswer } from './read-answer.js';

export interface AnswerToRead {
  bytes: ArrayBuffer;
  dialect: string;
  terms: UsageTerms;
}

serveThread<AnswerToRead, CompletionReading>(({ bytes, dialect, terms }) => ({
  result: readAnswer(Buffer.from(bytes), dialect, terms),
}));
