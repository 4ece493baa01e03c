/** What the HTTP layer is given. Every seam that a later part fills is a list or an optional function with a plain meaning. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuditLog } from '../accounts/audit.js';
import type { AccountDirectory } from '../accounts/directory.js';
import type { Session } from '../accounts/sign-in/sign-ins.js';
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import type { Snapshot } from '../catalogue/route.js';
import type { Account, Identity } from '../domain/account.js';
import type { ModelStates } from '../health/model-states.js';
import type { QuotaHolds } from '../health/quota-holds.js';
import type { RouteHealth } from '../health/route-health.js';
import type { JournalFigures } from '../journal/journal.js';
import type { AdminLimiter } from '../limits/admin-limiter.js';
import type { BodyHold, BodyMemory } from '../limits/body-memory.js';
import type { IpLimiter } from '../limits/ip-limiter.js';
import type { KeyLimiter } from '../limits/key-limiter.js';
import type { Figures } from '../observability/metrics/figures.js';
import type { Meters } from '../observability/metrics/meters.js';
import type { ProcessMeters } from '../observability/metrics/process-meters.js';
import type { StripePayments } from '../payments/stripe-payments.js';
import type { Store } from '../storage/store.js';
import type { Origin, Territories } from '../territory/territories.js';
import type { Territory } from '../territory/territory.js';
import type { DashboardDeps } from './dashboard/dashboard-deps.js';
import type { KnownPaths } from './known-paths.js';

declare module 'fastify' {
  interface FastifyInstance {
    knownPaths: KnownPaths;
  }
  interface FastifyRequest {
    /** Set by the key check on `/v1/*`, and for the dashboard by its session. */
    identity: Identity | null;
    /** Set on the dashboard's API, behind its sign-in. */
    session: Session | null;
    /** Set by the guard of checks 1 and 2; where the request comes from. */
    origin: Origin;
    /** What the body of the request holds, once it has been read. */
    bodyHold: BodyHold | null;
  }
  interface FastifyContextConfig {
    /** `/healthz`, `/readyz`, `/metrics`: no guard applies. */
    unguarded?: true;
    /** Answers whatever nothing else does under its prefix, so its paths are not listed as known. */
    anyPath?: true;
  }
}

/**
 * Takes `POST /v1/chat/completions` before the framework. With `awaitsContinue` the client holds its body back until
 * `res.writeContinue()`; the connection is closed after such a request.
 */
export type ChatHandler = (req: IncomingMessage, res: ServerResponse, awaitsContinue: boolean) => void;

export type ReloadOutcome =
  | { ok: true; models: number; routes: number; providers: number }
  | { ok: false; faults: string[] };

export interface DeploymentPort {
  /** Brings the model states, quota holds and the catalogue up to the changes of other processes; undefined = nothing to wait for. */
  refreshStates(): Promise<void> | undefined;
  /** Looks again for a record that another process may be about to settle; null where it does not appear. */
  findSettledElsewhere<T>(find: () => Promise<T | null>): Promise<T | null>;
  /** Parts that this process serves without. `/readyz` lists them; they are no reason to send traffic elsewhere. */
  degraded(): string[];
  /** The metrics of what the processes share. */
  figures(): Figures;
}

export interface HttpDeps {
  clock: Clock;
  logger: Logger;
  store: Store;
  directory: AccountDirectory;
  audit: AuditLog;
  modelStates: ModelStates;
  health: Pick<RouteHealth, 'view'>;
  holds: Pick<QuotaHolds, 'isHeld' | 'view' | 'lift'>;
  catalogue: { readonly current: Snapshot | null; reload(): Promise<ReloadOutcome> };
  /** The other processes that serve the same accounts, where there are any. */
  deployment: DeploymentPort;
  journal: {
    settled(timeoutMs: number): Promise<boolean>;
    figures?(): JournalFigures;
    /** Why no request that costs money is forwarded; null or absent where they are. */
    readonly fault?: string | null;
  };
  /** Told of expired keys that a request shows, and of new keys. */
  expiry: { noteExpiredKey(): void; noteNewKey(expiresAt: number | null): void };
  adminToken: string;
  adminLimiter: AdminLimiter;
  /** Everything that a start makes is there and printed. */
  isStarted: () => boolean;
  /** `base_url` is https, so every answer tells browsers to come back over https only. */
  https: boolean;
  /** The limits of a key whose account has none of its own. */
  limits: { keyRequestsPerMinute: number; keyTokensPerMinute: number };
  chat: ChatHandler;
  /** The dry run of a chat request. */
  explain: (identity: Identity, territory: Territory, body: Buffer) => Promise<object>;
  /** Where a request comes from, by its connection and the proxies that are trusted. */
  originOf: (req: IncomingMessage) => Origin;
  territories: Pick<Territories, 'checkCaller' | 'checkBillingCountry'>;
  ipLimiter: Pick<IpLimiter, 'take'>;
  keyLimiter: Pick<KeyLimiter, 'countRequest' | 'headersOf'>;
  bodyMemory: BodyMemory;
  /** Makes an account able to sign in at the dashboard. */
  createSignIn?: (account: Account, password: string) => Promise<void>;
  /** What the request path counts. */
  meters: Meters;
  processMeters?: Pick<ProcessMeters, 'figures'>;
  upstreamConnections?: () => { readonly open: number; readonly idle: number };
  /** The figures of the other processes of this machine, for a scrape that one of them answers for all. */
  siblings?: (own: Figures) => Promise<Figures[]>;
  /** Absent: credit is added by the operator alone. */
  payments?: Pick<StripePayments, 'open' | 'receive'> | undefined;
  /** Absent: there is no dashboard. */
  dashboard?: DashboardDeps;
}
