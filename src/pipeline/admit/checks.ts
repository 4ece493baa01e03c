/** The checks of an admission that are the same however the key was found: the token, the account, the count (checks 4 to 8). */
import { keyExpired, verifyToken } from '../../accounts/keys/verify-token.js';
import { usdText } from '../../base/money.js';
import { type Pending, whenKnown } from '../../cluster/ports.js';
import type { Identity } from '../../domain/account.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { StoreUnavailable } from '../../storage/store.js';
import type { Caller } from '../caller.js';
import type { PipelinePorts } from '../handover.js';

/** 32 MiB. */
export const bodyBytesMax = 33_554_432;

export type AdmitPorts = Pick<
  PipelinePorts,
  'clock' | 'directory' | 'expiredKeySeen' | 'territories' | 'ipLimiter' | 'keyLimiter' | 'bodyMemory' | 'fleet'
>;

/** Throws api_key_not_registered; where it cannot be found out, 500 and never 401. */
export async function lookedUp(ports: AdmitPorts, keyId: string): Promise<Identity> {
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
  return identity;
}

/** Throws api_key_expired or api_key_not_registered; from here on the caller is known. */
export function verified(ports: AdmitPorts, caller: Caller, identity: Identity, token: string): void {
  const { key } = identity;
  const now = ports.clock.now();
  if (key.hash !== null && keyExpired(key, now)) ports.expiredKeySeen();
  verifyToken(identity, token, now);
  caller.identity = identity;
}

export function countedAndChecked(ports: AdmitPorts, caller: Caller, identity: Identity): Pending<Identity> {
  return whenKnown(ports.keyLimiter.countRequest(identity), (overLimit) =>
    checkAccount(ports, caller, identity, overLimit),
  );
}

/** A request counts from its key check on, but the limit's own refusal has its turn only at check 7. */
export function checkAccount(
  { territories, bodyMemory }: AdmitPorts,
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
  bodyMemory.check(account.id, caller.contentLength);
  if (overLimit) throw overLimit;
  if (account.balancePico <= 0n) throw gatewayError('insufficient_credits', { balance: usdText(account.balancePico) });
  return identity;
}
