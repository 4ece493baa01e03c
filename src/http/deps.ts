/** What the HTTP layer is given. Every seam that a later part fills is a list or an optional function with a plain meaning. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditLog } from '../accounts/audit.js';
import type { AccountDirectory } from '../accounts/directory.js';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Route, Snapshot } from '../catalogue/route.js';
import type { ModelStates } from '../health/model-states.js';
import type { Account, Identity } from '../storage/records.js';
import type { Store } from '../storage/store.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the key check on `/v1/*`. */
    identity: Identity | null;
  }
  interface FastifyContextConfig {
    /** `/healthz`, `/readyz`, `/metrics`: no guard applies (ruling 15). */
    unguarded?: true;
  }
}

/**
 * Takes `POST /v1/chat/completions` before the framework. With `awaitsContinue` the client holds its body back until
 * `res.writeContinue()`; the connection is closed after such a request.
 */
export type ChatHandler = (req: IncomingMessage, res: ServerResponse, awaitsContinue: boolean) => void;

/** Throws a row of the error table, or lets the request pass. May set headers on the reply. */
export type Guard = (request: FastifyRequest, reply: FastifyReply) => void | Promise<void>;

/** False where a route may not be listed for this request (a hold, the caller's territory). */
export type RouteFilter = (route: Route, request: FastifyRequest) => boolean;

export type ReloadOutcome =
  | { ok: true; models: number; routes: number; providers: number }
  | { ok: false; faults: string[] };

export interface RouteHealth {
  breaker: string;
  hold: { until: string } | null;
  latency_ms: number | null;
  error_rate: number | null;
}

export interface HttpDeps {
  clock: Clock;
  logger: Logger;
  store: Store;
  directory: AccountDirectory;
  audit: AuditLog;
  modelStates: ModelStates;
  catalogue: { readonly current: Snapshot | null; reload(): Promise<ReloadOutcome> };
  journal: { settled(timeoutMs: number): Promise<boolean> };
  /** Told of expired keys that a request shows, and of new keys. */
  expiry: { seen(): void; keyCreated(expiresAt: number | null): void };
  adminToken: string;
  /** The limits of a key whose account has none of its own. */
  limits: { keyRequestsPerMinute: number; keyTokensPerMinute: number };
  chat: ChatHandler;
  /** Checks 1 and 2: on every path but the operations', unknown ones too. */
  guards?: readonly Guard[];
  /** Check 5, first half: after the key, before the suspension. */
  accountGuards?: readonly Guard[];
  /** Check 7: after the content length. */
  keyGuards?: readonly Guard[];
  routeFilters?: readonly RouteFilter[];
  routeHealth?: (route: Route) => RouteHealth;
  /** Lifts a quota hold; false where the route has none. */
  liftHold?: (routeId: string) => Promise<boolean>;
  /** Makes an account able to sign in at the dashboard. */
  createSignIn?: (account: Account, password: string) => Promise<void>;
}
