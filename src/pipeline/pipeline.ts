/**
 * The path of a request through the eight stages: admit → validate → resolve → gate → rank → walk → respond → settle. Gate, rank
 * and walk run for the requested model id and, while that fails, for each entry of its fallback chain. `exchange.ts` runs the second
 * to the fourth for the requested id, `count.ts` serves a request for a count. What a caller may see as an error is thrown as a row of the
 * error table; the HTTP layer answers it.
 */
import { andThen, isPending, type MaybePromise } from '../base/maybe-promise.js';
import type { PriceMoment } from '../catalogue/price-moment.js';
import { admit } from './admit.js';
import { answerCount } from './count.js';
import { EarlyChat } from './early-chat.js';
import { type Arrival, openExchange, prepareOpening } from './exchange.js';
import { gate } from './gate.js';
import type { Delivered, Exchange, GateOutcome, PipelinePorts, Plan, WalkOutcome } from './handover.js';
import { observeThroughput } from './observe-throughput.js';
import { unpaidBy } from './own-candidates.js';
import { rank } from './rank.js';
import { alongChain } from './resolve.js';
import { openRelay, respond } from './respond.js';
import { countedPico, leafOf, settle, settleOwed, settleProvisionally } from './settle.js';
import type { Stay } from './stay.js';
import { forgetFailed, recallStay, rememberStay } from './sticky.js';
import { freeLargeParts } from './validate.js';
import { orderCandidates } from './walk/order-candidates.js';
import { headsOf } from './walk/own-credential.js';
import { type Walk, walk } from './walk.js';

/** Until the upstream is called, a usual request waits for nothing, and fails by throwing. */
export function serve(ports: PipelinePorts, arrival: Arrival): MaybePromise<void> {
  const startedAtMs = ports.clock.monotonicMs();
  if (arrival.door.countsOnly) return answerCount(ports, arrival);
  if (ports.fleet) return serveInFleet(ports, arrival, startedAtMs);
  return andThen(admit(ports, arrival.caller, arrival.door), (identity) =>
    andThen(openExchange(ports, arrival, { identity, startedAtMs, early: null }), (exchange) =>
      forward(ports, arrival, exchange),
    ),
  );
}

/** The same, with a chat that is read early where possible, so that one round trip to the shared state is enough. */
async function serveInFleet(ports: PipelinePorts, arrival: Arrival, startedAtMs: number): Promise<void> {
  const { caller, door } = arrival;
  const early = new EarlyChat(ports, caller, door, (identity, request) =>
    prepareOpening(ports, arrival, identity, request),
  );
  let exchange: Exchange;
  try {
    const identity = await admit(ports, caller, door, early);
    exchange = await openExchange(ports, arrival, { identity, startedAtMs, early });
  } catch (error) {
    early.undo();
    throw error;
  }
  return forward(ports, arrival, exchange);
}

async function forward(ports: PipelinePorts, { notes }: Arrival, exchange: Exchange): Promise<void> {
  const { request, trail } = exchange;
  if (exchange.refusal) {
    exchange.reservation.cancel();
    freeLargeParts(request);
    throw exchange.refusal;
  }
  try {
    const relay = request.stream
      ? openRelay(ports, exchange, (delivered) => settleProvisionally(ports, exchange, delivered))
      : null;
    const walked = await alongChain<WalkOutcome>(exchange.plan, exchange.chain, (plan, place) => {
      const { eligible, removed, error } = plan === exchange.plan ? exchange.gated : gateEntry(ports, exchange, plan);
      if (error) return { kind: 'failed', error };
      trail.plan = plan;
      trail.removed = removed;
      trail.place = place;
      trail.stay = null;
      const task = plan.hasOwn
        ? { exchange, plan, candidates: headsOf(eligible), group: eligible, relay }
        : { exchange, plan, candidates: eligible, relay };
      return plan.kind === 'pin' ? walk(ports, task) : walkAuto(ports, task);
    });
    if (walked.kind === 'failed' && !isRecorded(exchange, walked)) throw walked.error;
    const leaf = ports.proof?.hashBodies === false ? (made: Delivered) => leafOf(ports, exchange, made) : null;
    const responding = respond(ports, exchange, walked, relay, leaf);
    const delivered = isPending(responding) ? await responding : responding;
    notes.delivered = delivered;
    if (trail.stay) rememberStay(ports, exchange, delivered);
    settle(ports, exchange, delivered);
    if (relay) observeThroughput(ports, exchange, delivered, relay.lastTextAtMs);
    if (delivered.error) throw delivered.error;
  } catch (error) {
    notes.delivered = settleOwed(ports, exchange) ?? notes.delivered;
    throw error;
  } finally {
    // Nothing was delivered, or the settlement has corrected the reservation already.
    exchange.reservation.cancel();
    const billed = notes.delivered?.billed ?? null;
    exchange.hold.release(billed?.cost.pico ?? 0n, countedPico(exchange, billed) ?? undefined);
    ports.journal.release(trail.reservedBytes);
    freeLargeParts(request);
  }
}

/** Tries the route of the conversation first, then the candidates in the order that the request asks for, or by rank. */
function walkAuto(ports: PipelinePorts, task: Walk): MaybePromise<WalkOutcome> {
  const { exchange, plan } = task;
  const recalling = plan === exchange.plan ? exchange.stay : recallStay(ports, exchange, plan);
  return andThen(recalling, (stay) => walkStaying(ports, task, stay));
}

function walkStaying(ports: PipelinePorts, task: Walk, stay: Stay | null): Promise<WalkOutcome> {
  const { exchange, candidates: eligible } = task;
  const { policy, projectPolicy, request, preferences, trail } = exchange;
  trail.stay = stay;
  const prefer = preferences?.prefer ?? projectPolicy?.prefer ?? policy.prefer;
  const ranked = rank(ports, eligible, { prefer, stream: request.stream, moment: momentOf(exchange) });
  const candidates = orderCandidates(ranked, { request, preferences, stay, health: ports.health, own: ports.own });
  const walking = walk(ports, { ...task, candidates });
  if (stay === null || stay.routeId === null) return walking;
  return walking.then((outcome) => {
    forgetFailed(ports, exchange);
    return outcome;
  });
}

function momentOf({ createdAt, promptEstimate }: Exchange): PriceMoment {
  return { atMs: createdAt, promptTokens: promptEstimate };
}

/** The gates of an entry of the chain, by the policy and at the moment of the request. */
function gateEntry(ports: PipelinePorts, exchange: Exchange, plan: Plan): GateOutcome {
  const { identity, policy, projectPolicy, preferences } = exchange;
  const { territory } = exchange.caller.origin;
  const asker = { identity, policy, projectPolicy, territory, moment: momentOf(exchange), preferences };
  return gate(ports, plan, plan.hasOwn ? { ...asker, ...unpaidBy(ports, identity) } : asker);
}

/** A refusal before any walk has no record. While the journal has no room for bills, it has none for refusals. */
function isRecorded({ trail }: Exchange, { error }: Extract<WalkOutcome, { kind: 'failed' }>): boolean {
  return trail.plan !== null && error.condition !== 'billing_not_durable';
}
