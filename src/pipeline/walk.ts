/**
 * Stage 6: tries the candidates in order, one attempt each, until one serves. A pin is a walk of one. It stops at a rejection of the
 * request, at an answer that is too large because of what was asked for, when its overall budget is spent, and at once when the caller leaves.
 */

import { durationText, secondsToMidnightUtc } from '../base/time.js';
import type { MaybePromise } from '../base/turn.js';
import type { Route } from '../catalogue/route.js';
import type { Timeouts } from '../config/config.js';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';
import { healthKeyOf, healthOf, type Permit } from '../health/route-health.js';
import type { Budgets } from '../providers/call.js';
import { effectOf, type Failure } from '../providers/classify/failure.js';
import { usesKeys } from '../providers/credentials/key-pool.js';
import { takesErrorDetails } from '../providers/native-pass.js';
import type { Exchange, Plan, Relay, Trail, WalkOutcome } from './handover.js';
import { afterFailure, afterObstacle, learnOfCredential, pauseOf } from './own-credentials.js';
import type { PipelinePorts } from './ports.js';
import { type AttemptPorts, attempt } from './walk/attempt.js';
import { attemptWithKeys, type KeyedAttempt, type RouteOutcome } from './walk/attempt-keys.js';
import { addTimedAttempt, reserveRecords } from './walk/attempt-record.js';
import { attemptTask } from './walk/attempt-task.js';
import { addSkipped, nothingTried, obstacleOf, type RuledOut, receiptOf } from './walk/obstacles.js';

export type WalkPorts = AttemptPorts &
  Pick<PipelinePorts, 'timeouts' | 'health' | 'own' | 'holds' | 'providerKeys' | 'journal' | 'routeHistory'>;

export interface Walk {
  readonly exchange: Exchange;
  readonly plan: Plan;
  /** In the order in which they are tried, each route once. */
  readonly candidates: readonly Route[];
  /** With all credentials of each route, in the order of their use; absent where each has one. */
  readonly group?: readonly Route[];
  /** null where the request asked for a whole answer. */
  readonly relay: Relay | null;
}

export async function walk(ports: WalkPorts, toWalk: Walk): Promise<WalkOutcome> {
  const { exchange, plan, candidates, relay } = toWalk;
  const { request, caller, trail } = exchange;
  const startedAtMs = ports.clock.monotonicMs();
  const ruledOut: RuledOut[] = [];
  let failed: { route: Route; failure: Failure } | null = null;
  let timedOut = false;
  let isDurable = true;
  let next = 0;
  // The route that was tried last, with its next credential.
  let again: Route | null = null;
  while (again !== null || next < candidates.length) {
    const attemptedAtMs = next === 0 ? startedAtMs : ports.clock.monotonicMs();
    const leftMs = ports.timeouts.overallMs - (attemptedAtMs - startedAtMs);
    if (leftMs <= 0) break;
    const route: Route = again ?? candidates[next++]!;
    again = null;
    // The caller may have left while its body was read, or during an earlier attempt: no upstream is called for it any more.
    if (caller.gone) return { kind: 'gone', route };
    const permit = permitFor(ports, toWalk, route, ruledOut);
    if (permit === 'not_durable') isDurable = false;
    else if (permit === null) again = afterObstacle(toWalk, route, ruledOut.at(-1)!.verdict);
    if (permit === null || permit === 'not_durable') continue;
    const budgets = budgetsFor(ports.timeouts, request.stream, timedOut, leftMs);
    const permitted = { exchange, route, key: null, budgets, relay, permit, startedAtMs: attemptedAtMs };
    let outcome: RouteOutcome;
    try {
      outcome = await attemptRoute(ports, permitted);
      const written = learn(ports, permitted, outcome);
      if (written) await written;
    } finally {
      endAttempt(ports, permitted);
    }
    if (outcome.kind === 'gone') return { kind: 'gone', route };
    if (outcome.kind !== 'failure') return { kind: 'served', route, outcome };
    failed = { route, failure: outcome.failure };
    if (outcome.failure.meaning === 'rejected' || outcome.failure.oversized) break;
    timedOut ||= outcome.failure.meaning === 'timeout';
    again = afterFailure(toWalk, route, outcome.failure);
    if (again === null && isSingle(toWalk)) break;
  }
  if (!failed && !isDurable) return { kind: 'failed', error: gatewayError('billing_not_durable') };
  if (!failed) return { kind: 'failed', error: nothingTried(ports, plan, ruledOut, trail) };
  const remaining =
    plan.kind === 'auto' && !isSingle(toWalk)
      ? candidates.slice(next).filter((route) => canBeTried(ports, toWalk, route)).length
      : 0;
  return { kind: 'failed', error: failureError(toWalk, failed, remaining, ports.clock.now()) };
}

/** The request forbids fallbacks: once one candidate was tried, no other is. */
function isSingle({ plan, exchange: { preferences } }: Walk): boolean {
  return plan.kind === 'auto' && preferences?.single === true;
}

/** Permission to try a route; null where it is ruled out, and noted as such; `not_durable` where its bill could be lost. */
function permitFor(
  ports: Pick<WalkPorts, 'health' | 'own' | 'holds' | 'providerKeys' | 'journal'>,
  { exchange: { request, trail, createdAt }, plan }: Walk,
  route: Route,
  ruledOut: RuledOut[],
): Permit | 'not_durable' | null {
  const { holds, providerKeys, journal } = ports;
  const obstacle = obstacleOf({ holds, providerKeys }, route, request, createdAt) ?? pauseOf(ports, plan, route);
  if (obstacle) {
    ruleOut(trail, ruledOut, { route, ...obstacle });
    return null;
  }
  if (!reserveRecords(journal, trail, route, request.stream)) return 'not_durable';
  // A breaker never overrides an explicit id; the outcome still feeds it.
  const permit = healthOf(ports, route).begin(healthKeyOf(route), request.stream, plan.kind === 'pin');
  if (!permit) {
    ruleOut(trail, ruledOut, { route, verdict: 'breaker_open', param: null });
  }
  // An explicit id is no such try: pins that fail for another reason would keep `auto/` from the credential for ever.
  if (permit && route.credential !== undefined && plan.kind !== 'pin') ports.own!.health.tried(route.credential);
  return permit;
}

type PermittedAttempt = KeyedAttempt & { readonly permit: Permit };

/** One attempt, or one with each key of the operator. A request that is no chat may make several calls. */
function attemptRoute(ports: WalkPorts, permitted: PermittedAttempt): MaybePromise<RouteOutcome> {
  const attemptOnce = permitted.exchange.request.task === undefined ? attempt : attemptTask;
  if (!usesKeys(permitted.route)) return attemptOnce(ports, permitted);
  return attemptWithKeys(ports, permitted, (withKey) => attemptOnce(ports, withKey));
}

/** Also where the attempt has thrown. */
function endAttempt({ clock }: WalkPorts, { route, permit, exchange, startedAtMs }: PermittedAttempt): void {
  permit.release();
  addTimedAttempt(exchange, route, startedAtMs, clock);
}

/**
 * Tells the route's health how an attempt ended. A stream that broke after its start counts too, though nothing can be retracted.
 * The promise is a hold that is being written.
 */
function learn(ports: WalkPorts, attempted: PermittedAttempt, outcome: RouteOutcome): Promise<unknown> | undefined {
  const { holds, routeHistory } = ports;
  const { route, permit, exchange } = attempted;
  const { trail, identity } = exchange;
  if (route.credential !== undefined && learnOfCredential(ports, attempted, outcome)) return undefined;
  if (outcome.kind === 'failure') {
    if (outcome.isKeyLeft) return undefined;
    const { meaning, disputed = false, oversized = false, retryAfterMs = null } = outcome.failure;
    if (disputed || oversized) return undefined;
    const effect = effectOf(meaning);
    if (effect !== 'none' && route.credential === undefined) routeHistory?.countFailure(route.id, identity.account.id);
    if (effect === 'counted') permit.fail(retryAfterMs);
    // A quota is a key's, so where there are several the pool holds each of them.
    return effect === 'held' && !usesKeys(route) ? holds.hold(route.id, 'upstream') : undefined;
  }
  if (outcome.kind === 'stream' && outcome.end !== 'complete') {
    if (!outcome.oversized) permit.fail(null);
  } else if (outcome.kind !== 'gone') {
    permit.succeed(trail.attempts.at(-1)?.first_byte_ms ?? null);
  }
  return undefined;
}

function ruleOut(trail: Trail, ruledOut: RuledOut[], skipped: RuledOut): void {
  ruledOut.push(skipped);
  addSkipped(trail, skipped);
}

/** Whether a walk with more time would try a route, with any of its credentials; what it would pass over is noted. */
function canBeTried(ports: WalkPorts, toWalk: Walk, route: Route): boolean {
  const skipped = skippedFor(ports, toWalk, route);
  if (skipped === null) return true;
  addSkipped(toWalk.exchange.trail, skipped);
  const next = afterObstacle(toWalk, route, skipped.verdict);
  return next !== null && canBeTried(ports, toWalk, next);
}

/** Why a walk would not try a route; null where it would. */
function skippedFor(ports: WalkPorts, { exchange, plan }: Walk, route: Route): RuledOut | null {
  const obstacle = obstacleOf(ports, route, exchange.request, exchange.createdAt) ?? pauseOf(ports, plan, route);
  if (obstacle) return { route, ...obstacle };
  const isOpen = healthOf(ports, route).isOpen(healthKeyOf(route));
  return isOpen ? { route, verdict: 'breaker_open', param: null } : null;
}

/** After a timeout, the next upstream of a stream gets less time for its first byte. */
function budgetsFor(timeouts: Timeouts, stream: boolean, timedOut: boolean, leftMs: number): Budgets {
  const streaming = timedOut ? timeouts.firstByteStreamingAfterTimeoutMs : timeouts.firstByteStreamingMs;
  return {
    firstByteMs: stream ? streaming : timeouts.firstByteNonStreamingMs,
    idleMs: timeouts.streamIdleMs,
    overallMs: leftMs,
    overallNamedMs: timeouts.overallMs,
  };
}

/** The kind of the last attempt's failure decides the code. */
function failureError(
  { plan, exchange: { trail, request } }: Walk,
  { route, failure }: { route: Route; failure: Failure },
  remaining: number,
  nowMs: number,
): GatewayError {
  const provider = route.provider.id;
  const { meaning, quote, budget, details, oversized } = failure;
  if (meaning === 'rejected') {
    const givesDetails = details && takesErrorDetails(route.provider, request);
    return gatewayError('upstream_rejected', { provider, quote }, givesDetails ? { details } : {});
  }
  const extras = plan.kind === 'auto' ? { receipt: receiptOf(trail, remaining, quote) } : {};
  if (meaning === 'timeout' && budget) {
    return gatewayError(
      'provider_timeout',
      { provider, budget: budget.name, deadline: durationText(budget.ms) },
      extras,
    );
  }
  if (meaning === 'quota') {
    const retryAfterSeconds = secondsToMidnightUtc(nowMs);
    const values = { provider, id: route.id, ...(route.credential && { credential: route.credential.name }) };
    return gatewayError('provider_quota_exhausted', values, { ...extras, retryAfterSeconds });
  }
  return gatewayError(oversized ? 'answer_too_large' : 'provider_error', { provider, failure: quote }, extras);
}
