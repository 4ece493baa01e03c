/** Stage 1: who is calling, from where, and may they (contract 5, checks 1, 2 and 4 to 8). Nothing here reads the body. */
import { checkTokenShape } from '../accounts/keys/token-shape.js';
import type { Pending } from '../cluster/ports.js';
import type { Identity } from '../domain/account.js';
import { type AdmitPorts, countedAndChecked, lookedUp, verified } from './admit/checks.js';
import { admitInFleet } from './admit/in-fleet.js';
import type { Caller } from './caller.js';

/** A known key is admitted without waiting for anything. */
export function admit(ports: AdmitPorts, caller: Caller): Pending<Identity> {
  // The dashboard has made checks 1 and 2 before it looked at the session.
  if (caller.identity) return countedAndChecked(ports, caller, caller.identity);
  const { territory, address } = caller.origin;
  ports.territories.checkCaller(territory);
  if (ports.fleet) return admitInFleet(ports, ports.fleet, caller);
  const counted = ports.ipLimiter.take(address);
  return counted instanceof Promise ? counted.then(() => authenticate(ports, caller)) : authenticate(ports, caller);
}

function authenticate(ports: AdmitPorts, caller: Caller): Pending<Identity> {
  const { token, keyId } = checkTokenShape(caller.authorization);
  const identity = ports.directory.cached(keyId);
  return identity ? checkIdentity(ports, caller, identity, token) : admitUnknown(ports, caller, keyId, token);
}

async function admitUnknown(ports: AdmitPorts, caller: Caller, keyId: string, token: string): Promise<Identity> {
  return checkIdentity(ports, caller, await lookedUp(ports, keyId), token);
}

function checkIdentity(ports: AdmitPorts, caller: Caller, identity: Identity, token: string): Pending<Identity> {
  verified(ports, caller, identity, token);
  return countedAndChecked(ports, caller, identity);
}
