/** Stage 1: who is calling, and may they (contract 5, checks 4 to 8). Nothing here reads the body. */
import { checkTokenShape } from '../accounts/keys/token-shape.js';
import { keyExpired, verifyToken } from '../accounts/keys/verify-token.js';
import { usdText } from '../base/money.js';
import { gatewayError } from '../errors/gateway-error.js';
import type { Identity } from '../storage/records.js';
import { StoreUnavailable } from '../storage/store.js';
import type { Caller } from './caller.js';
import type { PipelinePorts } from './handover.js';

/** 32 MiB (contract 5, check 6). */
export const bodyBytesMax = 33_554_432;

type AdmitPorts = Pick<PipelinePorts, 'clock' | 'directory' | 'expiredKeySeen'>;

/** A known key is admitted without waiting for anything. */
export function admit(ports: AdmitPorts, caller: Caller): Identity | Promise<Identity> {
  const { token, keyId } = checkTokenShape(caller.authorization);
  const identity = ports.directory.cached(keyId);
  return identity ? checkCaller(ports, caller, identity, token) : admitUnknown(ports, caller, keyId, token);
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
  return checkCaller(ports, caller, identity, token);
}

function checkCaller(ports: AdmitPorts, caller: Caller, identity: Identity, token: string): Identity {
  const { key, account } = identity;
  const now = ports.clock.now();
  if (key.hash !== null && keyExpired(key, now)) ports.expiredKeySeen();
  verifyToken(identity, token, now);
  if (account.status === 'suspended') throw gatewayError('account_suspended');
  if (caller.contentLength !== null && caller.contentLength > bodyBytesMax) {
    throw gatewayError('request_too_large', { limitBytes: bodyBytesMax, found: `${caller.contentLength} bytes` });
  }
  if (account.balancePico <= 0n) throw gatewayError('insufficient_credits', { balance: usdText(account.balancePico) });
  return identity;
}
