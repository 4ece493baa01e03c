/** Stage 1: who is calling, from where, and may they. Nothing here reads the body. The control API uses the same checks. */

import { broughtTokenIn } from '../accounts/keys/brought-tokens.js';
import { addressRefusal, checkTokenShape, isHashDue, verifyToken } from '../accounts/keys/token.js';
import { andThen, isPending, type MaybePromise } from '../base/turn.js';
import type { Identity } from '../domain/account.js';
import type { Door } from '../doors/door.js';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';
import type { BodyMemory } from '../limits/body-memory.js';
import { StoreUnavailable } from '../storage/store.js';
import type { Territories } from '../territory/territories.js';
import type { Caller } from './caller.js';
import type { Arrival } from './handover.js';
import { mayUseOwn } from './own-credentials.js';
import type { Admission, EarlyTake, PipelinePorts } from './ports.js';

/** 32 MiB. */
export const bodyBytesMax = 33_554_432;

interface AccountPorts {
  territories: Pick<Territories, 'checkBillingCountry'>;
  bodyMemory: Pick<BodyMemory, 'check'>;
}

/**
 * Finds out who is calling, counts the request, and checks the account. A known key of a single process is admitted without waiting for
 * anything.
 */
export function admit(ports: PipelinePorts, arrival: Arrival, early: EarlyTake | null = null): MaybePromise<Identity> {
  const { caller } = arrival;
  let overLimit: MaybePromise<GatewayError | null>;
  // The dashboard has checked territory and address before it read the session.
  if (caller.identity) overLimit = ports.keyLimiter.countRequest(caller.identity);
  else {
    ports.territories.checkCaller(caller.origin.territory);
    overLimit = ports.admission.count(ports, arrival, early);
  }
  if (isPending(overLimit)) return overLimit.then((found) => checkCounted(ports, arrival, early, found));
  return checkCounted(ports, arrival, early, overLimit);
}

/** Of a process that is the only one. */
export const localAdmission: Admission = {
  takesEarly: false,
  count(ports, { caller, door }) {
    const { address } = caller.origin;
    const taking = ports.ipLimiter.take(address);
    const identity = isPending(taking)
      ? taking.then(() => identify(ports, authorizationOf(caller, door), address))
      : identify(ports, authorizationOf(caller, door), address);
    return isPending(identity)
      ? identity.then((found) => countIdentified(ports, caller, found))
      : countIdentified(ports, caller, identity);
  },
};

/** A request counts as soon as its key is verified, but the limit refuses it only after the checks of its account. */
function countIdentified(ports: PipelinePorts, caller: Caller, identity: Identity): MaybePromise<GatewayError | null> {
  caller.identity = identity;
  useFrom(ports, identity, caller.origin.address);
  return ports.keyLimiter.countRequest(identity);
}

function checkCounted(
  ports: PipelinePorts,
  { caller, door }: Arrival,
  early: EarlyTake | null,
  overLimit: GatewayError | null,
): MaybePromise<Identity> {
  const identity = caller.identity!;
  checkAccount(ports, identity, caller.contentLength, overLimit);
  return door.countsOnly ? identity : checkSpending(ports, identity, early);
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

/** What was held against its budgets and its cap already is not spent. */
function checkSpending({ spend }: PipelinePorts, identity: Identity, early: EarlyTake | null): MaybePromise<Identity> {
  // A request that an own credential may serve needs no balance, so it is looked at when the candidates are known.
  const refusal = mayUseOwn(identity) ? null : spend.spentBalance(identity.account);
  if (refusal !== null)
    return andThen(refusal, (error): Identity => {
      throw error;
    });
  if (early?.isHeld) return identity;
  const checking = spend.checkLimits(identity);
  return isPending(checking) ? checking.then(() => identity) : identity;
}

export type IdentifyPorts = Pick<PipelinePorts, 'clock' | 'expiry' | 'brought' | 'directory'>;

/** The account and key of a token. Throws a 401 where the token is malformed, unknown, expired or disabled. */
export function identify(
  ports: IdentifyPorts,
  authorization: string | undefined,
  address: string,
): MaybePromise<Identity> {
  const brought = ports.brought.any ? broughtTokenIn(authorization) : null;
  if (brought !== null) {
    return andThen(heldBrought(ports, brought) ?? lookUpBrought(ports, brought, address), (identity) => {
      verifyKey(ports, identity, brought);
      return identity;
    });
  }
  const { token, keyId } = checkTokenShape(authorization);
  const held = ports.directory.identities.cached(keyId);
  if (held === undefined) return lookUpAndVerify(ports, keyId, token);
  verifyKey(ports, held, token);
  return held;
}

async function lookUpAndVerify(ports: IdentifyPorts, keyId: string, token: string): Promise<Identity> {
  const identity = await lookUp(ports, keyId);
  verifyKey(ports, identity, token);
  return identity;
}

/** Throws api_key_not_registered. A store that is out of reach says nothing about the key, so that is a 500, never a 401. */
export async function lookUp({ directory }: IdentifyPorts, keyId: string): Promise<Identity> {
  let identity: Identity | null;
  try {
    identity = await directory.identities.load(keyId);
  } catch (error) {
    throw outOfReach(error);
  }
  if (!identity) throw gatewayError('api_key_not_registered');
  return identity;
}

function heldBrought({ brought, directory }: IdentifyPorts, token: string): Identity | undefined {
  const keyId = brought.idOf(token);
  return keyId === undefined ? undefined : directory.identities.cached(keyId);
}

/**
 * The identity of a token of another system. Throws api_key_malformed where no key has it: by its shape it is no key of ours. An address
 * that tries too many gets the limit of addresses instead.
 */
export async function lookUpBrought(
  { brought, directory }: IdentifyPorts,
  token: string,
  address: string,
): Promise<Identity> {
  try {
    const known = brought.idOf(token);
    const held = known === undefined ? null : await directory.identities.load(known);
    if (held?.key.hash) return held;
    // The key is gone. Another one may have come with the same token.
    brought.forget(token);
    const keyId = await brought.find(token);
    const found = keyId === null ? null : await directory.identities.load(keyId);
    if (found?.key.hash) return found;
  } catch (error) {
    throw outOfReach(error);
  }
  const refusal = await brought.countGuess(address);
  if (refusal) throw refusal;
  checkTokenShape(`Bearer ${token}`);
  throw gatewayError('api_key_not_registered');
}

function outOfReach(error: unknown): unknown {
  if (!(error instanceof StoreUnavailable)) return error;
  return gatewayError('internal_server_error', {
    what: 'The key could not be looked up, because the store is out of reach.',
  });
}

/** Throws api_key_expired, api_key_not_registered or api_key_disabled. */
export function verifyKey({ clock, expiry }: IdentifyPorts, identity: Identity, token: string): void {
  const { key } = identity;
  const now = clock.now();
  // The hash of an expired key is to be erased.
  if (isHashDue(key, now)) expiry.noteExpiredKey();
  verifyToken(identity, token, now);
}

/** The key as an `Authorization` header, whichever header of the door carries it. */
export function authorizationOf(caller: Caller, { keyHeader }: Pick<Door, 'keyHeader'>): string | undefined {
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
export function useFrom({ directory, clock }: IdentifyPorts, { key }: Identity, address: string): void {
  const refusal = addressRefusal(key, address);
  if (refusal) throw refusal;
  directory.uses.note(key.id, clock.now());
}
