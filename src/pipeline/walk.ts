/**
 * Stage 6: the candidates in order, one attempt each, until one serves. A pin is a walk of one. It stops at a rejection of
 * the request (§7.5.2), when its overall budget is spent, and at once when the caller leaves.
 */
import { durationText } from '../base/duration.js';
import { secondsToMidnightUtc } from '../base/midnight.js';
import type { Capability, Route } from '../catalogue/route.js';
import type { Timeouts } from '../config/config.js';
import { type GatewayError, gatewayError, type Receipt } from '../errors/gateway-error.js';
import type { Budgets } from '../upstream/call.js';
import type { Failure } from '../upstream/failure.js';
import type { RefusableParameter } from '../wire/chat-request.js';
import type { Exchange, PipelinePorts, Plan, Relay, Trail } from './handover.js';
import { type AttemptOutcome, attempt } from './walk/attempt.js';

export type Served = Extract<AttemptOutcome, { kind: 'answer' | 'stream' }>;

export type WalkOutcome =
  | { kind: 'served'; route: Route; outcome: Served }
  | { kind: 'failed'; error: GatewayError }
  /** The caller left; `route` is the one that was serving. */
  | { kind: 'gone'; route: Route };

export type WalkPorts = Pick<PipelinePorts, 'transportOf' | 'deadlines' | 'clock' | 'answers' | 'timeouts'>;

export async function walk(
  ports: WalkPorts,
  exchange: Exchange,
  plan: Plan,
  candidates: readonly Route[],
  trail: Trail,
  relay: Relay | null,
): Promise<WalkOutcome> {
  const startedAtMs = ports.clock.monotonicMs();
  const ruledOut: GatewayError[] = [];
  let failed: { route: Route; failure: Failure } | null = null;
  let timedOut = false;
  let remaining = candidates.length;
  for (const route of candidates) {
    remaining--;
    const obstacle = obstacleOf(route, exchange);
    if (obstacle) {
      ruledOut.push(obstacle);
      continue;
    }
    // It may have left while its body was read, or an earlier answer: nobody is asked for it any more (ruling 8).
    if (exchange.caller.gone) return { kind: 'gone', route };
    const leftMs = ports.timeouts.overallMs - (ports.clock.monotonicMs() - startedAtMs);
    if (leftMs <= 0) {
      remaining++;
      break;
    }
    const budgets = budgetsFor(ports.timeouts, exchange.request.stream, timedOut, leftMs);
    const outcome = await attempt(ports, exchange, trail, route, budgets, relay);
    if (outcome.kind === 'gone') return { kind: 'gone', route };
    if (outcome.kind !== 'failure') return { kind: 'served', route, outcome };
    failed = { route, failure: outcome.failure };
    if (outcome.failure.meaning === 'rejected') break;
    timedOut ||= outcome.failure.meaning === 'timeout';
  }
  const error = failed
    ? failureError(failed.route, failed.failure, plan, trail, remaining, ports.clock.now())
    : nothingTried(exchange, plan, ruledOut, trail);
  return { kind: 'failed', error };
}

/** Why a route cannot even be tried. */
function obstacleOf(route: Route, { request }: Exchange): GatewayError | null {
  if (!route.provider.configured) return gatewayError('provider_not_configured', { provider: route.provider.id });
  if (!route.price) return gatewayError('route_unpriced', { id: route.id });
  for (const param of request.needs) {
    if (!route.capabilities.has(param satisfies Capability)) return cannotApply(route, param);
  }
  return null;
}

function cannotApply(route: Route, param: RefusableParameter): GatewayError {
  const what = param === 'n' ? '`n` above 1' : `\`${param}\``;
  return gatewayError('cannot_apply', {
    provider: route.provider.id,
    param,
    reason: `cannot apply ${what} on ${route.id}`,
  });
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

/** Ruling 3: what answers when no candidate could be tried. */
function nothingTried(exchange: Exchange, plan: Plan, ruledOut: GatewayError[], trail: Trail): GatewayError {
  const [first] = ruledOut;
  const alike = first && ruledOut.every(({ condition }) => condition === first.condition);
  if (first && (plan.kind === 'pin' || (alike && first.condition !== 'route_unpriced'))) return first;
  const reason = first ? 'none of them is configured, priced and able to apply the request' : 'the model has no routes';
  return gatewayError(
    'no_candidate_left',
    { id: exchange.request.model, reason },
    { receipt: receiptOf(trail, 0, first?.message ?? '') },
  );
}

function receiptOf(trail: Trail, remaining: number, lastError: string): Receipt {
  return {
    providers_attempted: trail.providersAttempted,
    breaker_skipped: trail.breakerSkipped,
    candidates_remaining: remaining,
    last_error: lastError,
  };
}
