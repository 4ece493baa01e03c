/**
 * What would have to change for a policy that leaves nothing to admit a route: the least changes, each verified by applying
 * the gates again (§7.7: relax the gate). Where one gate is enough only such changes are told, else the least combinations.
 */
import type { Route } from '../catalogue/route.js';
import { routesText, setGates } from './apply-gates.js';
import type { Gate, GateName } from './gates/gate.js';
import type { RoutingPolicy } from './policy.js';

export interface Change {
  readonly gate: GateName;
  /** What the policy's field of that name would be. */
  readonly setting: unknown;
}

export interface Counterfactual extends Change {
  /** Further changes that are needed at the same time; empty where this one is enough. */
  readonly also: readonly Change[];
  /** How many routes the changed policy would leave. */
  readonly admits: number;
  readonly message: string;
}

/** Of the changes at the same gates the most that are told. */
const toldMax = 3;

/** A way to let one route in, before it is known what else it lets in. */
interface Way {
  /** The gates that change, by name. */
  readonly gates: readonly Gate[];
  readonly changes: readonly Change[];
  readonly how: string;
  readonly admitted: readonly Route[];
  readonly policy: RoutingPolicy;
}

export function counterfactuals(policy: RoutingPolicy, routes: readonly Route[]): Counterfactual[] {
  const set = setGates(policy);
  const obstacles = routes.map((route) => removingGates(set, policy, route));
  const least = Math.min(...obstacles.map((gates) => gates.length));
  if (routes.length === 0 || least === 0) return [];
  const ways = routes.flatMap((route, i) => {
    const gates = obstacles[i]!;
    return gates.length === least ? [wayIn(policy, routes, route, gates)] : [];
  });
  return leastWays(ways, set).map((way) => told(way, routes));
}

function removingGates(set: readonly Gate[], policy: RoutingPolicy, route: Route): Gate[] {
  return set.filter((gate) => !gate.permits(route, policy[gate.name]));
}

function wayIn(policy: RoutingPolicy, routes: readonly Route[], route: Route, gates: readonly Gate[]): Way {
  const relaxations = gates.map((gate) => gate.relaxed(route, policy[gate.name]));
  const changes = gates.map((gate, i) => ({ gate: gate.name, setting: relaxations[i]!.setting }));
  const changed: RoutingPolicy = { ...policy, ...Object.fromEntries(changes.map((one) => [one.gate, one.setting])) };
  const set = setGates(changed);
  return {
    gates,
    changes,
    how: relaxations.map(({ how }) => how).join(' together with '),
    admitted: routes.filter((candidate) => removingGates(set, changed, candidate).length === 0),
    policy: changed,
  };
}

/** Not the ways that let in all that another way at the same gates does, and more; then those that let in the most first. */
function leastWays(ways: readonly Way[], set: readonly Gate[]): Way[] {
  const byGates = new Map<string, Way[]>();
  for (const way of ways) {
    const key = way.gates.map((gate) => set.indexOf(gate)).join();
    const rivals = byGates.get(key) ?? [];
    if (rivals.some((rival) => covers(way, rival))) continue;
    byGates.set(key, [...rivals.filter((rival) => !covers(rival, way)), way]);
  }
  const inOrder = [...byGates].sort(([a], [b]) => (a < b ? -1 : 1));
  return inOrder.flatMap(([, alike]) => alike.sort((a, b) => b.admitted.length - a.admitted.length).slice(0, toldMax));
}

function covers(wider: Way, narrower: Way): boolean {
  return narrower.admitted.every((route) => wider.admitted.includes(route));
}

function told(way: Way, routes: readonly Route[]): Counterfactual {
  const [first, ...also] = way.changes;
  const count = way.admitted.length;
  const remarks = way.gates.map((gate) => remark(gate, way, routes));
  const message = [`${way.how} admits ${routesText(count)}`, ...remarks.filter((text) => text !== '')].join('; ');
  return { ...first!, also, admits: count, message };
}

/** Says that a route without a published figure is excluded for as long as the gate is set. */
function remark(gate: Gate, { policy, admitted }: Way, routes: readonly Route[]): string {
  const { figure } = gate;
  if (!figure) return '';
  const stillSet = gate.isSet(policy[gate.name]);
  const others = setGates(policy).filter((other) => other !== gate);
  const affected = (stillSet ? routes : admitted).filter(
    (route) => !figure.published(route) && removingGates(others, policy, route).length === 0,
  );
  if (affected.length === 0) return '';
  const one = affected.length === 1;
  return `${routesText(affected.length)} publish${one ? 'es' : ''} no ${figure.name} and stay${one ? 's' : ''} excluded while ${gate.name} is set`;
}
