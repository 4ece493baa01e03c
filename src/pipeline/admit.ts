/** Stage 1: who is calling, from where, and may they. Nothing here reads the body. The control API uses the same checks. */

import { andThen, isPending, type MaybePromise } from '../base/turn.js';
import type { Identity } from '../domain/account.js';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';
import type { BodyMemory } from '../limits/body-memory.js';
import type { Territories } from '../territory/territories.js';
import type { Caller } from './caller.js';
import type { Arrival } from './handover.js';
import { authorizationOf, identify, useFrom } from './identify.js';
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
