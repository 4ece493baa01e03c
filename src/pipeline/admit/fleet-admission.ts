/**
 * Admits a request in one of many processes. One round trip to the state that they share brings the counts and the versions of the key and
 * the account; what is held in memory is used only where the versions match. Where the shared state is out of reach, the store is read
 * instead, and the limits are those of this process alone.
 */
import { broughtTokenIn } from '../../accounts/keys/brought-tokens.js';
import { addressRefusal, checkTokenShape, isTokenValid, type PresentedToken } from '../../accounts/keys/token.js';
import { andThen, isPending, type MaybePromise } from '../../base/turn.js';
import type { Counted, KeyAsk, Take } from '../../cluster/ports.js';
import type { Identity } from '../../domain/account.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import type { Fleet } from '../../fleet/fleet.js';
import type { HeldIdentity } from '../../fleet/fleet-identities.js';
import { ipRateLimited, keyRateLimited, peerOf } from '../../limits/rate-limits.js';
import { authorizationOf, lookUp, lookUpBrought, useFrom, verifyKey } from '../admit.js';
import type { Arrival } from '../handover.js';
import type { Admission, EarlyTake, PipelinePorts } from '../ports.js';

type AdmittingFleet = Pick<Fleet, 'admission' | 'identities' | 'states'>;

export function fleetAdmission(fleet: AdmittingFleet): Admission {
  return { takesEarly: true, count: (ports, arrival, early) => countInFleet(ports, fleet, arrival, early) };
}

async function countInFleet(
  ports: PipelinePorts,
  fleet: AdmittingFleet,
  { caller, door }: Arrival,
  early: EarlyTake | null,
): Promise<GatewayError | null> {
  const { presented, brought, fault } = presentedToken(ports, caller, door);
  const held = presented && fleet.identities.held(presented.keyId);
  const good = held && isTokenValid(held.identity, presented.token, ports.clock.now()) ? held : undefined;
  const { address } = caller.origin;
  const peer = { name: peerOf(address), limit: ports.ipLimiter.requestsPerMinute };
  const counts = good && addressRefusal(good.identity.key, address) === null;
  // In the same turn, so that both questions share a round trip.
  const ofProject = counts ? ports.keyLimiter.countForProject(good.identity) : null;
  const key = counts ? keyAsk(ports, good, early, ofProject !== null) : null;
  const answer = await fleet.admission.ask({ peer, key });
  const taking = early?.take(answer?.chat ?? null);
  if (isPending(taking)) await taking;
  if (!answer?.request) giveBack(ofProject);
  if (!answer) await Promise.all([ports.ipLimiter.take(address), fleet.states.now()]);
  else if (!answer.peer!.admitted) throw ipRateLimited(peer.limit, answer.peer!.resetMs);
  else await fleet.states.upTo(answer.statesVersion, answer.catalogueVersion);
  const isBrought = brought !== undefined && ports.brought.any;
  if (!presented && !isBrought) throw fault;
  const current = good && answer?.keyVersion === good.version && answer.accountVersion === good.accountVersion;
  const identity = current
    ? good.identity
    : await (isBrought ? lookUpBrought(ports, brought, address) : lookUp(ports, presented!.keyId));
  verifyKey(ports, identity, brought ?? presented!.token);
  caller.identity = identity;
  useFrom(ports, identity, address);
  if (!answer?.request) return ports.keyLimiter.countRequest(identity);
  const project = current ? ofProject : countAgain(ports, identity, ofProject);
  return overLimitOf(ports, identity, answer.request, project);
}

/** The limit of the address comes before a malformed token, so the fault is kept for later. */
function presentedToken({ brought }: PipelinePorts, caller: Arrival['caller'], door: Arrival['door']): Presented {
  let authorization: string | undefined;
  try {
    authorization = authorizationOf(caller, door);
    return { presented: checkTokenShape(authorization) };
  } catch (fault) {
    const token = broughtTokenIn(authorization);
    if (token === null) return { fault };
    const keyId = brought.idOf(token);
    return { brought: token, fault, ...(keyId !== undefined && { presented: { token, keyId } }) };
  }
}

interface Presented {
  readonly presented?: PresentedToken;
  /** A token of another system. Its key may not be known yet. */
  readonly brought?: string;
  readonly fault?: unknown;
}

function keyAsk(
  { keyLimiter }: PipelinePorts,
  held: HeldIdentity,
  early: EarlyTake | null,
  mayGiveBack: boolean,
): KeyAsk {
  const { identity, version: keyVersion, accountVersion } = held;
  const chat = early?.prepare(identity) ?? null;
  return {
    id: identity.key.id,
    accountId: identity.account.id,
    limit: keyLimiter.requestLimitOf(identity),
    mayGiveBack,
    chat: chat && { ...chat, keyVersion, accountVersion },
  };
}

/** By the limit that is in force now, which may differ from the one that the request was counted under. */
function overLimitOf(
  { keyLimiter }: PipelinePorts,
  identity: Identity,
  counted: Counted,
  ofProject: MaybePromise<Take> | null,
): MaybePromise<GatewayError | null> {
  const { admitted, used, resetMs } = counted;
  const limit = keyLimiter.requestLimitOf(identity);
  if (!admitted && used < limit) {
    giveBack(ofProject);
    return keyLimiter.countRequest(identity);
  }
  const refusal = !admitted || (used > limit && used > 1) ? keyRateLimited('requests', limit, resetMs) : null;
  if (ofProject === null) return refusal;
  return keyLimiter.requestRefusal(identity, refusal, { own: counted, shared: ofProject, requests: 1 });
}

/** The project was counted under limits that memory held, and the limits may be others now. */
function countAgain(
  { keyLimiter }: PipelinePorts,
  identity: Identity,
  ofProject: MaybePromise<Take> | null,
): MaybePromise<Take> | null {
  giveBack(ofProject);
  return keyLimiter.countForProject(identity);
}

function giveBack(taken: MaybePromise<Take> | null): void {
  if (taken !== null) void andThen(taken, (take) => (take.admitted ? take.adjust(-1) : undefined));
}
