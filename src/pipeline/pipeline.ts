/**
 * The path of a request through the eight stages: admit → validate → resolve → gate → rank → walk → respond → settle. Gate, rank
 * and walk run for the requested model id and, while that fails, for each entry of its fallback chain. `exchange.ts` runs the second
 * to the fourth for the requested id, `count.ts` serves a request for a count. What a caller may see as an error is thrown as a row of the
 * error table; the HTTP layer answers it.
 */
import { andThen, isPending, type MaybePromise } from '../base/turn.js';
import type { PriceMoment } from '../catalogue/price-moment.js';
import type { Identity } from '../domain/account.js';
import { healthKeyOf, healthOf } from '../health/route-health.js';
import { admit } from './admit.js';
import { answerCount } from './count.js';
import { EarlyChat } from './early-chat.js';
import { openExchange, prepareExchange } from './exchange.js';
import { gate } from './gate.js';
import type { Arrival, Delivered, Exchange, GateOutcome, Plan, RememberedRoute, WalkOutcome } from './handover.js';
import { headsOf } from './own-credentials.js';
import type { PipelinePorts } from './ports.js';
import { rank } from './rank.js';
import { alongChain } from './resolve.js';
import type { StreamRelay } from './respond/stream-relay.js';
import { openRelay, respond } from './respond.js';
import { countedPico, leafOf, settle, settleOwed, settleProvisionally } from './settle.js';
import { forgetFailed, recallRoute, rememberRoute } from './sticky.js';
import { freeLargeParts } from './validate.js';
import { orderCandidates } from './walk/order-candidates.js';
import { type Walk, walk } from './walk.js';

/** Until the upstream is called, a usual request of a single process waits for nothing, and fails by throwing. */
export function serve(ports: PipelinePorts, arrival: Arrival): MaybePromise<void> {
  const { door, startedAtMs } = arrival;
  if (door.countsOnly) return answerCount(ports, arrival);
  const early = ports.admission.takesEarly ? new EarlyChat(ports, arrival, prepareExchange) : null;
  const identity = admit(ports, arrival, early);
  if (isPending(identity)) return serveLater(ports, arrival, early, identity);
  const opening = openExchange(ports, arrival, { identity, startedAtMs, early, bodyMs: 0, requestHash: null });
  if (isPending(opening)) return opening.then((exchange) => forward(ports, arrival, exchange));
  return forward(ports, arrival, opening);
}

async function serveLater(
  ports: PipelinePorts,
  arrival: Arrival,
  early: EarlyChat | null,
  admitting: Promise<Identity>,
): Promise<void> {
  const { startedAtMs } = arrival;
  let exchange: Exchange;
  try {
    const admitted = { identity: await admitting, startedAtMs, early, bodyMs: 0, requestHash: null };
    exchange = await openExchange(ports, arrival, admitted);
  } catch (error) {
    early?.undo();
    throw error;
  }
  return forward(ports, arrival, exchange);
}

function forward(ports: PipelinePorts, arrival: Arrival, exchange: Exchange): MaybePromise<void> {
  if (exchange.refusal) {
    exchange.reservation.cancel();
    freeLargeParts(exchange.request);
    throw exchange.refusal;
  }
  let relay: StreamRelay | null;
  let walking: MaybePromise<WalkOutcome>;
  try {
    relay = exchange.request.stream ? relayOf(ports, exchange) : null;
    walking = walkPlans(ports, exchange, relay);
  } catch (error) {
    return failWith(ports, arrival, error);
  }
  if (!isPending(walking)) return answerAndEnd(ports, arrival, relay, walking);
  return walking.then(
    (walked) => answerAndEnd(ports, arrival, relay, walked),
    (error) => failWith(ports, arrival, error),
  );
}

function answerAndEnd(
  ports: PipelinePorts,
  arrival: Arrival,
  relay: StreamRelay | null,
  walked: WalkOutcome,
): MaybePromise<void> {
  try {
    const answering = answer(ports, arrival, relay, walked);
    if (isPending(answering)) return endLater(ports, arrival, answering);
  } catch (error) {
    return failWith(ports, arrival, error);
  }
  end(ports, arrival);
}

async function endLater(ports: PipelinePorts, arrival: Arrival, answering: Promise<void>): Promise<void> {
  try {
    await answering;
  } catch (error) {
    failWith(ports, arrival, error);
  }
  end(ports, arrival);
}

function relayOf(ports: PipelinePorts, exchange: Exchange): StreamRelay {
  return openRelay(ports, exchange, (delivered) => settleProvisionally(ports, exchange, delivered));
}

/** Walks the requested id, and while that fails, its chain. */
function walkPlans(ports: PipelinePorts, exchange: Exchange, relay: StreamRelay | null): MaybePromise<WalkOutcome> {
  const { plan, chain } = exchange;
  if (chain.length === 0) return walkPlan(ports, exchange, relay, plan);
  return alongChain(plan, chain, (entry, chainIndex) => {
    exchange.trail.chainIndex = chainIndex;
    return walkPlan(ports, exchange, relay, entry);
  });
}

function walkPlan(
  ports: PipelinePorts,
  exchange: Exchange,
  relay: StreamRelay | null,
  plan: Plan,
): MaybePromise<WalkOutcome> {
  const { trail } = exchange;
  const { eligible, removed, error } = plan === exchange.plan ? exchange.gated : gateEntry(ports, exchange, plan);
  if (error) return { kind: 'failed', error };
  trail.plan = plan;
  trail.removed = removed;
  trail.remembered = null;
  const toWalk = plan.hasOwn
    ? { exchange, plan, candidates: headsOf(eligible), group: eligible, relay }
    : { exchange, plan, candidates: eligible, relay };
  return plan.kind === 'pin' ? walk(ports, toWalk) : walkAuto(ports, toWalk);
}

/** Responds and settles. */
function answer(
  ports: PipelinePorts,
  arrival: Arrival,
  relay: StreamRelay | null,
  walked: WalkOutcome,
): MaybePromise<void> {
  const exchange = arrival.notes.exchange!;
  if (walked.kind === 'failed' && !isRecorded(exchange, walked)) throw walked.error;
  const leaf = ports.proof?.hashBodies === false ? (made: Delivered) => leafOf(ports, exchange, made) : null;
  const delivered = respond(ports, exchange, walked, relay, leaf);
  if (isPending(delivered)) return delivered.then((made) => settleDelivered(ports, arrival, relay, made));
  settleDelivered(ports, arrival, relay, delivered);
}

function settleDelivered(
  ports: PipelinePorts,
  { notes }: Arrival,
  relay: StreamRelay | null,
  delivered: Delivered,
): void {
  const exchange = notes.exchange!;
  notes.delivered = delivered;
  if (exchange.trail.remembered) rememberRoute(ports, exchange, delivered);
  settle(ports, exchange, delivered);
  if (relay) observeThroughput(ports, exchange, delivered, relay.lastTextAtMs);
  if (delivered.error) throw delivered.error;
}

/** A shorter answer says nothing about a route's speed. */
const tokensMin = 50;

/** Measures how fast a stream was, for the ranking. `lastTextAtMs` is when text was sent last; the first was sent with the head of the answer. */
function observeThroughput(
  ports: PipelinePorts,
  { trail: { answeredAtMs } }: Exchange,
  { route, billed, streamEnd }: Delivered,
  lastTextAtMs: number,
): void {
  const tokens = billed?.usage.completionTokens ?? 0;
  if (route === null || streamEnd !== 'complete' || answeredAtMs === null || tokens < tokensMin) return;
  const elapsedMs = lastTextAtMs - answeredAtMs;
  if (elapsedMs > 0) healthOf(ports, route).recordThroughput(healthKeyOf(route), (tokens * 1000) / elapsedMs);
}

/** What a request that fails inside the gateway owes already is settled. Throws the error. */
function failWith(ports: PipelinePorts, arrival: Arrival, error: unknown): never {
  const { notes } = arrival;
  try {
    notes.delivered = settleOwed(ports, notes.exchange!) ?? notes.delivered;
  } finally {
    end(ports, arrival);
  }
  throw error;
}

/** Gives back what the request has held. Where nothing was delivered, or the settlement has corrected the reservation, that is no more. */
function end(ports: PipelinePorts, { notes }: Arrival): void {
  const exchange = notes.exchange!;
  const { reservation, hold, trail, request } = exchange;
  const billed = notes.delivered?.billed ?? null;
  reservation.cancel();
  hold.release(billed?.cost.pico ?? 0n, countedPico(exchange, billed) ?? undefined);
  ports.journal.release(trail.reservedBytes);
  freeLargeParts(request);
}

/** Tries the route of the conversation first, then the candidates in the order that the request asks for, or by rank. */
function walkAuto(ports: PipelinePorts, toWalk: Walk): MaybePromise<WalkOutcome> {
  const { exchange, plan } = toWalk;
  const remembered = plan === exchange.plan ? exchange.remembered : recallRoute(ports, exchange, plan);
  return isPending(remembered)
    ? remembered.then((known) => walkRemembering(ports, toWalk, known))
    : walkRemembering(ports, toWalk, remembered);
}

function walkRemembering(
  ports: PipelinePorts,
  toWalk: Walk,
  remembered: RememberedRoute | null,
): MaybePromise<WalkOutcome> {
  const { exchange, candidates: eligible } = toWalk;
  const { policy, projectPolicy, request, preferences, trail } = exchange;
  trail.remembered = remembered;
  const prefer = preferences?.prefer ?? projectPolicy?.prefer ?? policy.prefer;
  const moment = momentOf(exchange);
  const ranked = rank(ports, eligible, { prefer, stream: request.stream, moment });
  const candidates = orderCandidates(ranked, {
    request,
    atMs: moment.atMs,
    preferences,
    remembered,
    health: ports.health,
    own: ports.own,
  });
  const walking = walk(ports, { ...toWalk, candidates });
  if (remembered === null || remembered.routeId === null) return walking;
  return andThen(walking, (outcome) => {
    forgetFailed(ports, exchange);
    return outcome;
  });
}

function momentOf({ createdAt, promptEstimate }: Exchange): PriceMoment {
  return { atMs: createdAt, promptTokens: promptEstimate };
}

/** The gates of an entry of the chain, by the policy and at the moment of the request. */
function gateEntry(ports: PipelinePorts, exchange: Exchange, plan: Plan): GateOutcome {
  const { identity, policy, projectPolicy, preferences, unpaid } = exchange;
  const { territory } = exchange.caller.origin;
  return gate(ports, plan, {
    identity,
    policy,
    projectPolicy,
    territory,
    moment: momentOf(exchange),
    preferences,
    unpaid,
  });
}

/** A refusal before any walk has no record. While the journal has no room for bills, it has none for refusals. */
function isRecorded({ trail }: Exchange, { error }: Extract<WalkOutcome, { kind: 'failed' }>): boolean {
  return trail.plan !== null && error.condition !== 'billing_not_durable';
}
