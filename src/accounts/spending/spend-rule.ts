/** The rule by which a balance or a cap admits a request, and the errors where it does not. */
import { type PicoUsd, parseUsd, usdText } from '../../base/money.js';
import type { Account, ApiKey } from '../../domain/account.js';
import { GatewayError, gatewayError } from '../../errors/gateway-error.js';

/** What requests in flight hold. */
export interface InFlight {
  heldPico: PicoUsd;
  requests: number;
}

/** A request is admitted while something is left, and beside others only while more is left than they hold. */
export function hasRoom(leftPico: PicoUsd, { heldPico, requests }: InFlight): boolean {
  return leftPico > 0n && (requests === 0 || leftPico - heldPico > 0n);
}

/** The refusal of an account whose balance and credit limit are spent; null where something is left. */
export function spentBalanceRefusal({ balancePico, creditLimitPico }: Account): GatewayError | null {
  if (balancePico + creditLimitPico > 0n) return null;
  return gatewayError('insufficient_credits', { balance: usdText(balancePico) });
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

/** Whether an error is the refusal of a cap of which something is left, so that only requests in flight are in the way. */
export function isHeldCap(error: unknown): boolean {
  if (!(error instanceof GatewayError) || error.condition !== 'key_limit_exceeded') return false;
  const { limit, used } = error.values as { limit: string; used: string };
  return parseUsd(used)! < parseUsd(limit)!;
}
