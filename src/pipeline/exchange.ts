/**
 * Opens the exchange of an admitted caller: runs validate, resolve and gate, estimates what the request may cost, and takes its tokens and
 * the hold on the balance.
 */
import { modelRefusal } from '../accounts/keys/token.js';
import type { SpendHold } from '../accounts/spending/spend-holds.js';
import { generationId } from '../base/ids.js';
import { isPending, type MaybePromise } from '../base/turn.js';
import { estimateCost } from '../billing/bill.js';
import type { Route } from '../catalogue/route.js';
import type { Identity } from '../domain/account.js';
import { checkEndUser, endUserIn } from '../doors/end-user.js';
import { gatewayError } from '../errors/gateway-error.js';
import type { Reservation } from '../limits/rate-limits.js';
import { bodyHash } from '../proof/proof-facts.js';
import type { ChatRequest } from '../wire/chat-request.js';
import type { EarlyChat } from './early-chat.js';
import { gateChain, wishesOf } from './gate.js';
import type { Arrival, ChatNotes, Exchange, Trail } from './handover.js';
import { countedRoutes, takeOwn, unpaidBy, usesOperators, withOwn } from './own-credentials.js';
import type { PipelinePorts } from './ports.js';
import { checkKind, resolveOwnChain, resolveRequested, resolveSavedChain } from './resolve.js';
import { recallRoute } from './sticky.js';
import { applyStrictness, checkContentType, estimatePromptTokens, freeLargeParts, isLargeBody } from './validate.js';

/** An admitted caller, when it came, and what is known of its body. */
export interface Admitted {
  readonly identity: Identity;
  readonly startedAtMs: number;
  /** null where nothing was read before the admission. */
  readonly early: EarlyChat | null;
  /** Set when they are known. */
  bodyMs: number;
  requestHash: string | null;
  /** Only where the account keeps it. */
  endUser?: string | null;
}

/** A larger body counts as held until its request is over, because the walk keeps it and a few of them fill the memory. */
const countedWhileServedBytes = 1024 * 1024;

/**
 * Reads the body of an admitted caller, checks it, finds out what it is about, and takes its tokens and the hold on the balance.
 * What an early chat of a fleet did before the admission is not done again.
 */
export function openExchange(ports: PipelinePorts, arrival: Arrival, admitted: Admitted): MaybePromise<Exchange> {
  const { caller } = arrival;
  checkContentType(caller.contentType);
  const body = caller.readBody(ports.bodyMemory.open(admitted.identity.account.id));
  return isPending(body) ? openLater(ports, arrival, admitted, body) : openWithBody(ports, arrival, admitted, body);
}

async function openLater(
  ports: PipelinePorts,
  arrival: Arrival,
  admitted: Admitted,
  reading: Promise<Buffer>,
): Promise<Exchange> {
  const waitingFromMs = ports.clock.monotonicMs();
  const body = await reading;
  admitted.bodyMs = ports.clock.monotonicMs() - waitingFromMs;
  return openWithBody(ports, arrival, admitted, body);
}

function openWithBody(
  ports: PipelinePorts,
  arrival: Arrival,
  admitted: Admitted,
  body: Buffer,
): MaybePromise<Exchange> {
  const { door, notes } = arrival;
  notes.bodyBytes = body.length;
  const hashed = ports.proof?.hashBodies === true;
  // Before the body may move to another thread.
  if (admitted.identity.account.recordEndUsers) admitted.endUser = endUserIn(door.name, body);
  const isLarge = isLargeBody(body);
  admitted.requestHash = hashed && !isLarge ? bodyHash(door.sentPart?.(body) ?? body) : null;
  const request = admitted.early?.request ?? ports.validator.validate(door, body, hashed);
  return isPending(request)
    ? openLarge(ports, arrival, admitted, request)
    : openRead(ports, arrival, admitted, request);
}

/** A large request is freed where the rest fails. */
async function openLarge(
  ports: PipelinePorts,
  arrival: Arrival,
  admitted: Admitted,
  reading: Promise<ChatRequest>,
): Promise<Exchange> {
  const request = await reading;
  admitted.requestHash ??= request.bodyHash ?? null;
  try {
    return await openRead(ports, arrival, admitted, request);
  } catch (error) {
    freeLargeParts(request);
    throw error;
  }
}

function openRead(
  ports: PipelinePorts,
  arrival: Arrival,
  admitted: Admitted,
  request: ChatRequest,
): MaybePromise<Exchange> {
  const { identity, early } = admitted;
  const { caller, notes } = arrival;
  if (admitted.endUser != null) checkEndUser(arrival.door.name, admitted.endUser);
  if (notes.bodyBytes <= countedWhileServedBytes) caller.releaseBody();
  const prepared = early?.exchangeOf(identity) ?? null;
  const exchange = prepared ?? prepareExchange(ports, arrival, identity, request);
  exchange.startedAtMs = admitted.startedAtMs;
  exchange.bodyMs = admitted.bodyMs;
  exchange.requestHash = admitted.requestHash;
  exchange.endUser = admitted.endUser ?? null;
  const taking = exchange.plan.hasOwn
    ? takeOwn(exchange, (isFirst) => takeFor(ports, exchange, isFirst && prepared ? early : null))
    : takeFor(ports, exchange, prepared && early);
  if (isPending(taking)) return taking.then(() => opened(arrival, exchange));
  return opened(arrival, exchange);
}

function opened({ notes }: Arrival, exchange: Exchange): Exchange {
  notes.exchange = exchange;
  return exchange;
}

/** Finds out what a request is about and what it may cost. Takes nothing. Every field is written out, because it is made for every request. */
export function prepareExchange(
  ports: PipelinePorts,
  { door, caller, requestId, notes }: Arrival,
  identity: Identity,
  request: ChatRequest,
): Exchange {
  const snapshot = ports.catalogue.current;
  if (!snapshot) throw gatewayError('service_unavailable');
  const { account } = identity;
  const { policy } = account;
  const projectPolicy = identity.project.policy;
  const preferences = wishesOf(request, snapshot);
  const plan = withOwn(ports, identity, resolveRequested(snapshot, account, request));
  checkKind(door, plan);
  const outOfScope = modelRefusal(identity.key, plan);
  if (outOfScope) throw outOfScope;
  applyStrictness(request, caller);
  const sentChain = resolveOwnChain(ports, snapshot, { identity, request }, plan);
  // Before the tokens are counted: in a fleet both questions then share a round trip.
  const remembered = plan.kind === 'pin' ? null : recallRoute(ports, { identity, request, preferences, caller }, plan);
  const promptEstimate = estimatePromptTokens(request);
  const createdAt = ports.clock.now();
  const moment = { atMs: createdAt, promptTokens: promptEstimate };
  const { territory } = caller.origin;
  const unpaid = unpaidBy(ports, identity);
  const asker = { identity, policy, projectPolicy, territory, moment, preferences, unpaid };
  const entries = sentChain ?? resolveSavedChain(snapshot, account);
  const hasOwn = account.credentials.length > 0;
  const chain = hasOwn && entries.length > 0 ? entries.map((entry) => withOwn(ports, identity, entry)) : entries;
  const { first: gated, others, refusal } = gateChain(ports, plan, chain, asker);
  const asked = { request, promptTokens: promptEstimate, atMs: createdAt };
  const counted = (routes: readonly Route[]) => (hasOwn ? countedRoutes(identity, routes) : routes);
  let costEstimatePico = estimateCost(counted(gated.eligible), asked);
  let holdsBalance = !hasOwn || usesOperators(gated.eligible);
  for (const { eligible } of others) {
    const cost = estimateCost(counted(eligible), asked);
    if (cost > costEstimatePico) costEstimatePico = cost;
    holdsBalance ||= usesOperators(eligible);
  }
  return {
    door,
    caller,
    requestId,
    generationId: generationId(createdAt),
    trail: notes.trail,
    identity,
    request,
    createdAt,
    snapshot,
    plan,
    chain,
    policy,
    projectPolicy,
    preferences,
    remembered,
    gated,
    promptEstimate,
    costEstimatePico,
    holdsBalance,
    unpaid,
    refusal,
    startedAtMs: 0,
    bodyMs: 0,
    requestHash: null,
    endUser: null,
    reservation: nothingReserved,
    hold: nothingHeld,
  };
}

const nothingReserved: Reservation = { correct: () => {}, keep: () => {}, cancel: () => {} };
const nothingHeld: SpendHold = { release: () => {} };

/** Reserves the tokens, then holds the estimated cost, unless that happened with the admission. A request that is refused holds nothing. */
function takeFor(ports: PipelinePorts, exchange: Exchange, early: EarlyChat | null): MaybePromise<void> {
  if (early?.refusal) throw early.refusal;
  const { identity, promptEstimate, reservation } = exchange;
  const taken = early ? reservation : ports.keyLimiter.takeTokens(identity, promptEstimate);
  if (isPending(taken)) return taken.then((tokens) => holdFor(ports, exchange, early, tokens));
  return holdFor(ports, exchange, early, taken);
}

function holdFor(
  { spend }: PipelinePorts,
  exchange: Exchange,
  early: EarlyChat | null,
  reservation: Reservation,
): MaybePromise<void> {
  exchange.reservation = reservation;
  if (exchange.refusal || early?.isHeld) return;
  const { identity, costEstimatePico, createdAt, holdsBalance } = exchange;
  try {
    const hold = early?.ask
      ? spend.takeAs(identity, early.ask, early.answer)
      : spend.take(identity, costEstimatePico, createdAt, holdsBalance);
    if (isPending(hold)) return holdLater(exchange, hold);
    exchange.hold = hold;
  } catch (error) {
    reservation.cancel();
    throw error;
  }
}

async function holdLater(exchange: Exchange, holding: Promise<SpendHold>): Promise<void> {
  try {
    exchange.hold = await holding;
  } catch (error) {
    exchange.reservation.cancel();
    throw error;
  }
}

/** The notes of a request that has just come. */
export function newNotes(): ChatNotes {
  return { bodyBytes: 0, exchange: null, trail: newTrail(), delivered: null };
}

/** Never added to. */
const none: never[] = [];

/** The trail of a request before its first attempt. */
export function newTrail(): Trail {
  return {
    attempts: none,
    providersAttempted: none,
    breakerSkipped: none,
    skipped: null,
    timedAttempts: none,
    plan: null,
    removed: [],
    answer: null,
    remembered: null,
    chainIndex: 0,
    upstreamMs: 0,
    dispatchedAtMs: null,
    reservedBytes: 0,
    chargedPico: 0n,
    owed: null,
    answeredAtMs: null,
    overheadMs: 0,
  };
}
