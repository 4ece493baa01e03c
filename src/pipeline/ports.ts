/** The ports of the pipeline, which the composition fills. */
import type { Identities } from '../accounts/identities.js';
import type { KeyUses } from '../accounts/keys/key-uses.js';
import type { Spending } from '../accounts/spending/spend-holds.js';
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import type { MaybePromise } from '../base/turn.js';
import type { TokenCounter } from '../billing/count/counter.js';
import type { Route, Snapshot } from '../catalogue/route.js';
import type { ChatAsk, ChatTaken, Conversations } from '../cluster/ports.js';
import type { Timeouts } from '../config/config.js';
import type { Identity } from '../domain/account.js';
import type { Generation } from '../domain/generation.js';
import type { GatewayError } from '../errors/gateway-error.js';
import type { Fleet } from '../fleet/fleet.js';
import type { ModelStates } from '../health/model-states.js';
import type { OwnHealth } from '../health/own-health.js';
import type { QuotaHolds } from '../health/quota-holds.js';
import type { RouteHealth } from '../health/route-health.js';
import type { RouteHistory } from '../health/route-history.js';
import type { BodyMemory } from '../limits/body-memory.js';
import type { IpLimiter, KeyLimiter } from '../limits/rate-limits.js';
import type { Meters } from '../observability/metrics/meters.js';
import type { LogIdentity } from '../proof/receipt.js';
import type { FailureReader } from '../providers/classify/failure-reader.js';
import type { Credentials } from '../providers/credentials/credentials.js';
import type { KeyPool } from '../providers/credentials/key-pool.js';
import type { AnswerReader, RequestWriter } from '../providers/translation.js';
import type { Deadlines } from '../providers/transport/deadlines.js';
import type { Transport } from '../providers/transport/transport.js';
import type { Territories } from '../territory/territories.js';
import type { Arrival } from './handover.js';
import type { SwitchPorts, Validator } from './validate.js';

export interface PipelinePorts extends SwitchPorts {
  clock: Clock;
  logger: Logger;
  territories: Pick<Territories, 'checkCaller' | 'checkBillingCountry' | 'modelExcluded'>;
  ipLimiter: Pick<IpLimiter, 'take' | 'requestsPerMinute'>;
  keyLimiter: KeyLimiter;
  directory: {
    readonly identities: Pick<Identities, 'cached' | 'load' | 'charge'>;
    readonly uses: Pick<KeyUses, 'note'>;
  };
  /** Erases the hash of an expired key that a request has shown. */
  expiry: { noteExpiredKey(): void };
  catalogue: { readonly current: Snapshot | null };
  modelStates: Pick<ModelStates, 'get'>;
  health: Pick<RouteHealth, 'begin' | 'isOpen' | 'observed' | 'revision' | 'recordThroughput'>;
  holds: Pick<QuotaHolds, 'isHeld' | 'hold' | 'used'>;
  spend: Pick<Spending, 'checkLimits' | 'spentBalance' | 'take' | 'askOf' | 'takeAs'>;
  validator: Validator;
  bodyMemory: Pick<BodyMemory, 'check' | 'open'>;
  transportOf(route: Route): Transport;
  credentials: Credentials;
  /** Where the operator has several keys at a provider. */
  providerKeys: Pick<KeyPool, 'take' | 'obstacleOf' | 'waitMs'>;
  deadlines: Deadlines;
  timeouts: Timeouts;
  requests: Pick<RequestWriter, 'write'>;
  answers: AnswerReader;
  failures: Pick<FailureReader, 'read'>;
  counter: Pick<TokenCounter, 'count' | 'countPiece'>;
  journal: {
    append(generation: Generation, whenWritten?: () => void): void;
    /** What a stream owes so far is in a file when this returns; `append` replaces it. */
    appendProvisional(generation: Generation): void;
    /** Room for the records of a request that costs money; false where it must not be forwarded. */
    reserve(bytes: number): boolean;
    release(bytes: number): void;
    /** False where the store does not have everything by then. Never rejects. */
    settled(timeoutMs: number): Promise<boolean>;
  };
  meters: Pick<Meters, 'openStreams' | 'countSticky'>;
  own?: OwnCandidates;
  /** Counts attempts that a route did not answer, for its history. */
  routeHistory?: Pick<RouteHistory, 'countFailure'>;
  /** null = no receipts are logged. `identity` is null until the log has begun. */
  proof: { readonly hashBodies: boolean; identity(): LogIdentity | null } | null;
  /** null = requests do not stay with a route. */
  conversations: Conversations | null;
  admission: Admission;
  /** null = this process is the only one. */
  fleet: Pick<Fleet, 'nearZero' | 'confirm'> | null;
}

/** Finds out who is calling and counts the request: in this process alone, or in the state that a fleet shares. */
export interface Admission {
  /** Whether a chat whose body is there takes its tokens and its hold in the same step. */
  readonly takesEarly: boolean;
  /**
   * Sets the caller's identity as soon as its key is found good. Returns the refusal by the limit of the key or its project, which is not
   * thrown, because other checks come before it in the order of errors.
   */
  count(ports: PipelinePorts, arrival: Arrival, early: EarlyTake | null): MaybePromise<GatewayError | null>;
}

/** What a chat takes with its admission. */
export interface EarlyTake {
  /** null where that is not known yet. */
  prepare(identity: Identity): Omit<ChatAsk, 'keyVersion' | 'accountVersion'> | null;
  /** Takes over what the shared state has answered, null where it took nothing. */
  take(taken: ChatTaken | null): MaybePromise<void>;
  /** Whether the estimate is held against the budgets and the cap. */
  readonly isHeld: boolean;
}

/** The candidates that a customer's own credentials make of routes, and what becomes of them. */
interface OwnCandidates {
  readonly health: OwnHealth;
  /** Own candidates cost something, so that they need a balance too. */
  readonly hasFee: boolean;
  /** The routes with the credentials of the identity; the same list where it has none for them. */
  candidatesOf(identity: Identity, routes: readonly Route[]): readonly Route[];
  /** What an attempt has shown of its credential: it was accepted, or refused for the reason that the provider gave. */
  note(route: Route, refusal: string | null): void;
  /** A text of the provider without the secret that the route was called with. */
  mask(route: Route, text: string): string;
}
