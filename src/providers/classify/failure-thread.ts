/** The thread that reads errors of large requests. */
import { serveThread } from '../../base/side-thread-port.js';
import { type Evidence, readFailure, type Verdict } from './read-failure.js';
import { type SentBytes, sentTexts } from './sent-strings.js';

export interface FailureToRead {
  evidence: Evidence;
  sent: SentBytes;
}

serveThread<FailureToRead, Verdict>(({ evidence, sent }) => ({ result: readFailure(evidence, sentTexts(sent)) }));
