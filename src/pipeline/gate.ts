/**
 * Stage 4: whether the model may be served now, and which candidates the account's policy leaves and which their
 * providers' terms (contract 5, checks 14 to 16). Gates affect `auto/` selection only; an explicit id is never touched by them.
 */
import type { Route } from '../catalogue/route.js';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';
import { applyGates, type Removal, removalText } from '../policy/apply-gates.js';
import type { RoutingPolicy } from '../policy/policy.js';
import { territoryFilter } from '../territory/provider-terms.js';
import type { Territory } from '../territory/territory.js';
import type { PipelinePorts, Plan } from './handover.js';

export interface GateOutcome {
  readonly eligible: readonly Route[];
  readonly removed: readonly Removal[];
  /** Routes of providers whose terms exclude the caller's territory. */
  readonly excluded: readonly Route[];
  /** What answers when nothing may be tried; null otherwise. */
  readonly error: GatewayError | null;
}

type GatePorts = Pick<PipelinePorts, 'modelStates' | 'territories'>;

const nothing: readonly never[] = [];

export function gate(ports: GatePorts, plan: Plan, policy: RoutingPolicy, territory: Territory): GateOutcome {
  const stopped = stateError(ports, plan);
  if (stopped) return { eligible: nothing, removed: nothing, excluded: nothing, error: stopped };
  const { eligible: left, removed } =
    plan.kind === 'pin' ? { eligible: plan.routes, removed: nothing } : applyGates(policy, plan.routes);
  const { permitted, excluded } = territoryFilter(left, territory);
  return {
    eligible: permitted,
    removed,
    excluded,
    error: emptyError(ports, plan, removed, permitted, excluded, territory),
  };
}

/** The policy is asked first: what it leaves is what the terms are held against. */
function emptyError(
  { territories }: GatePorts,
  { id, kind }: Plan,
  removed: readonly Removal[],
  permitted: readonly Route[],
  excluded: readonly Route[],
  territory: Territory,
): GatewayError | null {
  if (permitted.length > 0) return null;
  if (excluded.length > 0) return territories.modelExcluded({ id, kind, excluded, territory });
  return removed.length > 0 ? gatewayError('routing_policy_exhausted', { id, gates: removalText(removed) }) : null;
}

function stateError({ modelStates }: GatePorts, { id, routes }: Plan): GatewayError | null {
  const model = routes[0]?.model;
  if (!model) return null;
  const { state, reason } = modelStates.get(model.canonicalId);
  if (state === 'available') return null;
  if (state === 'disabled') return gatewayError('model_not_found', { id });
  return gatewayError('model_unavailable', { id, reason: reason ?? 'the operator has marked it unavailable' });
}
