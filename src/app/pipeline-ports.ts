/** The parts that only the request path uses, and with the others what its stages are given. */
import type { ExpirySweeper } from '../accounts/keys/expiry-sweeper.js';
import { TokenCounter } from '../billing/count/counter.js';
import type { Config } from '../config/config.js';
import type { HttpDeps } from '../http/deps.js';
import type { PipelinePorts } from '../pipeline/handover.js';
import { Validator } from '../pipeline/validate.js';
import { AnswerReader } from '../providers/answer-reader.js';
import { FailureReader } from '../providers/classify/failure-reader.js';
import { ProviderCredentials } from '../providers/credentials/provider-credentials.js';
import { RequestWriter } from '../providers/request-writer.js';
import { createSandbox } from '../providers/sandbox/sandbox.js';
import { Deadlines } from '../providers/transport/deadlines.js';
import { HttpTransport } from '../providers/transport/http-transport.js';
import type { Opened } from './opened.js';

type Given =
  | 'clock'
  | 'logger'
  | 'territories'
  | 'ipLimiter'
  | 'keyLimiter'
  | 'bodyMemory'
  | 'directory'
  | 'catalogue'
  | 'modelStates'
  | 'health'
  | 'holds'
  | 'journal'
  | 'fleet'
  | 'meters';

export interface PipelineParts extends Pick<PipelinePorts, Given> {
  config: Config;
  env: Readonly<Record<string, string | undefined>>;
  expiry: ExpirySweeper;
}

export function pipelinePorts(
  parts: PipelineParts,
  opened: Opened,
): PipelinePorts & Required<Pick<HttpDeps, 'upstreamConnections'>> & { loadTokenizer(): void } {
  const { config, clock, expiry } = parts;
  const http = opened.add(new HttpTransport(() => clock.monotonicMs()), (part) => part.close());
  const counter = opened.add(new TokenCounter(), (part) => part.close());
  const sandbox = opened.add(createSandbox({ clock }), (part) => part.close());
  return {
    ...parts,
    upstreamConnections: () => http.connectionCounts(),
    expiredKeySeen: () => expiry.seen(),
    timeouts: config.timeouts,
    deadlines: new Deadlines(clock),
    validator: opened.add(new Validator(), (part) => part.close()),
    requests: opened.add(new RequestWriter(), (part) => part.close()),
    answers: opened.add(new AnswerReader(), (part) => part.close()),
    failures: opened.add(new FailureReader(), (part) => part.close()),
    counter,
    loadTokenizer: () => counter.load(),
    credentials: new ProviderCredentials({ clock, env: parts.env, logger: parts.logger }),
    transportOf: ({ provider }) => (provider.dialect === 'sandbox' ? sandbox : http),
  };
}
