/** Holds routes against a policy's gates: no route that a gate removes is ever eligible, and each is counted once. */
import type { Route } from '../catalogue/route.js';
import type { Gate, GateName } from './gates/gate.js';
import { gates } from './gates/index.js';
import type { RoutingPolicy } from './policy.js';

export interface Removal {
  readonly route: Route;
  /** The first gate, in their order, that removes the route. */
  readonly gate: GateName;
}

export interface Gated {
  readonly eligible: readonly Route[];
  readonly removed: readonly Removal[];
}

interface Applied {
  /** The gates that the policy sets. */
  readonly set: readonly Gate[];
  readonly byRoutes: WeakMap<readonly Route[], Gated>;
}

const appliedByPolicy = new WeakMap<RoutingPolicy, Applied>();

/**
 * Remembered for each policy and list of routes, both of which are never changed but replaced: it runs on every `auto/` request.
 * Where nothing is removed, `eligible` is the very list that was given.
 */
export function applyGates(policy: RoutingPolicy, routes: readonly Route[]): Gated {
  const applied = appliedOf(policy);
  const known = applied.byRoutes.get(routes);
  if (known) return known;
  const gated = sorted(applied.set, policy, routes);
  applied.byRoutes.set(routes, gated);
  return gated;
}

function appliedOf(policy: RoutingPolicy): Applied {
  let applied = appliedByPolicy.get(policy);
  if (!applied) {
    applied = { set: setGates(policy), byRoutes: new WeakMap() };
    appliedByPolicy.set(policy, applied);
  }
  return applied;
}

export function setGates(policy: RoutingPolicy): Gate[] {
  return gates.filter((gate) => gate.isSet(policy[gate.name]));
}

function sorted(set: readonly Gate[], policy: RoutingPolicy, routes: readonly Route[]): Gated {
  const eligible: Route[] = [];
  const removed: Removal[] = [];
  for (const route of routes) {
    const gate = set.find((candidate) => !candidate.permits(route, policy[candidate.name]));
    if (gate) removed.push({ route, gate: gate.name });
    else eligible.push(route);
  }
  return { eligible: removed.length === 0 ? routes : eligible, removed };
}

/** For the 403: every gate that removed something with its number of routes, in the order of the gates. */
export function removalText(removed: readonly Removal[]): string {
  const texts: string[] = [];
  for (const { name } of gates) {
    const count = removed.filter(({ gate }) => gate === name).length;
    if (count > 0) texts.push(`${name} removed ${routesText(count)}`);
  }
  return texts.join(', ');
}

export function routesText(count: number): string {
  return count === 1 ? '1 route' : `${count} routes`;
}
