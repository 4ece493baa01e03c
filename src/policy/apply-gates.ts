/** Applies a policy's gates to routes. A route that any gate removes is not eligible, and it counts once. */
import { type PriceMoment, priceKey } from '../catalogue/price-moment.js';
import type { Route } from '../catalogue/route.js';
import type { Gate, GateName } from './gates/gate.js';
import { gates } from './gates/index.js';
import { type RequestPreferences, requestGateNames } from './request-preferences.js';
import type { GateSettings } from './routing-policy.js';

/** The scope of the key comes before the gates of the account's policy. */
export const keyScopeGate = 'key_scope';

/** Before the names of a project's gates, which follow the account's. */
export const projectPrefix = 'project.';

export interface Removal {
  readonly route: Route;
  /** The first gate that removes the route: `key_scope`, a gate of the account, of the project (`project.regions`) or of the request (`provider.only`). */
  readonly gate: GateName | typeof keyScopeGate | (string & {});
}

export interface Gated {
  readonly eligible: readonly Route[];
  readonly removed: readonly Removal[];
}

interface Applied {
  /** The gates that the policy sets. */
  readonly set: readonly Gate[];
  /** For each list, by the prices that hold; one entry where none varies, or no gate looks at prices. */
  readonly byRoutes: WeakMap<readonly Route[], Map<string, Gated>>;
}

/** Bands and periods of a few routes make a handful; more are not worth keeping. */
const keysMax = 64;

const appliedByPolicy = new WeakMap<GateSettings, Applied>();

/**
 * The result is cached for each policy, list of routes and prices that hold, because this runs on every `auto/` request; both are replaced and
 * never changed. Where no route is removed, `eligible` is the same array as `routes`. `prefix` stands before the names of the gates, and
 * is always the same for a policy.
 */
export function applyGates(policy: GateSettings, routes: readonly Route[], moment: PriceMoment, prefix = ''): Gated {
  const applied = appliedOf(policy);
  const key = policy.max_price === null ? '' : priceKey(routes, moment);
  let byPrices = applied.byRoutes.get(routes);
  const known = byPrices?.get(key);
  if (known) return known;
  const gated = splitRoutes(applied.set, { policy, prefix }, routes, moment);
  if (!byPrices || byPrices.size >= keysMax) {
    byPrices = new Map();
    applied.byRoutes.set(routes, byPrices);
  }
  byPrices.set(key, gated);
  return gated;
}

/** Applies the gates of a project to what the account's policy left, so a route that both remove counts at the account's. */
export function applyProjectGates({ eligible, removed }: Gated, policy: GateSettings, moment: PriceMoment): Gated {
  const own = applyGates(policy, eligible, moment, projectPrefix);
  if (own.removed.length === 0) return { eligible, removed };
  return removed.length === 0 ? own : { eligible: own.eligible, removed: [...removed, ...own.removed] };
}

function appliedOf(policy: GateSettings): Applied {
  let applied = appliedByPolicy.get(policy);
  if (!applied) {
    applied = { set: setGates(policy), byRoutes: new WeakMap() };
    appliedByPolicy.set(policy, applied);
  }
  return applied;
}

/** Those of a list that is not kept. */
export function permittedRoutes(policy: GateSettings, routes: readonly Route[], moment: PriceMoment): Route[] {
  const set = setGates(policy);
  return routes.filter((route) => set.every((gate) => gate.permits(route, policy[gate.name], moment)));
}

export function setGates(policy: GateSettings): Gate[] {
  return gates.filter((gate) => gate.isSet(policy[gate.name]));
}

function splitRoutes(
  set: readonly Gate[],
  { policy, prefix }: { policy: GateSettings; prefix: string },
  routes: readonly Route[],
  moment: PriceMoment,
): Gated {
  const eligible: Route[] = [];
  const removed: Removal[] = [];
  for (const route of routes) {
    const gate = set.find((candidate) => !candidate.permits(route, policy[candidate.name], moment));
    if (gate) removed.push({ route, gate: `${prefix}${gate.name}` });
    else eligible.push(route);
  }
  return { eligible: removed.length === 0 ? routes : eligible, removed };
}

/** Applies the gates of a request to what the account's policy left. */
export function applyRequestGates(
  { eligible, removed }: Gated,
  preferences: RequestPreferences | null,
  moment: PriceMoment,
): Gated {
  if (preferences === null || preferences.gates.length === 0) return { eligible, removed };
  const left: Route[] = [];
  const added: Removal[] = [];
  for (const route of eligible) {
    const gate = preferences.gates.find((candidate) => !candidate.permits(route, moment));
    if (gate) added.push({ route, gate: gate.name });
    else left.push(route);
  }
  return added.length === 0 ? { eligible, removed } : { eligible: left, removed: [...removed, ...added] };
}

/** The field that the 403 names: `provider` where only gates of the request removed routes. */
export function exhaustedParam(removed: readonly Removal[]): 'provider' | 'model' {
  return removed.every(({ gate }) => requestGateNames.includes(gate)) ? 'provider' : 'model';
}

/** What helps: only the gates of the account leave pins alone. */
export function exhaustedAdvice(removed: readonly Removal[]): string {
  const byRequest = removed.filter(({ gate }) => requestGateNames.includes(gate)).length;
  const byKey = removed.filter(({ gate }) => gate === keyScopeGate).length;
  if (byRequest + byKey < removed.length) return 'Relax a gate, or pin a four-segment id.';
  const causes = [
    ...(byKey > 0 ? ['the `allowed_providers` of the key'] : []),
    ...(byRequest > 0 ? ['what the request asks for in `provider`'] : []),
  ];
  return `Relax ${causes.join(', or ')}.`;
}

/** Names, for the 403, each gate that removed routes and how many, in the order of the gates. */
export function removalText(removed: readonly Removal[]): string {
  const texts: string[] = [];
  const names = gates.map((gate) => gate.name);
  const ofProject = names.map((name) => `${projectPrefix}${name}`);
  for (const name of [keyScopeGate, ...names, ...ofProject, ...requestGateNames]) {
    const count = removed.filter(({ gate }) => gate === name).length;
    if (count > 0) texts.push(`${name} removed ${routesText(count)}`);
  }
  return texts.join(', ');
}

export function routesText(count: number): string {
  return count === 1 ? '1 route' : `${count} routes`;
}
