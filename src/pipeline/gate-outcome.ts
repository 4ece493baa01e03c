/** Stage 4 → 5: what gates and providers' terms leave of a plan's routes. */
import type { Route } from '../catalogue/route.js';
import type { GatewayError } from '../errors/gateway-error.js';
import type { Removal } from '../policy/apply-gates.js';

export interface GateOutcome {
  readonly eligible: readonly Route[];
  readonly removed: readonly Removal[];
  /** Routes of providers whose terms exclude the caller's territory. */
  readonly excluded: readonly Route[];
  /** The answer when nothing may be tried; null otherwise. */
  readonly error: GatewayError | null;
}
