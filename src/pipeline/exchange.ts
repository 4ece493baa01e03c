/**
 * Opens the exchange of an admitted caller: runs validate, resolve and gate, estimates what the request may cost, and takes its tokens and
 * the hold on the balance.
 */
import { modelRefusal } from '../accounts/keys/key-scope.js';
import type { SpendHold } from '../accounts/spending/spend-holds.js';
import { generationId } from '../base/ids.js';
import { andThen, type MaybePromise, undoOnFailure } from '../base/maybe-promise.js';
import type { Identity } from '../domain/account.js';
import type { Door } from '../doors/door.js';
import { checkEndUser, endUserIn } from '../doors/end-user.js';
import { gatewayError } from '../errors/gateway-error.js';
import { bodyHash } from '../proof/proof-facts.js';
import type { ChatRequest } from '../wire/chat-request.js';
import type { Caller } from './caller.js';
import type { EarlyChat } from './early-chat.js';
import { estimateCost, estimatePromptTokens } from './estimate.js';
import { gateChain } from './gate.js';
import type { ChatNotes, Exchange, Opening, PipelinePorts } from './handover.js';
import { checkKind, resolveOwnChain, resolveRequested, resolveSavedChain } from './resolve.js';
import { recallStay } from './sticky.js';
import { applyStrictness, checkContentType, freeLargeParts, isLargeBody } from './validate.js';
import { wishesOf } from './wishes.js';

export interface Arrival {
  readonly door: Door;
  readonly caller: Caller;
  readonly requestId: string;
  /** Filled as the request proceeds, for metrics, traces and the log. */
  readonly notes: ChatNotes;
}

/** An admitted caller, and when it came. */
interface Admitted {
  readonly identity: Identity;
  readonly startedAtMs: number;
  /** null where nothing was read before the admission. */
  readonly early: EarlyChat | null;
}

/** A larger body counts as held until its request is over, because the walk keeps it and a few of them fill the memory. */
const countedWhileServedBytes = 1024 * 1024;

/**
 * Reads the body of an admitted caller, checks it, finds out what it is about, and takes its tokens and the hold on the balance.
 * What an early chat of a fleet did before the admission is not done again.
 */
export function openExchange(
  ports: PipelinePorts,
  arrival: Arrival,
  { identity, startedAtMs, early }: Admitted,
): MaybePromise<Exchange> {
  const { door, caller, notes } = arrival;
  checkContentType(caller.contentType);
  const waitingFromMs = ports.clock.monotonicMs();
  return andThen(caller.readBody(ports.bodyMemory.open(identity.account.id)), (body) => {
    const bodyMs = ports.clock.monotonicMs() - waitingFromMs;
    notes.bodyBytes = body.length;
    const hashed = ports.proof?.hashBodies === true;
    const isLarge = isLargeBody(body);
    // Before the body may move to another thread.
    const endUser = identity.account.recordEndUsers ? endUserIn(door.name, body) : null;
    const ownHash = hashed && !isLarge ? bodyHash(door.sentPart?.(body) ?? body) : null;
    return andThen(early?.request ?? ports.validator.validate(door, body, hashed), (request) => {
      checkEndUser(door.name, endUser);
      if (notes.bodyBytes <= countedWhileServedBytes) caller.releaseBody();
      const requestHash = ownHash ?? request.bodyHash ?? null;
      const read = { identity, request, startedAtMs, bodyMs, requestHash, endUser };
      if (!isLarge) return openRead(ports, arrival, read, early);
      return undoOnFailure(
        () => openRead(ports, arrival, read, early),
        () => freeLargeParts(request),
      );
    });
  });
}

/** A request that was read. */
interface ReadRequest {
  readonly identity: Identity;
  readonly request: ChatRequest;
  readonly startedAtMs: number;
  readonly bodyMs: number;
  readonly requestHash: string | null;
  readonly endUser: string | null;
}

function openRead(
  ports: PipelinePorts,
  arrival: Arrival,
  { identity, request, startedAtMs, bodyMs, requestHash, endUser }: ReadRequest,
  early: Admitted['early'],
): MaybePromise<Exchange> {
  const prepared = early?.take(identity);
  const opening = prepared?.opening ?? prepareOpening(ports, arrival, identity, request);
  return andThen(takeFor(ports, opening, prepared ?? null), ({ reservation, hold }) => {
    const exchange = exchangeOf(arrival, opening, { startedAtMs, bodyMs, requestHash, endUser, reservation, hold });
    arrival.notes.exchange = exchange;
    return exchange;
  });
}

/** Finds out what a request is about and what it may cost. Takes nothing. */
export function prepareOpening(
  ports: PipelinePorts,
  { door, caller }: Arrival,
  identity: Identity,
  request: ChatRequest,
): Opening {
  const snapshot = ports.catalogue.current;
  if (!snapshot) throw gatewayError('service_unavailable');
  const { account } = identity;
  const { policy } = account;
  const projectPolicy = identity.project.policy;
  const preferences = wishesOf(request, snapshot);
  const plan = resolveRequested(snapshot, account, request);
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
  const asker = { identity, policy, projectPolicy, territory: caller.origin.territory, moment, preferences };
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
    chain,
    policy,
    projectPolicy,
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
  { identity, promptEstimate, costEstimatePico, createdAt, refusal }: Opening,
  prepared: ReturnType<EarlyChat['take']>,
): MaybePromise<Pick<Exchange, 'reservation' | 'hold'>> {
  const reserving = prepared
    ? keyLimiter.reserve(identity, promptEstimate, prepared.taken.tokens, prepared.ofProject)
    : keyLimiter.takeTokens(identity, promptEstimate);
  return andThen(reserving, (reservation) =>
    undoOnFailure(
      () => {
        if (refusal) return { reservation, hold: nothingHeld };
        const holding = prepared?.spendAsk
          ? spend.takeAs(identity, prepared.spendAsk, prepared.taken.spend)
          : spend.take(identity, costEstimatePico, createdAt);
        return andThen(holding, (hold) => ({ reservation, hold }));
      },
      () => reservation.cancel(),
    ),
  );
}

/** One object for all stages. Every field is written out, because it is made for every request. */
function exchangeOf(
  { door, caller, requestId, notes }: Arrival,
  opening: Opening,
  more: Pick<Exchange, 'startedAtMs' | 'bodyMs' | 'requestHash' | 'endUser' | 'reservation' | 'hold'>,
): Exchange {
  const { identity, request, snapshot, plan, chain, policy, projectPolicy, preferences, stay, gated } = opening;
  const { promptEstimate, createdAt, costEstimatePico, refusal } = opening;
  return {
    door,
    caller,
    requestId,
    generationId: generationId(createdAt),
    createdAt,
    startedAtMs: more.startedAtMs,
    bodyMs: more.bodyMs,
    requestHash: more.requestHash,
    endUser: more.endUser,
    identity,
    request,
    snapshot,
    plan,
    chain,
    policy,
    projectPolicy,
    preferences,
    stay,
    gated,
    promptEstimate,
    costEstimatePico,
    refusal,
    reservation: more.reservation,
    hold: more.hold,
    trail: notes.trail,
  };
}
