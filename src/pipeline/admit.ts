/** Stage 1: who is calling, from where, and may they (contract 5, checks 1, 2 and 4 to 8). Nothing here reads the body. */
import { checkTokenShape } from '../accounts/keys/token-shape.js';
import { keyExpired, verifyToken } from '../accounts/keys/verify-token.js';
import { usdText } from '../base/money.js';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';
import { type Pending, whenKnown } from '../shared-state/counters.js';
import type { Identity } from '../storage/records.js';
import { StoreUnavailable } from '../storage/store.js';
import type { Caller } from './caller.js';
import type { PipelinePorts } from './handover.js';

/** 32 MiB (contract 5, check 6). */
export const bodyBytesMax = 33_554_432;

type AdmitPorts = Pick<
  PipelinePorts,
  'clock' | 'directory' | 'expiredKeySeen' | 'territories' | 'ipLimiter' | 'keyLimiter'
>;

/** A known key is admitted without waiting for anything. */
export function admit(ports: AdmitPorts, caller: Caller): Pending<Identity> {
  // The dashboard has made checks 1 and 2 before it looked at the session.
  if (caller.identity) return countedAndChecked(ports, caller, caller.identity);
  const { territory, address } = caller.origin;
  ports.territories.checkCaller(territory);
  const counted = ports.ipLimiter.take(address);
  return counted instanceof Promise ? counted.then(() => authenticate(ports, caller)) : authenticate(ports, caller);
}

function authenticate(ports: AdmitPorts, caller: Caller): Pending<Identity> {
  const { token, keyId } = checkTokenShape(caller.authorization);
  const identity = ports.directory.cached(keyId);
  return identity ? checkIdentity(ports, caller, identity, token) : admitUnknown(ports, caller, keyId, token);
}

async function admitUnknown(ports: AdmitPorts, caller: Caller, keyId: string, token: string): Promise<Identity> {
  let identity: Identity | null;
  try {
    identity = await ports.directory.load(keyId);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    throw gatewayError('internal_server_error', {
      what: 'The key could not be looked up, because the store is out of reach.',
    });
  }
  if (!identity) throw gatewayError('api_key_not_registered');
  return checkIdentity(ports, caller, identity, token);
}

function checkIdentity(ports: AdmitPorts, caller: Caller, identity: Identity, token: string): Pending<Identity> {
  const { key } = identity;
  const now = ports.clock.now();
  if (key.hash !== null && keyExpired(key, now)) ports.expiredKeySeen();
  verifyToken(identity, token, now);
  caller.identity = identity;
  return countedAndChecked(ports, caller, identity);
}

function countedAndChecked(ports: AdmitPorts, caller: Caller, identity: Identity): Pending<Identity> {
  return whenKnown(ports.keyLimiter.countRequest(identity), (overLimit) =>
    checkAccount(ports, caller, identity, overLimit),
  );
}

/** A request counts from its key check on, but the limit's own refusal has its turn only at check 7. */
function checkAccount(
  { territories }: AdmitPorts,
  caller: Caller,
  identity: Identity,
  overLimit: GatewayError | null,
): Identity {
  const { account } = identity;
  territories.checkBillingCountry(account);
  if (account.status === 'suspended') throw gatewayError('account_suspended');
  if (caller.contentLength !== null && caller.contentLength > bodyBytesMax) {
    throw gatewayError('request_too_large', { limitBytes: bodyBytesMax, found: `${caller.contentLength} bytes` });
  }
  if (overLimit) throw overLimit;
  if (account.balancePico <= 0n) throw gatewayError('insufficient_credits', { balance: usdText(account.balancePico) });
  return identity;
}
