/** What the stages of a request hand to one another. */
import type { SpendHold } from '../accounts/spending/spend-holds.js';
import type { Latin1Text } from '../base/latin1.js';
import type { PicoUsd } from '../base/money.js';
import type { MaybePromise } from '../base/turn.js';
import type { Billed } from '../billing/bill.js';
import type { Route, Snapshot } from '../catalogue/route.js';
import type { Identity } from '../domain/account.js';
import type { AttemptRecord, SkippedRoute, StreamEnd } from '../domain/generation.js';
import type { Door } from '../doors/door.js';
import type { GatewayError } from '../errors/gateway-error.js';
import type { Permit } from '../health/route-health.js';
import type { Reservation } from '../limits/rate-limits.js';
import type { Removal } from '../policy/apply-gates.js';
import type { RequestPreferences } from '../policy/request-preferences.js';
import type { ProjectPolicy, RoutingPolicy } from '../policy/routing-policy.js';
import type { AnswerHash } from '../proof/proof-facts.js';
import type { FrameConsumer } from '../providers/frame-consumer.js';
import type { ChatRequest } from '../wire/chat-request.js';
import type { CompletionParts } from '../wire/completion-parts.js';
import type { Caller, CallerGone } from './caller.js';

/** A request that has just come. */
export interface Arrival {
  readonly door: Door;
  readonly caller: Caller;
  readonly requestId: string;
  /** Monotonic milliseconds. */
  readonly startedAtMs: number;
  /** Filled as the request proceeds, for metrics, traces and the log. */
  readonly notes: ChatNotes;
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
  readonly chain: readonly Plan[];
  /** The account's, which may change while the request waits: every stage, and the receipt, has the one that decided. */
  readonly policy: RoutingPolicy;
  /** The project's, in the same way; null where it has none. */
  readonly projectPolicy: ProjectPolicy | null;
  /** What the request asks for in `provider`; null where that is nothing. */
  readonly preferences: RequestPreferences | null;
  /** What is remembered of the conversation, for the requested id. */
  readonly remembered: MaybePromise<RememberedRoute | null>;
  /** What gates leave of the requested id. */
  gated: GateOutcome;
  readonly promptEstimate: number;
  readonly costEstimatePico: PicoUsd;
  /** False where only own credentials may serve it. */
  holdsBalance: boolean;
  /** What the balance rules out of the requested id and its chain; null where that is nothing. */
  unpaid: Unpaid | null;
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
  readonly hasOwn: boolean;
}

/** A balance for which the operator's credentials are not used. */
export interface Unpaid {
  readonly refusal: GatewayError;
  /** A customer's own credentials are not used without a balance either, because their use costs a fee. */
  readonly hasFee: boolean;
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
  /** These lists are replaced by longer ones: one that is added to would begin with room for seventeen. */
  attempts: AttemptRecord[];
  providersAttempted: string[];
  breakerSkipped: string[];
  /** Routes that were ruled out; null where none was. */
  skipped: SkippedRoute[] | null;
  /** The same attempts with their times, for metrics and traces. */
  timedAttempts: TimedAttempt[];
  /** The plan that is being walked; null before the first walk. */
  plan: Plan | null;
  /** What gates removed of that plan's routes. */
  removed: readonly Removal[];
  /** The hash of the frames that were sent; null for a whole answer, and where bodies are not hashed. */
  answer: AnswerHash | null;
  /** What is remembered of the conversation, for that plan. */
  remembered: RememberedRoute | null;
  /** Which plan of the chain that is; 0 is the requested id. */
  chainIndex: number;
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
export interface ChatNotes {
  bodyBytes: number;
  /** null until the request has been admitted, validated and resolved. */
  exchange: Exchange | null;
  readonly trail: Trail;
  delivered: Delivered | null;
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
  readonly sawDone: boolean;
  /** Whether the answer is whole by its finish reasons. `closed`: the upstream has ended it, maybe with fewer choices than asked for. */
  hasFinished(closed: boolean): boolean;
  /** Starts a new attempt. The relay reports the first content that it sends to the permit. */
  begin(route: Route, permit: Pick<Permit, 'reportContent'>): void;
  /** An event of a native pass, before the chunks that were read from it. */
  onEvent(data: Latin1Text, event: string): void;
  /** The caller has left: what it was sent is written down before anything else happens. */
  callerLeft(): void;
}

/** What is remembered of the conversation that a request belongs to. */
export interface RememberedRoute {
  /** The hash that it is remembered under; null where it was not needed yet. */
  readonly name: string | null;
  /** False where it is known by its first messages only. */
  readonly isNamed: boolean;
  /** The route that served last; null = none is remembered. */
  readonly routeId: string | null;
  /** The remembered route where it is tried first. */
  first: Route | null;
}

/** One attempt of a walk; monotonic milliseconds. */
interface TimedAttempt {
  readonly route: Route;
  readonly record: AttemptRecord;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}
