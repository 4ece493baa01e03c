/** The rule by which a balance or a cap admits a request, and the errors where it does not. */
import { type PicoUsd, usdText } from '../../base/money.js';
import type { ApiKey } from '../../domain/account.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';

/** What requests in flight hold. */
export interface InFlight {
  heldPico: PicoUsd;
  requests: number;
}

/** A request is admitted while something is left, and beside others only while more is left than they hold. */
export function hasRoom(leftPico: PicoUsd, { heldPico, requests }: InFlight): boolean {
  return leftPico > 0n && (requests === 0 || leftPico - heldPico > 0n);
}

export function balanceRefusal(balancePico: PicoUsd, { heldPico, requests }: InFlight): GatewayError {
  return gatewayError('insufficient_credits', { balance: usdText(balancePico), held: usdText(heldPico), requests });
}

export function capRefusal({ terms }: ApiKey, spentPico: PicoUsd, { heldPico }: InFlight): GatewayError {
  return gatewayError('key_limit_exceeded', {
    limit: usdText(terms.limitPico ?? 0n),
    used: usdText(spentPico),
    held: usdText(heldPico),
    resets: terms.limitReset,
  });
}
