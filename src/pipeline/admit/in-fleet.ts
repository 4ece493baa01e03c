/** The admission in one of many processes: one round trip to shared state says whether what is held in memory is still true. */
import { checkTokenShape, type PresentedToken } from '../../accounts/keys/token-shape.js';
import { isTokenValid } from '../../accounts/keys/verify-token.js';
import type { Counted, Pending } from '../../cluster/ports.js';
import type { Identity } from '../../domain/account.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import { peerOf } from '../../limits/ip-limiter.js';
import { ipRateLimited, keyRateLimited } from '../../limits/refusals.js';
import type { Caller } from '../caller.js';
import type { PipelinePorts } from '../handover.js';
import { type AdmitPorts, checkAccount, countedAndChecked, lookedUp, verified } from './checks.js';

type FleetPort = NonNullable<PipelinePorts['fleet']>;

/**
 * Counts and versions come together, and what is held is used only where the versions are still those.
 * Where shared state is out of reach the store is read instead, and the limits are this process's own.
 */
export async function admitInFleet(ports: AdmitPorts, fleet: FleetPort, caller: Caller): Promise<Identity> {
  const { shown, fault } = shownToken(caller);
  const held = shown && fleet.identities.held(shown.keyId);
  const good = held && isTokenValid(held.identity, shown.token, ports.clock.now()) ? held : undefined;
  const { address } = caller.origin;
  const peer = { name: peerOf(address), limit: ports.ipLimiter.requestsPerMinute };
  const answer = await fleet.admission.ask({ peer, key: good ? keyAsk(ports, good.identity) : null });
  if (!answer) await Promise.all([ports.ipLimiter.take(address), fleet.states.now()]);
  else if (!answer.peer!.admitted) throw ipRateLimited(peer.limit, answer.peer!.resetMs);
  else await fleet.states.upTo(answer.statesVersion, answer.catalogueVersion);
  if (!shown) throw fault;
  const current = good && answer?.keyVersion === good.version && answer.accountVersion === good.accountVersion;
  const identity = current ? good.identity : await lookedUp(ports, shown.keyId);
  verified(ports, caller, identity, shown.token);
  if (!answer?.request) return countedAndChecked(ports, caller, identity);
  return checkAccount(ports, caller, identity, await overLimitOf(ports, identity, answer.request));
}

function shownToken({ authorization }: Caller): { shown?: PresentedToken; fault?: unknown } {
  try {
    return { shown: checkTokenShape(authorization) };
  } catch (fault) {
    // The address's own limit comes first.
    return { fault };
  }
}

const keyAsk = ({ keyLimiter }: AdmitPorts, { key, account }: Identity) => ({
  id: key.id,
  accountId: account.id,
  limit: keyLimiter.requestLimitOf(account),
});

/** By the limit that is in force now, which may be another than the one that the request was counted under. */
function overLimitOf(
  { keyLimiter }: AdmitPorts,
  identity: Identity,
  { admitted, used, resetMs }: Counted,
): Pending<GatewayError | null> {
  const limit = keyLimiter.requestLimitOf(identity.account);
  if (!admitted) return used < limit ? keyLimiter.countRequest(identity) : keyRateLimited('requests', limit, resetMs);
  return used > limit && used > 1 ? keyRateLimited('requests', limit, resetMs) : null;
}
