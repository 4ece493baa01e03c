/** The routing receipt of an auto-routed failure. */
import type { Route } from '../../catalogue/route.js';
import type { Receipt } from '../../errors/gateway-error.js';
import type { Trail } from '../handover.js';

export function receiptOf(trail: Trail, remaining: number, lastError: string): Receipt {
  return {
    providers_attempted: trail.providersAttempted,
    breaker_skipped: trail.breakerSkipped,
    candidates_remaining: remaining,
    last_error: lastError,
  };
}

/** §2.6: entries look like `<provider>/<locode>`; each route once, however many entries of a chain skip it. */
export function skippedByBreaker({ breakerSkipped }: Trail, { provider, locode }: Route): void {
  const name = `${provider.id}/${locode}`;
  if (!breakerSkipped.includes(name)) breakerSkipped.push(name);
}
