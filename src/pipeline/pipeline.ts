/**
 * The path of a request through the eight stages: admit → validate → resolve → gate → rank → walk → respond → settle. Gate, rank
 * and walk run for the requested model id and, while that fails, for each entry of its fallback chain. What a caller may see as an
 * error is thrown as a row of the error table; the HTTP layer answers it.
 */

import { modelRefusal } from '../accounts/keys/key-scope.js';
import type { SpendHold } from '../accounts/spending/spend-holds.js';
import { andThen, isPending, type MaybePromise, undoOnFailure } from '../base/maybe-promise.js';
import type { PriceMoment } from '../catalogue/price-moment.js';
import type { Identity } from '../domain/account.js';
import { gatewayError } from '../errors/gateway-error.js';
import { readPreferences } from '../policy/request-preferences.js';
import { bodyHash } from '../proof/proof-facts.js';
import type { ChatRequest } from '../wire/chat-request.js';
import { admit } from './admit.js';
import { CallerGone } from './caller.js';
import { EarlyChat } from './early-chat.js';
import { estimateCost, estimatePromptTokens } from './estimate.js';
import { type Arrival, exchangeOf } from './exchange.js';
import { gate, gateChain } from './gate.js';
import type { Delivered, Exchange, GateOutcome, Opening, PipelinePorts, Plan, WalkOutcome } from './handover.js';
import { observeThroughput } from './observe-throughput.js';
import { rank } from './rank.js';
import { alongChain, checkKind, resolve, resolveOwnChain, resolveSavedChain } from './resolve.js';
import { openRelay, respond } from './respond.js';
import { leafOf, settle, settleProvisionally } from './settle.js';
import type { Stay } from './stay.js';
import { forgetFailed, recallStay, rememberStay } from './sticky.js';
import { applyStrictness, checkContentType, isLargeBody } from './validate.js';
import { countPrompt } from './walk/count-prompt.js';
import { orderCandidates } from './walk/obstacles.js';
import { type Walk, walk } from './walk.js';

/** A larger body counts as held until its request is over, because the walk keeps it and a few of them fill the memory. */
const countedWhileServedBytes = 1024 * 1024;

/** Until the upstream is called, a usual request waits for nothing, and fails by throwing. */
export function serve(ports: PipelinePorts, arrival: Arrival): MaybePromise<void> {
  const startedAtMs = ports.clock.monotonicMs();
  if (arrival.door.countsOnly) return count(ports, arrival);
  if (ports.fleet) return serveInFleet(ports, arrival, startedAtMs);
  return andThen(admit(ports, arrival.caller, arrival.door), (identity) =>
    andThen(enter(ports, arrival, identity, startedAtMs), (exchange) => forward(ports, arrival, exchange)),
  );
}

/** The same, with a chat that is read early where possible, so that one round trip to the shared state is enough. */
async function serveInFleet(ports: PipelinePorts, arrival: Arrival, startedAtMs: number): Promise<void> {
  const { caller, door } = arrival;
  const early = new EarlyChat(ports, caller, door, (identity, request) => prepare(ports, arrival, identity, request));
  let exchange: Exchange;
  try {
    exchange = await enter(ports, arrival, await admit(ports, caller, door, early), startedAtMs, early);
  } catch (error) {
    early.undo();
    throw error;
  }
  return forward(ports, arrival, exchange);
}

async function forward(ports: PipelinePorts, { notes }: Arrival, exchange: Exchange): Promise<void> {
  const { request, snapshot, identity, trail } = exchange;
  if (exchange.refusal) {
    exchange.reservation.cancel();
    throw exchange.refusal;
  }
  const { account } = identity;
  try {
    const relay = request.stream
      ? openRelay(ports, exchange, (delivered) => settleProvisionally(ports, exchange, delivered))
      : null;
    const walked = await alongChain<WalkOutcome>(
      exchange.plan,
      () => exchange.sentChain ?? resolveSavedChain(snapshot, account),
      (plan, place) => {
        const { eligible, removed, error } = plan === exchange.plan ? exchange.gated : gateEntry(ports, exchange, plan);
        if (error) return { kind: 'failed', error };
        trail.plan = plan;
        const isScoped = identity.key.terms.allowedProviders !== null;
        trail.gated = { policy: account.policy, isScoped, removed };
        trail.place = place;
        trail.stay = null;
        const task = { exchange, plan, candidates: eligible, relay };
        return plan.kind === 'pin' ? walk(ports, task) : walkAuto(ports, task);
      },
    );
    if (walked.kind === 'failed' && !isRecorded(exchange, walked)) throw walked.error;
    const leaf = ports.proof?.hashBodies === false ? (made: Delivered) => leafOf(ports, exchange, made) : null;
    const responding = respond(ports, exchange, walked, relay, leaf);
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

/** A count is free: it needs no credit, takes none of the key's tokens and leaves no record. */
async function count(ports: PipelinePorts, { door, caller, requestId, notes }: Arrival): Promise<void> {
  const identity = await admit(ports, caller, door);
  checkContentType(caller.contentType);
  const body = await caller.readBody(ports.bodyMemory.open(identity.account.id));
  notes.bodyBytes = body.length;
  const request = await ports.validator.validate(door, body);
  const snapshot = ports.catalogue.current;
  if (!snapshot) throw gatewayError('service_unavailable');
  const plan = resolve(snapshot, identity.account, request.model);
  checkKind(door, plan);
  const moment = { atMs: ports.clock.now(), promptTokens: estimatePromptTokens(request) };
  const preferences = request.provider === undefined ? null : readPreferences(request.provider, snapshot);
  const asker = { identity, territory: caller.origin.territory, moment, preferences };
  const { eligible, error } = gate(ports, plan, asker);
  if (error) throw error;
  const prefer = preferences?.prefer ?? identity.account.policy.prefer;
  const candidates = rank(ports, eligible, { prefer, stream: false, moment });
  const { tokens, isLocal } = await countPrompt(ports, caller, request, candidates);
  if (caller.gone) throw new CallerGone();
  const note = isLocal ? ',"router_metadata":{"counted":"local"}' : '';
  const headers = [...ports.keyLimiter.headersOf(identity), 'x-request-id', requestId];
  caller.answer(headers, `{"input_tokens":${tokens}${note}}`, 'latin1');
}

/** From an admitted caller to a request whose model id is known and whose tokens are reserved. */
function enter(
  ports: PipelinePorts,
  arrival: Arrival,
  identity: Identity,
  startedAtMs: number,
  early?: EarlyChat,
): MaybePromise<Exchange> {
  const { door, caller, notes } = arrival;
  checkContentType(caller.contentType);
  const waitingFromMs = ports.clock.monotonicMs();
  return andThen(caller.readBody(ports.bodyMemory.open(identity.account.id)), (body) => {
    const bodyMs = ports.clock.monotonicMs() - waitingFromMs;
    notes.bodyBytes = body.length;
    const hashed = ports.proof?.hashBodies === true;
    const ownHash = hashed && !isLargeBody(body) ? bodyHash(door.sentPart?.(body) ?? body) : null;
    return andThen(early?.request ?? ports.validator.validate(door, body, hashed), (request) => {
      if (notes.bodyBytes <= countedWhileServedBytes) caller.releaseBody();
      const prepared = early?.take(identity);
      const opening = prepared?.opening ?? prepare(ports, arrival, identity, request);
      return andThen(takeFor(ports, opening, prepared ?? null), ({ reservation, hold }) => {
        const requestHash = ownHash ?? request.bodyHash ?? null;
        notes.exchange = exchangeOf(arrival, opening, { startedAtMs, bodyMs, requestHash, reservation, hold });
        return notes.exchange;
      });
    });
  });
}

/** Finds out what a request is about and what it may cost. Takes nothing. */
function prepare(ports: PipelinePorts, { door, caller }: Arrival, identity: Identity, request: ChatRequest): Opening {
  const snapshot = ports.catalogue.current;
  if (!snapshot) throw gatewayError('service_unavailable');
  const { account } = identity;
  const preferences = request.provider === undefined ? null : readPreferences(request.provider, snapshot);
  const plan = resolve(snapshot, account, request.model);
  checkKind(door, plan);
  const outOfScope = modelRefusal(identity.key, plan);
  if (outOfScope) throw outOfScope;
  applyStrictness(request, (name) => caller.header(name));
  const sentChain = resolveOwnChain(ports, snapshot, { account, request }, plan);
  // Before the tokens are counted: in a fleet both questions then share a round trip.
  const stay = plan.kind === 'pin' ? null : recallStay(ports, { identity, request, preferences, caller }, plan);
  const promptEstimate = estimatePromptTokens(request);
  const createdAt = ports.clock.now();
  const moment = { atMs: createdAt, promptTokens: promptEstimate };
  const asker = { identity, territory: caller.origin.territory, moment, preferences };
  const chain = sentChain ?? resolveSavedChain(snapshot, account);
  const { first: gated, others, refusal } = gateChain(ports, plan, chain, asker);
  const asked = { request, promptTokens: promptEstimate, atMs: createdAt };
  let costEstimatePico = estimateCost(gated.eligible, asked);
  for (const { eligible } of others) {
    const cost = estimateCost(eligible, asked);
    if (cost > costEstimatePico) costEstimatePico = cost;
  }
  return {
    identity,
    request,
    snapshot,
    plan,
    sentChain,
    preferences,
    stay,
    gated,
    promptEstimate,
    createdAt,
    costEstimatePico,
    refusal,
  };
}

const nothingHeld: SpendHold = { release: () => {} };

/** Reserves the tokens, then holds the estimated cost, unless that happened with the admission. A request that is refused holds nothing. */
function takeFor(
  { keyLimiter, spend }: PipelinePorts,
  { identity, promptEstimate, costEstimatePico, refusal }: Opening,
  prepared: ReturnType<EarlyChat['take']>,
): MaybePromise<Pick<Exchange, 'reservation' | 'hold'>> {
  const reserving = prepared
    ? keyLimiter.reserve(identity, promptEstimate, prepared.taken.tokens)
    : keyLimiter.takeTokens(identity, promptEstimate);
  return andThen(reserving, (reservation) =>
    undoOnFailure(
      () => {
        if (refusal) return { reservation, hold: nothingHeld };
        const holding = prepared?.spendAsk
          ? spend.takeAs(identity, prepared.spendAsk, prepared.taken.spend)
          : spend.take(identity, costEstimatePico);
        return andThen(holding, (hold) => ({ reservation, hold }));
      },
      () => reservation.cancel(),
    ),
  );
}

/** Tries the route of the conversation first, then the candidates in the order that the request asks for, or by rank. */
function walkAuto(ports: PipelinePorts, task: Walk): MaybePromise<WalkOutcome> {
  const { exchange, plan } = task;
  const recalling = plan === exchange.plan ? exchange.stay : recallStay(ports, exchange, plan);
  return andThen(recalling, (stay) => walkStaying(ports, task, stay));
}

function walkStaying(ports: PipelinePorts, task: Walk, stay: Stay | null): Promise<WalkOutcome> {
  const { exchange, plan, candidates: eligible, relay } = task;
  const { identity, request, preferences, trail } = exchange;
  trail.stay = stay;
  const prefer = preferences?.prefer ?? identity.account.policy.prefer;
  const ranked = rank(ports, eligible, { prefer, stream: request.stream, moment: momentOf(exchange) });
  const candidates = orderCandidates(ranked, { request, preferences, stay });
  const walking = walk(ports, { exchange, plan, candidates, relay });
  if (stay === null || stay.routeId === null) return walking;
  return walking.then((outcome) => {
    forgetFailed(ports, exchange);
    return outcome;
  });
}

function momentOf({ createdAt, promptEstimate }: Exchange): PriceMoment {
  return { atMs: createdAt, promptTokens: promptEstimate };
}

/** The gates of an entry of the chain, at the moment of the request. */
function gateEntry(ports: PipelinePorts, exchange: Exchange, plan: Plan): GateOutcome {
  const { identity, caller, preferences } = exchange;
  return gate(ports, plan, { identity, territory: caller.origin.territory, moment: momentOf(exchange), preferences });
}

/** A refusal before any walk has no record. While the journal has no room for bills, it has none for refusals. */
function isRecorded({ trail }: Exchange, { error }: Extract<WalkOutcome, { kind: 'failed' }>): boolean {
  return trail.plan !== null && error.condition !== 'billing_not_durable';
}
