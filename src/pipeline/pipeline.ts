/**
 * The path of a request through the eight stages: admit → validate → resolve → gate → rank → walk → respond → settle. Gate, rank
 * and walk run for the requested model id and, while that fails, for each entry of its fallback chain. What a caller may see as an
 * error is thrown as a row of the error table; the HTTP layer answers it.
 */

import type { SpendHold } from '../accounts/spending/spend-holds.js';
import { generationId } from '../base/ids.js';
import { andThen, isPending, type MaybePromise, undoOnFailure } from '../base/maybe-promise.js';
import type { Route } from '../catalogue/route.js';
import type { Identity } from '../domain/account.js';
import type { Door } from '../doors/door.js';
import { gatewayError } from '../errors/gateway-error.js';
import { estimatePromptTokens } from '../limits/estimate-prompt.js';
import type { Reservation } from '../limits/key-limiter.js';
import { applyOrder, readPreferences } from '../policy/request-preferences.js';
import { admit } from './admit.js';
import type { Caller } from './caller.js';
import { estimateCost } from './estimate-cost.js';
import { gate, type Wishes } from './gate.js';
import type { ChatNotes, Exchange, PipelinePorts, WalkOutcome } from './handover.js';
import { observeThroughput } from './observe-throughput.js';
import { rank } from './rank.js';
import { alongChain, resolve, resolveSavedChain, resolveSentChain } from './resolve.js';
import { openRelay, respond } from './respond.js';
import { settle, settleProvisionally } from './settle.js';
import { forgetFailed, recallStay, rememberStay, stayFirst } from './sticky.js';
import { checkContentType } from './validate.js';
import { type Walk, walk } from './walk.js';

/** A larger body counts as held until its request is over, because the walk keeps it and a few of them fill the memory. */
const countedWhileServedBytes = 1024 * 1024;

export interface Arrival {
  readonly door: Door;
  readonly caller: Caller;
  readonly requestId: string;
  /** Filled as the request proceeds, for metrics, traces and the log. */
  readonly notes: ChatNotes;
}

/** Until the upstream is called, a usual request waits for nothing, and fails by throwing. */
export function serve(ports: PipelinePorts, arrival: Arrival): MaybePromise<void> {
  const startedAtMs = ports.clock.monotonicMs();
  return andThen(admit(ports, arrival.caller), (identity) =>
    andThen(enter(ports, arrival, identity, startedAtMs), (exchange) => forward(ports, arrival, exchange)),
  );
}

async function forward(ports: PipelinePorts, { notes }: Arrival, exchange: Exchange): Promise<void> {
  const { caller, request, snapshot, identity, trail } = exchange;
  const { account } = identity;
  try {
    const relay = request.stream
      ? openRelay(ports, exchange, (delivered) => settleProvisionally(ports, exchange, delivered))
      : null;
    const walked = await alongChain<WalkOutcome>(
      exchange.plan,
      () => exchange.sentChain ?? resolveSavedChain(snapshot, account),
      (plan, place) => {
        const { eligible, error } = gate(ports, plan, identity, caller.origin.territory, wishesOf(exchange));
        if (error) return { kind: 'failed', error };
        trail.plan = plan;
        trail.place = place;
        trail.stay = null;
        if (plan.kind === 'pin') return walk(ports, { exchange, plan, candidates: eligible, relay });
        return walkAuto(ports, { exchange, plan, eligible, relay });
      },
    );
    if (walked.kind === 'failed' && !isRecorded(exchange, walked)) throw walked.error;
    const responding = respond(ports, exchange, walked, relay);
    const delivered = isPending(responding) ? await responding : responding;
    notes.delivered = delivered;
    if (trail.stay) rememberStay(ports, exchange, delivered);
    settle(ports, exchange, delivered);
    if (relay) observeThroughput(ports, exchange, delivered, relay.lastTextAtMs);
    if (delivered.error) throw delivered.error;
  } finally {
    // Nothing was delivered, or the settlement has corrected the reservation already.
    exchange.reservation.cancel();
    exchange.hold.release(notes.delivered?.billed?.cost.pico ?? 0n);
    ports.journal.release(trail.reservedBytes);
  }
}

/** From an admitted caller to a request whose model id is known and whose tokens are reserved. */
function enter(
  ports: PipelinePorts,
  arrival: Arrival,
  identity: Identity,
  startedAtMs: number,
): MaybePromise<Exchange> {
  const { door, caller, notes } = arrival;
  checkContentType(caller.contentType);
  const waitingFromMs = ports.clock.monotonicMs();
  return andThen(caller.readBody(ports.bodyMemory.open(identity.account.id)), (body) => {
    const bodyMs = ports.clock.monotonicMs() - waitingFromMs;
    notes.bodyBytes = body.length;
    return andThen(ports.validator.validate(door, body), (request) => {
      if (notes.bodyBytes <= countedWhileServedBytes) caller.releaseBody();
      return open(ports, arrival, { identity, request, startedAtMs, bodyMs });
    });
  });
}

function open(
  ports: PipelinePorts,
  { door, caller, requestId, notes }: Arrival,
  { identity, request, startedAtMs, bodyMs }: Pick<Exchange, 'identity' | 'request' | 'startedAtMs' | 'bodyMs'>,
): MaybePromise<Exchange> {
  const snapshot = ports.catalogue.current;
  if (!snapshot) throw gatewayError('service_unavailable');
  const { account } = identity;
  const preferences = request.provider === undefined ? null : readPreferences(request.provider, snapshot);
  const plan = resolve(snapshot, account, request.model);
  const sentChain = request.fallback && resolveSentChain(ports, snapshot, account, request.fallback);
  // Before the tokens are counted: in a fleet both questions then share a round trip.
  const stay = recallStay(ports, { identity, request, preferences, header: (name) => caller.header(name) }, plan);
  const promptEstimate = estimatePromptTokens(request);
  const createdAt = ports.clock.now();
  const open = (reservation: Reservation, hold: SpendHold): Exchange => {
    notes.exchange = {
      door,
      caller,
      requestId,
      generationId: generationId(createdAt),
      createdAt,
      startedAtMs,
      bodyMs,
      identity,
      request,
      snapshot,
      plan,
      sentChain,
      preferences,
      stay,
      promptEstimate,
      reservation,
      hold,
      trail: notes.trail,
    };
    return notes.exchange;
  };
  const routed = { identity, caller, snapshot, plan, sentChain, preferences, promptEstimate, createdAt };
  const estimate = estimateCost(eligibleRoutes(ports, routed), {
    request,
    promptTokens: promptEstimate,
    atMs: createdAt,
  });
  return andThen(ports.keyLimiter.takeTokens(identity, promptEstimate), (reservation) =>
    undoOnFailure(
      () => andThen(ports.spend.take(identity, estimate), (hold) => open(reservation, hold)),
      () => reservation.cancel(),
    ),
  );
}

type RoutedRequest = Pick<Exchange, 'identity' | 'preferences' | 'promptEstimate' | 'createdAt'>;

function wishesOf({ preferences, promptEstimate, createdAt }: RoutedRequest): Wishes | null {
  return preferences && { preferences, moment: { atMs: createdAt, promptTokens: promptEstimate } };
}

interface AutoWalk extends Pick<Walk, 'exchange' | 'plan' | 'relay'> {
  readonly eligible: readonly Route[];
}

/** Tries the route of the conversation first, then the candidates in the order that the request asks for, or by rank. */
async function walkAuto(ports: PipelinePorts, { exchange, plan, eligible, relay }: AutoWalk): Promise<WalkOutcome> {
  const { identity, caller, request, preferences, trail } = exchange;
  const recalling =
    plan === exchange.plan
      ? exchange.stay
      : recallStay(ports, { identity, request, preferences, header: (name) => caller.header(name) }, plan);
  trail.stay = isPending(recalling) ? await recalling : recalling;
  const ranked = rank(ports, eligible, preferences?.prefer ?? identity.account.policy.prefer, request.stream);
  const ordered = preferences === null ? ranked : applyOrder(ranked, preferences.order);
  const outcome = await walk(ports, {
    ...{ exchange, plan, relay },
    candidates: stayFirst(ordered, trail.stay, preferences),
  });
  forgetFailed(ports, exchange);
  return outcome;
}

/** Every route that may serve the request: of its own id, and of the entries of its chain. */
function* eligibleRoutes(
  ports: PipelinePorts,
  routed: RoutedRequest & Pick<Exchange, 'caller' | 'snapshot' | 'plan' | 'sentChain'>,
): Iterable<Route> {
  const { identity, caller, snapshot, plan, sentChain } = routed;
  const { account } = identity;
  const wishes = wishesOf(routed);
  for (const each of [plan, ...(sentChain ?? resolveSavedChain(snapshot, account))]) {
    yield* gate(ports, each, identity, caller.origin.territory, wishes).eligible;
  }
}

/** A refusal before any walk has no record. While the journal has no room for bills, it has none for refusals. */
function isRecorded({ trail }: Exchange, { error }: Extract<WalkOutcome, { kind: 'failed' }>): boolean {
  return trail.plan !== null && error.condition !== 'billing_not_durable';
}
