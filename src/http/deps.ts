/** Everything that the HTTP layer needs from the other parts. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuditLog } from '../accounts/audit.js';
import type { AccountDirectory } from '../accounts/directory.js';
import type { BroughtTokens } from '../accounts/keys/brought-tokens.js';
import type { NameBook } from '../accounts/names/name-book.js';
import type { Invitations } from '../accounts/people/invitations.js';
import type { Members } from '../accounts/people/members.js';
import type { Session } from '../accounts/sign-in/session.js';
import type { Spending } from '../accounts/spending/spend-holds.js';
import type { TokenExchange } from '../accounts/workloads/token-exchange.js';
import type { Logger } from '../base/logger.js';
import type { KeyView } from '../base/provider-key.js';
import type { Clock } from '../base/time.js';
import type { CatalogueCounts } from '../catalogue/counts.js';
import type { UpdateChange } from '../catalogue/effects.js';
import type { Provider, Route, Snapshot } from '../catalogue/route.js';
import type { Account, Identity } from '../domain/account.js';
import type { OwnCredential } from '../domain/credential.js';
import type { Generation } from '../domain/generation.js';
import type { Door } from '../doors/door.js';
import type { ModelStates } from '../health/model-states.js';
import type { QuotaHolds } from '../health/quota-holds.js';
import type { RouteDays } from '../health/route-days.js';
import type { RouteHealth } from '../health/route-health.js';
import type { RouteStatus } from '../health/route-status.js';
import type { JournalFigures } from '../journal/journal.js';
import type { AdminLimiter } from '../limits/admin-limiter.js';
import type { BodyHold, BodyMemory } from '../limits/body-memory.js';
import type { IpLimiter, KeyLimiter } from '../limits/rate-limits.js';
import type { Figures } from '../observability/metrics/figures.js';
import type { Meters } from '../observability/metrics/meters.js';
import type { ProcessMeters } from '../observability/metrics/process-meters.js';
import type { NoticeTests } from '../payments/notice-test.js';
import type { StripePayments } from '../payments/stripe-payments.js';
import type { RotatedKey } from '../sealing/rotate-key.js';
import type { Sealer } from '../sealing/sealer.js';
import type { LogState } from '../storage/log-types.js';
import type { CatalogueLook, KeptUpdate, Store, UpdatePart } from '../storage/store.js';
import type { Origin, Territories } from '../territory/territories.js';
import type { Territory } from '../territory/territory.js';
import type { DashboardDeps } from './dashboard/dashboard-deps.js';
import type { KnownPaths } from './known-paths.js';
import type { ChatCaller, RequestSource } from './server/chat-caller.js';
import type { SocketCaller } from './server/socket-caller.js';

declare module 'fastify' {
  interface FastifyInstance {
    knownPaths: KnownPaths;
  }
  interface FastifyRequest {
    /** Set by the key check on `/v1/*` and by the session check of the dashboard. */
    identity: Identity | null;
    /** Set by the session check of the dashboard. */
    session: Session | null;
    /** The address and territory of the client, set by the guard of every path. */
    origin: Origin;
    /** The memory that the body occupies, once it has been read. */
    bodyHold: BodyHold | null;
  }
  interface FastifyContextConfig {
    /** No guard applies: `/healthz`, `/readyz`, `/metrics`. */
    unguarded?: true;
    /** A catch-all route, which is not listed in `KnownPaths`. */
    anyPath?: true;
    /** A catch-all route that answers a fixed list of paths, which are counted one by one. */
    countsByPath?: true;
  }
}

/**
 * Handles `POST /v1/chat/completions` without Fastify. With `awaitsContinue` the client holds its body back until
 * `res.writeContinue()`; the connection is closed after such a request.
 */
export type ChatHandler = (req: IncomingMessage, res: ServerResponse, awaitsContinue: boolean, door: Door) => void;

/** The same for a request that was read without node:http. */
export type SocketChatHandler = (caller: SocketCaller, door: Door) => void;

/** The same for a message of a WebSocket. */
export type MessageChatHandler = (caller: ChatCaller, door: Door) => void;

type ReloadOutcome = ({ ok: true } & CatalogueCounts) | { ok: false; faults: string[] };

interface DeploymentPort {
  /** Brings the model states, quota holds and the catalogue up to the changes of other processes; undefined = nothing to wait for. */
  refreshStates(): Promise<void> | undefined;
  /** Looks again for a record that another process may be about to settle; null where it does not appear. */
  findSettledElsewhere<T>(find: () => Promise<T | null>): Promise<T | null>;
  /** Parts that this process serves without. `/readyz` lists them; they are no reason to send traffic elsewhere. */
  degraded(): string[];
  /** The metrics of what the processes share. */
  figures(): Figures;
}

export interface ApplyOptions {
  /** All of it by default. */
  readonly part?: UpdatePart;
  /** The operator agrees to what the update changes. */
  readonly confirm?: boolean;
  /** Only says what would change. */
  readonly dryRun?: boolean;
}

export interface AppliedUpdate {
  readonly version: string;
  /** The version in use before. */
  readonly from: string;
  /** null for the built-in catalogue. */
  readonly part: UpdatePart | null;
  readonly digest: string;
  readonly changes: readonly UpdateChange[];
  readonly applied: boolean;
  /** Something costs more, goes, or makes gates decide otherwise, so the operator has to agree. */
  readonly needsConfirmation: boolean;
}

export interface ListedUpdates {
  readonly inUse: string;
  readonly builtin: string;
  readonly kept: readonly KeptUpdate[];
  readonly lastLook: CatalogueLook | null;
}

/** Updates of the catalogue. Each throws UpdateRefused or CatalogueFault where the running catalogue stays. */
export interface CatalogueUpdatesPort {
  list(): Promise<ListedUpdates>;
  apply(file: Buffer, options: ApplyOptions): Promise<AppliedUpdate>;
  rollback(version: string | null, options: ApplyOptions): Promise<AppliedUpdate>;
}

interface RotatedSecretsJson {
  readonly object: 'secrets_rotation';
  /** The id of the key that is in use from now on. */
  readonly key: string;
  readonly wrapped: number;
  /** Credentials that no key opens. Old keys are kept while there are any. */
  readonly failed: readonly string[];
}

export interface CredentialsPort {
  /** The routes with the credentials of the identity; the same list where it has none for them. */
  candidatesOf(identity: Identity, routes: readonly Route[]): readonly Route[];
  /** Makes one cheap call with the credential, and notes what it shows. */
  check(credential: OwnCredential): Promise<object>;
  /** Resolves when what traffic has shown of credentials is in the store, as far as it can be reached. */
  written(): Promise<void>;
  /** Replaces the key that they are sealed with. Throws secrets_key_missing. */
  rotate(): Promise<RotatedSecretsJson>;
  /** Whether credentials cannot be opened with the keys that are there. */
  readonly hasKeyFault: boolean;
}

export interface HttpDeps {
  clock: Clock;
  logger: Logger;
  store: Store;
  directory: AccountDirectory;
  audit: AuditLog;
  members: Members;
  invitations: Invitations;
  /** Keys of projects for the tokens of workloads. */
  exchange: Pick<TokenExchange, 'exchange' | 'allows'>;
  modelStates: ModelStates;
  health: Pick<RouteHealth, 'view'>;
  holds: Pick<QuotaHolds, 'isHeld' | 'view' | 'lift'>;
  /** Several keys of the operator at one provider; absent where no request path is there. */
  providerKeys?: { viewsOf(provider: Provider): readonly KeyView[]; views(): readonly KeyView[] };
  /** What routes did over the last days. */
  routeStatus: Pick<RouteStatus, 'reports' | 'operatorReports'>;
  routeDays: Pick<RouteDays, 'byRoute'>;
  noticeTests: Pick<NoticeTests, 'webhookHost' | 'sendsMail' | 'mail' | 'callWebhook'>;
  /** Whether everybody may see it. */
  statusIsPublic: boolean;
  /** What requests in flight hold of balances; absent where no request path is there. */
  spend?: Pick<Spending, 'inFlight' | 'heldOf' | 'exceeded' | 'isElsewhere'>;
  catalogue: { readonly current: Snapshot | null; reload(): Promise<ReloadOutcome> };
  catalogueUpdates: CatalogueUpdatesPort;
  /** The names that the operator gives to models. */
  names: NameBook;
  /** Whether `/api/v1` answers in OpenRouter's shapes; absent = no. */
  isOpenRouter?: boolean;
  /** Tokens of other systems. */
  brought: BroughtTokens;
  /** The other processes that serve the same accounts, where there are any. */
  deployment: DeploymentPort;
  journal: {
    settled(timeoutMs: number): Promise<boolean>;
    /** A generation that this process has answered and that is not in the store yet. */
    unsettled?(id: string): Generation | null;
    figures?(): JournalFigures;
    /** Why requests that cost money are refused; null or absent while they are served. */
    readonly fault?: string | null;
    /** Whether no settler is reached, so that records only wait. */
    readonly settlerAway?: boolean;
  };
  /** Told of expired keys that a request shows, and of new keys. */
  expiry: { noteExpiredKey(): void; noteNewKey(expiresAt: number | null): void };
  /** How long generations are kept; null where they all are. */
  retention: { readonly text: string; cutOff(nowMs: number): number } | null;
  /** The log of receipts. Its sealer and the change of its key are null where no receipts are logged. */
  proof: {
    readonly sealer: Pick<Sealer, 'figures'> | null;
    /** What everybody may ask for, so it may be half a second old. */
    state(): Promise<LogState>;
    readonly rotate: (() => Promise<RotatedKey>) | null;
    /** The address at which clients reach the gateway. */
    baseUrl(): string;
  };
  /** Those in use: a reload replaces them. `metrics` opens `/metrics` and nothing else; null where only the admin token does. */
  tokens: { readonly admin: string; readonly metrics: string | null };
  /** What credentials of customers need beside the directory. */
  credentials: CredentialsPort;
  adminLimiter: AdminLimiter;
  /** True once the start is complete and its output is printed. */
  isStarted: () => boolean;
  /** `base_url` is https, so every answer carries `strict-transport-security`. */
  https: boolean;
  /** The limits of keys whose account has no limits of its own. */
  limits: { keyRequestsPerMinute: number; keyTokensPerMinute: number };
  chat: ChatHandler;
  /** Absent: every request goes through node:http. */
  socketChat?: SocketChatHandler;
  /** Absent: no WebSockets are accepted. */
  messageChat?: MessageChatHandler;
  /** The dry run of a chat request. */
  /** `header` reads a header of the request. */
  explain: (
    identity: Identity,
    territory: Territory,
    body: Buffer,
    header?: (name: string) => string | undefined,
  ) => Promise<object>;
  /** The address and territory of the client, from the connection and the trusted proxies. */
  originOf: (request: RequestSource) => Origin;
  territories: Pick<Territories, 'originOf' | 'checkCaller' | 'checkBillingCountry' | 'countryDataBuiltMs'>;
  ipLimiter: Pick<IpLimiter, 'take'>;
  keyLimiter: Pick<KeyLimiter, 'countRequest' | 'headersOf' | 'limitsOf'>;
  bodyMemory: BodyMemory;
  /** Sets the password with which an account signs in at the dashboard. */
  createSignIn?: (account: Account, password: string) => Promise<void>;
  /** The counters of the request path. */
  meters: Meters;
  processMeters?: Pick<ProcessMeters, 'figures'>;
  upstreamConnections?: () => { readonly open: number; readonly idle: number };
  /** The figures of the other workers of this machine, for a scrape that one worker answers for all. */
  siblings?: (own: Figures) => Promise<Figures[]>;
  /** Absent where only the operator adds credit. */
  payments?: Pick<StripePayments, 'open' | 'receive'> | undefined;
  /** Absent where there is no dashboard. */
  dashboard?: DashboardDeps;
}
