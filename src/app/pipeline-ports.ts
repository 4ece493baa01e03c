/** Opens the parts that only the request path uses, and joins them with the others to the ports of its stages. */
import type { ExpirySweeper } from '../accounts/keys/expiry-sweeper.js';
import { TokenCounter } from '../billing/count/counter.js';
import type { Config } from '../config/config.js';
import type { QuotaHolds } from '../health/quota-holds.js';
import type { HttpDeps } from '../http/deps.js';
import type { PipelinePorts } from '../pipeline/ports.js';
import { type Names, Validator } from '../pipeline/validate.js';
import { FailureReader } from '../providers/classify/failure-reader.js';
import type { KeyPool } from '../providers/credentials/key-pool.js';
import { loadPackage } from '../providers/credentials/optional-package.js';
import { OwnHeaders, type OwnSecrets } from '../providers/credentials/own-headers.js';
import { ProviderCredentials } from '../providers/credentials/provider-credentials.js';
import { createSandbox } from '../providers/sandbox/sandbox.js';
import { AnswerReader, RequestWriter } from '../providers/translation.js';
import { Deadlines } from '../providers/transport/deadlines.js';
import { HttpTransport } from '../providers/transport/http-transport.js';
import { proxiesOf } from '../providers/transport/upstream-proxy.js';
import type { OpenParts } from './open-parts.js';

/** The ports that other parts of the gateway use too. */
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
  | 'providerKeys'
  | 'journal'
  | 'admission'
  | 'fleet'
  | 'spend'
  | 'conversations'
  | 'proof'
  | 'meters'
  | 'routeHistory'
  | 'brought';

interface SharedParts extends Pick<PipelinePorts, Given> {
  config: Config;
  env: Readonly<Record<string, string | undefined>>;
  expiry: ExpirySweeper;
  names: Names;
  own: PipelinePorts['own'] & OwnSecrets;
}

export interface GatewayPorts extends PipelinePorts, Required<Pick<HttpDeps, 'upstreamConnections'>> {
  loadTokenizer(): void;
}

export function pipelinePorts(shared: SharedParts, parts: OpenParts): GatewayPorts {
  const { config, clock, env, logger } = shared;
  const http = parts.add(
    new HttpTransport({
      nowMs: () => clock.monotonicMs(),
      idleMsMax: config.timeouts.idleConnectionMs,
      proxyOf: proxiesOf(env),
    }),
    (part) => part.close(),
  );
  const counter = parts.add(new TokenCounter(), (part) => part.close());
  const sandbox = parts.add(createSandbox({ clock }), (part) => part.close());
  return {
    ...shared,
    counter,
    deadlines: new Deadlines(clock),
    timeouts: config.timeouts,
    validator: parts.add(new Validator(shared.names, config.compat.openRouter), (part) => part.close()),
    requests: parts.add(new RequestWriter(), (part) => part.close()),
    answers: parts.add(new AnswerReader(), (part) => part.close()),
    failures: parts.add(new FailureReader(), (part) => part.close()),
    credentials: new ProviderCredentials({
      ...{ clock, env, logger },
      own: new OwnHeaders({ secrets: shared.own, clock, env, load: loadPackage }),
    }),
    transportOf: ({ provider }) => (provider.dialect === 'sandbox' ? sandbox : http),
    upstreamConnections: () => http.connectionCounts(),
    loadTokenizer: () => counter.load(),
  };
}

type Holds = Pick<QuotaHolds, 'isHeld' | 'view' | 'lift' | 'hold' | 'used'>;

/** The holds of routes: those of their own, and those of all the keys that a route may be called with. */
export function routeHolds(holds: Holds, keys: Pick<KeyPool, 'spentUntil' | 'lift'>): Holds {
  return {
    isHeld: (routeId) => holds.isHeld(routeId) || keys.spentUntil(routeId) !== null,
    view: (routeId) => {
      const own = holds.view(routeId);
      const until = own === null ? keys.spentUntil(routeId) : null;
      return until === null ? own : { until, reason: 'upstream' };
    },
    lift: async (routeId) => {
      const isKeys = keys.lift(routeId);
      return (await holds.lift(routeId)) || isKeys;
    },
    hold: (routeId, reason) => holds.hold(routeId, reason),
    used: (route, tokens, createdAt) => holds.used(route, tokens, createdAt),
  };
}
