/**
 * Finds the smallest changes that let a policy admit a route again after its gates removed all of them. Each change is verified
 * by applying the gates again. Where changing one gate is enough, only such changes are listed, else the smallest combinations.
 */
import type { PriceMoment } from '../catalogue/price-moment.js';
import type { Route } from '../catalogue/route.js';
import { routesText, setGates } from './apply-gates.js';
import type { Gate, GateName } from './gates/gate.js';
import type { GateSettings } from './routing-policy.js';

interface Change {
  readonly gate: GateName;
  /** The new value of the policy's field of that name. */
  readonly setting: unknown;
}

export interface Counterfactual extends Change {
  /** Further changes needed at the same time; empty where this one is enough. */
  readonly also: readonly Change[];
  /** How many routes the changed policy would leave. */
  readonly admits: number;
  readonly message: string;
}

/** The most changes listed for the same gates. */
const listedMax = 3;

/** A changed policy that admits one route, with all the routes that it admits. */
interface Option {
  /** The gates whose settings change. */
  readonly gates: readonly Gate[];
  readonly changes: readonly Change[];
  readonly how: string;
  readonly admitted: readonly Route[];
  readonly policy: GateSettings;
}

export function counterfactuals(policy: GateSettings, routes: readonly Route[], moment: PriceMoment): Counterfactual[] {
  const set = setGates(policy);
  const obstacles = routes.map((route) => removingGates(set, policy, route, moment));
  const least = Math.min(...obstacles.map((gates) => gates.length));
  if (routes.length === 0 || least === 0) return [];
  const options = routes.flatMap((route, i) => {
    const gates = obstacles[i]!;
    return gates.length === least ? [optionFor(policy, { routes, moment }, route, gates)] : [];
  });
  return narrowestOptions(options, set).map((option) => counterfactualOf(option, { routes, moment }));
}

function removingGates(set: readonly Gate[], policy: GateSettings, route: Route, moment: PriceMoment): Gate[] {
  return set.filter((gate) => !gate.permits(route, policy[gate.name], moment));
}

/** What a policy is applied to. */
interface Candidates {
  readonly routes: readonly Route[];
  readonly moment: PriceMoment;
}

function optionFor(policy: GateSettings, { routes, moment }: Candidates, route: Route, gates: readonly Gate[]): Option {
  const relaxations = gates.map((gate) => gate.relaxationFor(route, policy[gate.name], moment));
  const changes = gates.map((gate, i) => ({ gate: gate.name, setting: relaxations[i]!.setting }));
  const changed: GateSettings = { ...policy, ...Object.fromEntries(changes.map((one) => [one.gate, one.setting])) };
  const set = setGates(changed);
  return {
    gates,
    changes,
    how: relaxations.map(({ how }) => how).join(' together with '),
    admitted: routes.filter((candidate) => removingGates(set, changed, candidate, moment).length === 0),
    policy: changed,
  };
}

/** Drops an option that admits all routes of another option at the same gates, and more. The rest is sorted, most routes first. */
function narrowestOptions(options: readonly Option[], set: readonly Gate[]): Option[] {
  const byGates = new Map<string, Option[]>();
  for (const option of options) {
    const key = option.gates.map((gate) => set.indexOf(gate)).join();
    const rivals = byGates.get(key) ?? [];
    if (rivals.some((rival) => covers(option, rival))) continue;
    byGates.set(key, [...rivals.filter((rival) => !covers(rival, option)), option]);
  }
  const inOrder = [...byGates].sort(([a], [b]) => (a < b ? -1 : 1));
  return inOrder.flatMap(([, alike]) =>
    alike.sort((a, b) => b.admitted.length - a.admitted.length).slice(0, listedMax),
  );
}

function covers(wider: Option, narrower: Option): boolean {
  return narrower.admitted.every((route) => wider.admitted.includes(route));
}

function counterfactualOf(option: Option, candidates: Candidates): Counterfactual {
  const [first, ...also] = option.changes;
  const count = option.admitted.length;
  const remarks = option.gates.map((gate) => remark(gate, option, candidates));
  const message = [`${option.how} admits ${routesText(count)}`, ...remarks.filter((text) => text !== '')].join('; ');
  return { ...first!, also, admits: count, message };
}

/** Names the routes without a published figure, which stay excluded while the gate is set. */
function remark(gate: Gate, { policy, admitted }: Option, { routes, moment }: Candidates): string {
  const { figure } = gate;
  if (!figure) return '';
  const stillSet = gate.isSet(policy[gate.name]);
  const others = setGates(policy).filter((other) => other !== gate);
  const affected = (stillSet ? routes : admitted).filter(
    (route) => !figure.published(route) && removingGates(others, policy, route, moment).length === 0,
  );
  if (affected.length === 0) return '';
  const one = affected.length === 1;
  return `${routesText(affected.length)} publish${one ? 'es' : ''} no ${figure.name} and stay${one ? 's' : ''} excluded while ${gate.name} is set`;
}
