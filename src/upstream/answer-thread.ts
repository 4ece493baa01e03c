/** The thread that reads large completions. */
import { serveThread } from '../base/side-thread-port.js';
import { type CompletionReading, readCompletion } from './adapters/openai/completion.js';

serveThread<ArrayBuffer, CompletionReading>((bytes) => ({ result: readCompletion(Buffer.from(bytes)) }));
