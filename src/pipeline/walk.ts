/**
 * Stage 6: the candidates in order, one attempt each, until one serves. A pin is a walk of one. It stops at a rejection of
 * the request, when its overall budget is spent, and at once when the caller leaves.
 */
import { durationText, secondsToMidnightUtc } from '../base/time.js';
import type { Route } from '../catalogue/route.js';
import type { Timeouts } from '../config/config.js';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';
import type { Permit } from '../health/route-health.js';
import type { Budgets } from '../providers/call.js';
import { effectOf, type Failure } from '../providers/classify/failure.js';
import type { Exchange, PipelinePorts, Plan, Relay, Trail } from './handover.js';
import { type AttemptOutcome, type AttemptPorts, attempt } from './walk/attempt.js';
import { reserveRecords } from './walk/durable.js';
import { nothingTried, obstacleOf, type RuledOut } from './walk/obstacles.js';
import { receiptOf, skippedByBreaker } from './walk/receipt.js';

export type Served = Extract<AttemptOutcome, { kind: 'answer' | 'stream' }>;

export type WalkOutcome =
  | { kind: 'served'; route: Route; outcome: Served }
  | { kind: 'failed'; error: GatewayError }
  /** The caller left; `route` is the one that was serving. */
  | { kind: 'gone'; route: Route };

export type WalkPorts = AttemptPorts & Pick<PipelinePorts, 'timeouts' | 'health' | 'holds' | 'journal'>;

export async function walk(
  ports: WalkPorts,
  exchange: Exchange,
  plan: Plan,
  candidates: readonly Route[],
  trail: Trail,
  relay: Relay | null,
): Promise<WalkOutcome> {
  const { request, caller } = exchange;
  const startedAtMs = ports.clock.monotonicMs();
  const ruledOut: RuledOut[] = [];
  let failed: { route: Route; failure: Failure } | null = null;
  let timedOut = false;
  let isDurable = true;
  let next = 0;
  while (next < candidates.length) {
    const leftMs = ports.timeouts.overallMs - (ports.clock.monotonicMs() - startedAtMs);
    if (leftMs <= 0) break;
    const route = candidates[next++]!;
    // It may have left while its body was read, or an earlier answer: nobody is asked for it any more.
    if (caller.gone) return { kind: 'gone', route };
    const permit = permitFor(ports, exchange, plan, route, trail, ruledOut);
    if (permit === 'not_durable') isDurable = false;
    if (permit === null || permit === 'not_durable') continue;
    const budgets = budgetsFor(ports.timeouts, request.stream, timedOut, leftMs);
    const outcome = await permitted(ports, exchange, trail, route, budgets, relay, permit);
    if (outcome.kind === 'gone') return { kind: 'gone', route };
    if (outcome.kind !== 'failure') return { kind: 'served', route, outcome };
    failed = { route, failure: outcome.failure };
    if (outcome.failure.meaning === 'rejected') break;
    timedOut ||= outcome.failure.meaning === 'timeout';
  }
  if (!failed && !isDurable) return { kind: 'failed', error: gatewayError('billing_not_durable') };
  if (!failed) return { kind: 'failed', error: nothingTried(ports, plan, ruledOut, trail) };
  const remaining = plan.kind === 'auto' ? remainingOf(ports, exchange, candidates.slice(next), trail) : 0;
  return {
    kind: 'failed',
    error: failureError(failed.route, failed.failure, plan, trail, remaining, ports.clock.now()),
  };
}

/** Permission to try a route; null where it is ruled out, and noted as such; `not_durable` where its bill could be lost. */
function permitFor(
  { health, holds, journal }: Pick<WalkPorts, 'health' | 'holds' | 'journal'>,
  { request }: Exchange,
  { kind }: Plan,
  route: Route,
  trail: Trail,
  ruledOut: RuledOut[],
): Permit | 'not_durable' | null {
  const obstacle = obstacleOf({ holds }, route, request);
  if (obstacle) {
    ruledOut.push({ route, ...obstacle });
    return null;
  }
  if (!reserveRecords(journal, trail, route, request.stream)) return 'not_durable';
  // A breaker never overrides an explicit id; the outcome still feeds it.
  const permit = health.begin(route.id, request.stream, kind === 'pin');
  if (!permit) {
    skippedByBreaker(trail, route);
    ruledOut.push({ route, verdict: 'breaker_open', param: null });
  }
  return permit;
}

/** One attempt whose outcome the route's health learns, whatever becomes of it. */
async function permitted(
  ports: WalkPorts,
  exchange: Exchange,
  trail: Trail,
  route: Route,
  budgets: Budgets,
  relay: Relay | null,
  permit: Permit,
): Promise<AttemptOutcome> {
  const startedAtMs = ports.clock.monotonicMs();
  try {
    const outcome = await attempt(ports, exchange, trail, route, budgets, relay, permit);
    const written = learn(ports, route, outcome, permit, trail);
    if (written) await written;
    return outcome;
  } finally {
    permit.release();
    const record = trail.attempts.at(-1);
    if (record) trail.legs.push({ route, record, startedAtMs, endedAtMs: ports.clock.monotonicMs() });
  }
}

/**
 * What an attempt does to its route. A stream that broke after its start counts too, though nothing can be retracted. The
 * promise is a hold that is being written.
 */
function learn(
  { holds }: Pick<WalkPorts, 'holds'>,
  route: Route,
  outcome: AttemptOutcome,
  permit: Permit,
  trail: Trail,
): Promise<unknown> | undefined {
  if (outcome.kind === 'failure') {
    const { meaning, disputed = false, retryAfterMs = null } = outcome.failure;
    if (disputed) return undefined;
    const effect = effectOf(meaning);
    if (effect === 'counted') permit.fail(retryAfterMs);
    return effect === 'held' ? holds.hold(route.id, 'upstream') : undefined;
  }
  if (outcome.kind === 'stream' && outcome.end !== 'complete') {
    permit.fail(null);
  } else if (outcome.kind !== 'gone') {
    permit.succeed(trail.attempts.at(-1)?.first_byte_ms ?? null);
  }
  return undefined;
}

/** The candidates that the walk did not come to, less those that are ruled out. */
function remainingOf(ports: WalkPorts, { request }: Exchange, rest: readonly Route[], trail: Trail): number {
  let remaining = 0;
  for (const route of rest) {
    if (obstacleOf(ports, route, request)) continue;
    if (ports.health.isOpen(route.id)) skippedByBreaker(trail, route);
    else remaining++;
  }
  return remaining;
}

/** §8, timeout rules 1 to 3. */
function budgetsFor(timeouts: Timeouts, stream: boolean, timedOut: boolean, leftMs: number): Budgets {
  const streaming = timedOut ? timeouts.firstByteStreamingAfterTimeoutMs : timeouts.firstByteStreamingMs;
  return {
    firstByteMs: stream ? streaming : timeouts.firstByteNonStreamingMs,
    idleMs: timeouts.streamIdleMs,
    overallMs: leftMs,
    overallNamedMs: timeouts.overallMs,
  };
}

/** Ruling 6: the kind of the last attempt's failure decides the code. */
function failureError(
  route: Route,
  failure: Failure,
  plan: Plan,
  trail: Trail,
  remaining: number,
  nowMs: number,
): GatewayError {
  const provider = route.provider.id;
  const { meaning, quote, budget } = failure;
  if (meaning === 'rejected') return gatewayError('upstream_rejected', { provider, quote });
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
    return gatewayError('provider_quota_exhausted', { provider, id: route.id }, { ...extras, retryAfterSeconds });
  }
  return gatewayError('provider_error', { provider, failure: quote }, extras);
}
