/** Stage 1: who is calling, from where, and may they. Nothing here reads the body. The control API uses the same checks. */

import { broughtTokenIn } from '../accounts/keys/brought-tokens.js';
import { addressRefusal, checkTokenShape, isTokenValid, type PresentedToken } from '../accounts/keys/token.js';
import { andThen, isPending, type MaybePromise } from '../base/turn.js';
import type { ChatAsk, ChatTaken, Counted, KeyAsk, Take } from '../cluster/ports.js';
import type { Identity } from '../domain/account.js';
import type { Door } from '../doors/door.js';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';
import type { HeldIdentity } from '../fleet/fleet-identities.js';
import type { BodyMemory } from '../limits/body-memory.js';
import { ipRateLimited, keyRateLimited, peerOf } from '../limits/rate-limits.js';
import type { Territories } from '../territory/territories.js';
import type { Caller } from './caller.js';
import { type IdentifyPorts, identify, lookUp, lookUpBrought, verifyKey } from './identify.js';
import { mayUseOwn } from './own-credentials.js';
import type { PipelinePorts } from './ports.js';

/** 32 MiB. */
export const bodyBytesMax = 33_554_432;

interface AccountPorts {
  territories: Pick<Territories, 'checkBillingCountry'>;
  bodyMemory: Pick<BodyMemory, 'check'>;
}

type AdmitPorts = IdentifyPorts &
  Pick<PipelinePorts, 'territories' | 'ipLimiter' | 'keyLimiter' | 'bodyMemory' | 'fleet'> & {
    spend: Pick<PipelinePorts['spend'], 'checkLimits' | 'spentBalance'>;
  };

/** What a request takes in the round trip of its admission, where its body is there already. */
interface EarlyAsk {
  prepare(identity: Identity): Omit<ChatAsk, 'keyVersion' | 'accountVersion'> | null;
  answered(taken: ChatTaken | null): Promise<void> | null;
}

/** A known key is admitted without waiting for anything. Sets the caller's identity as soon as its key is found good. */
export function admit(
  ports: AdmitPorts,
  caller: Caller,
  door: AdmittingDoor = {},
  early?: EarlyAsk,
): MaybePromise<Identity> {
  // The dashboard has checked territory and address before it read the session.
  if (caller.identity) return countAndCheck(ports, caller, door);
  const { territory, address } = caller.origin;
  ports.territories.checkCaller(territory);
  if (ports.fleet) return admitInFleet(ports, ports.fleet, { caller, door, early });
  const taking = ports.ipLimiter.take(address);
  if (isPending(taking)) return taking.then(() => identifyCaller(ports, caller, door));
  return identifyCaller(ports, caller, door);
}

function identifyCaller(ports: AdmitPorts, caller: Caller, door: AdmittingDoor): MaybePromise<Identity> {
  const identity = identify(ports, authorizationOf(caller, door), caller.origin.address);
  return isPending(identity)
    ? identity.then((found) => admitIdentified(ports, caller, found, door))
    : admitIdentified(ports, caller, identity, door);
}

function admitIdentified(
  ports: AdmitPorts,
  caller: Caller,
  identity: Identity,
  door: AdmittingDoor,
): MaybePromise<Identity> {
  caller.identity = identity;
  useFrom(ports, identity, caller.origin.address);
  return countAndCheck(ports, caller, door);
}

type AdmittingDoor = Pick<Door, 'keyHeader' | 'countsOnly'>;

/** The key as an `Authorization` header, whichever header of the door carries it. */
function authorizationOf(caller: Caller, { keyHeader }: AdmittingDoor): string | undefined {
  const { authorization } = caller;
  const key = keyHeader === undefined ? undefined : caller.header(keyHeader);
  if (key === undefined) return authorization;
  const asBearer = `Bearer ${key}`;
  if (authorization !== undefined && authorization !== asBearer) {
    throw gatewayError('api_key_malformed', {
      reason: `the headers Authorization and ${keyHeader} carry different keys`,
    });
  }
  return asBearer;
}

/** Before the request counts: a stolen key that is used from elsewhere must not use up the limits of its owner. */
function useFrom({ directory, clock }: AdmitPorts, { key }: Identity, address: string): void {
  const refusal = addressRefusal(key, address);
  if (refusal) throw refusal;
  directory.noteUse(key.id, clock.now());
}

/** A request counts as soon as its key is verified, but the limit refuses it only after the checks of its account. */
function countAndCheck(ports: AdmitPorts, caller: Caller, door: AdmittingDoor): MaybePromise<Identity> {
  const overLimit = ports.keyLimiter.countRequest(caller.identity!);
  if (isPending(overLimit)) return overLimit.then((found) => checkCounted(ports, caller, door, found));
  return checkCounted(ports, caller, door, overLimit);
}

function checkCounted(
  ports: AdmitPorts,
  caller: Caller,
  door: AdmittingDoor,
  overLimit: GatewayError | null,
): MaybePromise<Identity> {
  const identity = caller.identity!;
  checkAccount(ports, identity, caller.contentLength, overLimit);
  return checkSpending(ports, identity, door);
}

/** `contentLength` is null where the body's length is not known. `overLimit` is the refusal of the key's request limit. */
export function checkAccount(
  { territories, bodyMemory }: AccountPorts,
  { account }: Identity,
  contentLength: number | null,
  overLimit: GatewayError | null,
): void {
  territories.checkBillingCountry(account);
  if (account.status === 'suspended') throw gatewayError('account_suspended');
  checkBodyLength(bodyMemory, account.id, contentLength);
  if (overLimit) throw overLimit;
}

/** `owner` is the account that sends the body, or a name for all senders without one. */
export function checkBodyLength(bodyMemory: AccountPorts['bodyMemory'], owner: string, length: number | null): void {
  if (length !== null && length > bodyBytesMax) throw bodyTooLarge(`${length} bytes`);
  bodyMemory.check(owner, length);
}

export function bodyTooLarge(found: string): GatewayError {
  return gatewayError('request_too_large', { limitBytes: bodyBytesMax, found });
}

/** `isHeld`: the request was held against its budgets and its cap already, which therefore are not spent. */
function checkSpending(
  { spend }: AdmitPorts,
  identity: Identity,
  { countsOnly }: AdmittingDoor,
  isHeld = false,
): MaybePromise<Identity> {
  if (countsOnly) return identity;
  // A request that an own credential may serve needs no balance, so it is looked at when the candidates are known.
  const refusal = mayUseOwn(identity) ? null : spend.spentBalance(identity.account);
  if (refusal !== null)
    return andThen(refusal, (error): Identity => {
      throw error;
    });
  if (isHeld) return identity;
  const checking = spend.checkLimits(identity);
  return isPending(checking) ? checking.then(() => identity) : identity;
}

/**
 * The same in one of many processes. One round trip to shared state brings the counts and the versions of the key and the account;
 * what is held in memory is used only where the versions match. Where shared state is out of reach, the store is read instead, and
 * the limits are those of this process alone.
 */
async function admitInFleet(
  ports: AdmitPorts,
  fleet: NonNullable<PipelinePorts['fleet']>,
  { caller, door, early }: { caller: Caller; door: AdmittingDoor; early: EarlyAsk | undefined },
): Promise<Identity> {
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
  const joining = early?.answered(answer?.chat ?? null);
  if (joining) await joining;
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
  if (!answer?.request) return countAndCheck(ports, caller, door);
  const overLimit = await overLimitOf(
    ports,
    identity,
    answer.request,
    current ? ofProject : countAgain(ports, identity, ofProject),
  );
  checkAccount(ports, identity, caller.contentLength, overLimit);
  return checkSpending(ports, identity, door, answer.chat?.spend?.kind === 'held');
}

/** The limit of the address comes before a malformed token, so the fault is kept for later. */
function presentedToken({ brought }: AdmitPorts, caller: Caller, door: AdmittingDoor): Presented {
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
  { keyLimiter }: AdmitPorts,
  held: HeldIdentity,
  early: EarlyAsk | undefined,
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
  { keyLimiter }: AdmitPorts,
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
  { keyLimiter }: AdmitPorts,
  identity: Identity,
  ofProject: MaybePromise<Take> | null,
): MaybePromise<Take> | null {
  giveBack(ofProject);
  return keyLimiter.countForProject(identity);
}

function giveBack(taken: MaybePromise<Take> | null): void {
  if (taken !== null) void andThen(taken, (take) => (take.admitted ? take.adjust(-1) : undefined));
}
