/**
 * The primary id and then, entry by entry, its fallback chain. One way for the real walk and for its
 * explanation, so that the two cannot come apart.
 */
import type { GatewayError } from '../errors/gateway-error.js';
import type { Plan } from './handover.js';

export interface EntryFailure {
  readonly kind: 'failed';
  readonly error: GatewayError;
}

/** The chain is asked for only when it is needed. */
export async function alongChain<Outcome extends { kind: string }>(
  primary: Plan,
  chainOf: () => readonly Plan[],
  enter: (plan: Plan, place: number) => Promise<Outcome | EntryFailure>,
): Promise<Outcome | EntryFailure> {
  let outcome = await enter(primary, 0);
  if (!isFailure(outcome) || !goesOn(outcome.error)) return outcome;
  let place = 0;
  for (const entry of chainOf()) {
    const entered = await enter(entry, ++place);
    if (isFailure(entered) && passedOver(entered.error)) continue;
    outcome = entered;
    if (!isFailure(entered) || !goesOn(entered.error)) return entered;
  }
  return outcome;
}

function isFailure(outcome: { kind: string }): outcome is EntryFailure {
  return outcome.kind === 'failed';
}

/** After a 503 or 504 of ours, never after a 4xx. */
function goesOn({ status }: GatewayError): boolean {
  return status === 503 || status === 504;
}

/**
 * An entry that was stopped before anybody was asked (policy, territory, a model withdrawn since, a parameter that no route of
 * it can apply) is not the failure that the caller is told of. A rejection by an upstream is: it stops the chain.
 */
function passedOver({ status, condition }: GatewayError): boolean {
  return status < 500 && condition !== 'upstream_rejected';
}
