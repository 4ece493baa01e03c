/** The thread that reads failures of large requests. */
import { serveThread } from '../base/side-thread-port.js';
import { type Evidence, readFailure, type Verdict } from './classify/read-failure.js';
import { type SentBytes, sentTexts } from './sent-bytes.js';

export interface FailureToRead {
  evidence: Evidence;
  sent: SentBytes;
}

serveThread<FailureToRead, Verdict>(({ evidence, sent }) => ({ result: readFailure(evidence, sentTexts(sent)) }));
