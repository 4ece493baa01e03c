/** The thread that reads failures of large requests. */
import { serveThread } from '../../base/side-thread-port.js';
import { type SentBytes, sentTexts } from '../transport/sent-bytes.js';
import { type Evidence, readFailure, type Verdict } from './read-failure.js';

export interface FailureToRead {
  evidence: Evidence;
  sent: SentBytes;
}

serveThread<FailureToRead, Verdict>(({ evidence, sent }) => ({ result: readFailure(evidence, sentTexts(sent)) }));
