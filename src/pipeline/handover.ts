/** What the stages hand to one another, and the ports that the composition gives them. */
import type { AccountDirectory } from '../accounts/directory.js';
import type { SpendHold, Spending } from '../accounts/spending/spend-holds.js';
import type { Latin1Text } from '../base/latin1.js';
import type { Logger } from '../base/logger.js';
import type { MaybePromise } from '../base/maybe-promise.js';
import type { PicoUsd } from '../base/money.js';
import type { Clock } from '../base/time.js';
import type { TokenCounter } from '../billing/count/counter.js';
import type { Route, Snapshot } from '../catalogue/route.js';
import type { Fleet } from '../cluster/fleet/fleet.js';
import type { Conversations } from '../cluster/ports.js';
import type { Timeouts } from '../config/config.js';
import type { Identity } from '../domain/account.js';
import type { AttemptRecord, Generation, SkippedRoute, StreamEnd } from '../domain/generation.js';
import type { Door } from '../doors/door.js';
import type { GatewayError } from '../errors/gateway-error.js';
import type { ModelStates } from '../health/model-states.js';
import type { QuotaHolds } from '../health/quota-holds.js';
import type { Permit, RouteHealth } from '../health/route-health.js';
import type { RouteHistory } from '../health/route-history.js';
import type { BodyMemory } from '../limits/body-memory.js';
import type { IpLimiter, KeyLimiter, Reservation } from '../limits/rate-limits.js';
import type { Meters } from '../observability/metrics/meters.js';
import type { Removal } from '../policy/apply-gates.js';
import type { RequestPreferences } from '../policy/request-preferences.js';
import type { ProjectPolicy, RoutingPolicy } from '../policy/routing-policy.js';
import type { AnswerHash } from '../proof/proof-facts.js';
import type { LogIdentity } from '../proof/receipt.js';
import type { FailureReader } from '../providers/classify/failure-reader.js';
import type { Credentials } from '../providers/credentials/credentials.js';
import type { KeyPool } from '../providers/credentials/key-pool.js';
import type { FrameConsumer } from '../providers/frame-consumer.js';
import type { AnswerReader, RequestWriter } from '../providers/translation.js';
import type { Deadlines } from '../providers/transport/deadlines.js';
import type { Transport } from '../providers/transport/transport.js';
import type { Territories } from '../territory/territories.js';
import type { ChatRequest } from '../wire/chat-request.js';
import type { CompletionParts } from '../wire/completion-parts.js';
import type { Cost } from '../wire/cost.js';
import type { TokenUsage, UsageOddity, UsageParts } from '../wire/usage.js';
import type { Caller, CallerGone } from './caller.js';
import type { Leg } from './legs.js';
import type { OwnCandidates } from './own-port.js';
import type { Stay } from './stay.js';
import type { SwitchPorts, Validator } from './validate.js';

export interface PipelinePorts extends SwitchPorts {
  clock: Clock;
  logger: Logger;
  territories: Pick<Territories, 'checkCaller' | 'checkBillingCountry' | 'modelExcluded'>;
  ipLimiter: Pick<IpLimiter, 'take' | 'requestsPerMinute'>;
  keyLimiter: KeyLimiter;
  directory: Pick<AccountDirectory, 'cached' | 'load' | 'charge' | 'noteUse'>;
  /** Erases the hash of an expired key that a request has shown. */
  expiry: { noteExpiredKey(): void };
  catalogue: { readonly current: Snapshot | null };
  modelStates: Pick<ModelStates, 'get'>;
  health: Pick<RouteHealth, 'begin' | 'isOpen' | 'observed' | 'revision' | 'recordThroughput'>;
  holds: Pick<QuotaHolds, 'isHeld' | 'hold' | 'used'>;
  spend: Pick<Spending, 'checkLimits' | 'take' | 'askOf' | 'takeAs'>;
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
  meters: Pick<Meters, 'openStreams' | 'countStay'>;
  own?: OwnCandidates;
  /** Counts attempts that a route did not answer, for its history. */
  routeHistory?: Pick<RouteHistory, 'countFailure'>;
  /** null = no receipts are logged. `identity` is null until the log has begun. */
  proof: { readonly hashBodies: boolean; identity(): LogIdentity | null } | null;
  /** null = requests do not stay with a route. */
  conversations: Conversations | null;
  /** null = this process is the only one. */
  fleet: Pick<Fleet, 'admission' | 'identities' | 'states' | 'nearZero'> | null;
}

/** One request from the moment its model id is known. What is not readonly is filled by the stage that finds it out. */
export interface Exchange {
  readonly door: Door;
  readonly caller: Caller;
  readonly requestId: string;
  readonly generationId: string;
  readonly trail: Trail;
  readonly identity: Identity;
  readonly request: ChatRequest;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly snapshot: Snapshot;
  /** What the requested model id stands for. */
  readonly plan: Plan;
  /** The fallback chain: the one that the request carries, else the saved one. */
  chain: readonly Plan[];
  /** The account's, which may change while the request waits: every stage, and the receipt, has the one that decided. */
  readonly policy: RoutingPolicy;
  /** The project's, in the same way; null where it has none. */
  readonly projectPolicy: ProjectPolicy | null;
  /** What the request asks for in `provider`; null where that is nothing. */
  readonly preferences: RequestPreferences | null;
  /** What is remembered of the conversation, for the requested id. */
  readonly stay: MaybePromise<Stay | null>;
  /** What gates leave of the requested id. */
  gated: GateOutcome;
  readonly promptEstimate: number;
  readonly costEstimatePico: PicoUsd;
  /** False where only own credentials may serve it. */
  holdsBalance: boolean;
  /** Why no route may serve it; null where one may. */
  readonly refusal: GatewayError | null;
  startedAtMs: number;
  /** Time that was spent waiting for the caller's body. */
  bodyMs: number;
  /** The hash of the body as it was sent, base64url; null where bodies are not hashed. */
  requestHash: string | null;
  /** Who the client says is asking; null where the account does not keep it. */
  endUser: string | null;
  /** Of the key's tokens a minute: the estimate, until the usage corrects it. */
  reservation: Reservation;
  /** Of the balance and the key's cap: the estimated cost, until the settlement has taken the cost off. */
  hold: SpendHold;
}

/** Stage 3 → 4: what a model id, through an alias, a name of the operator or neither, stands for. A pin has one route, `auto/` has candidates. */
export interface Plan {
  /** As the caller, or its chain, wrote it. */
  readonly id: string;
  readonly alias: string | null;
  readonly name: string | null;
  readonly kind: 'pin' | 'auto';
  readonly routes: readonly Route[];
  /** A route may come several times, with different credentials side by side in the order of their use. */
  readonly hasOwn?: true;
}

/** Stage 4 → 5: what gates and providers' terms leave of a plan's routes. */
export interface GateOutcome {
  readonly eligible: readonly Route[];
  readonly removed: readonly Removal[];
  /** Routes of providers whose terms exclude the caller's territory. */
  readonly excluded: readonly Route[];
  /** The answer when nothing may be tried; null otherwise. */
  readonly error: GatewayError | null;
}

/** What has happened to the request so far; the receipt, the metadata, the record and the metrics are made from it. */
export interface Trail {
  readonly attempts: AttemptRecord[];
  readonly providersAttempted: string[];
  readonly breakerSkipped: string[];
  /** Routes that were ruled out; null where none was. */
  skipped: SkippedRoute[] | null;
  /** The same attempts with their times, for metrics and traces. */
  readonly legs: Leg[];
  /** The plan that is being walked; null before the first walk. */
  plan: Plan | null;
  /** What gates removed of that plan's routes. */
  removed: readonly Removal[];
  /** The hash of the frames that were sent; null for a whole answer, and where bodies are not hashed. */
  answer: AnswerHash | null;
  /** What is remembered of the conversation, for that plan. */
  stay: Stay | null;
  /** The place of that plan in the chain; 0 is the requested id. */
  place: number;
  /** Time that was spent waiting for upstreams, in attempts that are over. */
  upstreamMs: number;
  /** When the attempt that is under way was dispatched; null before the first. */
  dispatchedAtMs: number | null;
  /** Room in the journal that is kept for the records of the request until it is over. */
  reservedBytes: number;
  /** What the settlement, or a provisional record, has taken off the balance in memory already. */
  chargedPico: PicoUsd;
  /** What the last provisional record says, until the final one is made; null where there is none to replace. */
  owed: Delivered | null;
  /** When the 200 began, monotonic milliseconds. */
  answeredAtMs: number | null;
  /** Time that was spent in Lodestone itself until then. */
  overheadMs: number;
}

/** The trail of a request before its first attempt. */
export function newTrail(): Trail {
  return {
    attempts: [],
    providersAttempted: [],
    breakerSkipped: [],
    skipped: null,
    legs: [],
    plan: null,
    removed: [],
    answer: null,
    stay: null,
    place: 0,
    upstreamMs: 0,
    dispatchedAtMs: null,
    reservedBytes: 0,
    chargedPico: 0n,
    owed: null,
    answeredAtMs: null,
    overheadMs: 0,
  };
}

/** What an attempt brought that can be delivered. */
export type Served =
  | { readonly kind: 'answer'; readonly parts: CompletionParts }
  /** The stream was committed; `end` says how the upstream's part of it ended. */
  | {
      readonly kind: 'stream';
      readonly end: 'complete' | 'stalled' | 'cut' | 'pricing_fault';
      readonly reason: string;
      /** It was cut at a frame that is larger than is read, and the request may have asked for it. */
      readonly oversized?: true;
    };

export type WalkOutcome =
  | { readonly kind: 'served'; readonly route: Route; readonly outcome: Served }
  | { readonly kind: 'failed'; readonly error: GatewayError }
  /** The caller left; `route` is the one that was serving. */
  | { readonly kind: 'gone'; readonly route: Route };

export interface Billed {
  usage: TokenUsage & Partial<Pick<UsageParts, 'cacheWriteTokens' | 'toolCalls' | 'unpricedTier'>>;
  /** The provider, an exact count, or a lower bound where nothing could be counted. */
  source: 'provider' | 'counted' | 'estimated';
  cost: Cost;
  /** What was odd about the provider's usage; absent where nothing was read of it. */
  oddities?: readonly UsageOddity[];
}

/** Stage 7 → 8: what was delivered, and what it costs. */
export interface Delivered {
  readonly status: number;
  /** The route that served; null where nothing was delivered. */
  readonly route: Route | null;
  /** The route that was asked for a caller that left before the first content: the provider may charge for it, and nobody pays. */
  readonly leftRoute: Route | null;
  /** null = nothing is billed. */
  readonly billed: Billed | null;
  readonly finishReason: string | null;
  readonly streamEnd: StreamEnd | null;
  readonly fallbackOccurred: boolean;
  /** The code that the record keeps of a failure. */
  readonly errorCode: string | null;
  /** What the request fails with once it is settled; null where it was served. */
  readonly error: GatewayError | CallerGone | null;
  /** The hash of the body that the caller gets, base64url; null where it gets none, and where bodies are not hashed. */
  readonly answerHash: string | null;
  /** Sends the end of the answer. The settlement calls it when the record is in the journal. null where nothing is left to send. */
  readonly send: (() => void) | null;
}

/** What is known of a request when it is over, for metrics, traces and the log. */
export class ChatNotes {
  bodyBytes = 0;
  /** null until the request has been admitted, validated and resolved. */
  exchange: Exchange | null = null;
  readonly trail: Trail = newTrail();
  delivered: Delivered | null = null;
}

/** What stopped a stream inside its frames. */
export type RelayFault =
  | { kind: 'error_frame'; error: unknown }
  | { kind: 'malformed' }
  | { kind: 'pricing'; reason: string };

/** What the walk needs of the stage that writes a stream to the caller. */
export interface Relay extends FrameConsumer {
  /** The 200 has been sent: nothing switches route any more. */
  readonly committed: boolean;
  readonly fault: RelayFault | null;
  readonly finishReason: string | null;
  readonly sawDone: boolean;
  /** Starts a new attempt. The relay reports the first content that it sends to the permit. */
  begin(route: Route, permit: Pick<Permit, 'reportContent'>): void;
  /** An event of a native pass, before the chunks that were read from it. */
  onEvent(data: Latin1Text, event: string): void;
  /** The caller has left: what it was sent is written down before anything else happens. */
  callerLeft(): void;
}
