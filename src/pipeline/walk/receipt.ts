/** The routing receipt of an auto-routed failure (§2.6). */
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
