import { describe, expect, it } from 'vitest';
import { anyMoment, policyWith, randomPolicy, randomRoutes, routeWith } from '../../tests/support/policy-routes.js';
import { forSeeds } from '../../tests/support/seeded-random.js';
import type { Route } from '../catalogue/route.js';
import { applyGates as applyGatesAt, exhaustedAdvice, removalText } from './apply-gates.js';
import { defaultPolicy } from './policy.js';
import type { RoutingPolicy } from './routing-policy.js';

const applyGates = (policy: RoutingPolicy, routes: readonly Route[]) => applyGatesAt(policy, routes, anyMoment);

describe('applyGates', () => {
  it('gives back the very same list under a policy with no gate set', () => {
    const routes = [routeWith({ carbon: null, price: null, cloudAct: null, locode: 'global' })];
    for (const policy of [defaultPolicy, policyWith({ prefer: 'carbon' })]) {
      expect(applyGates(policy, routes)).toEqual({ eligible: routes, removed: [] });
      expect(applyGates(policy, routes).eligible).toBe(routes);
    }
  });

  it('excludes what is unknown under a ceiling, and keeps it without one', () => {
    const [known, dark, unpriced] = [routeWith(), routeWith({ carbon: null }), routeWith({ price: null })];
    const routes = [dark, known, unpriced];
    expect(applyGates(policyWith({ max_carbon: 1e6 }), routes).eligible).toEqual([known, unpriced]);
    expect(applyGates(policyWith({ max_price: 1e6 }), routes).eligible).toEqual([dark, known]);
    expect(applyGates(policyWith({ deny_cloud_act: true }), routes).eligible).toEqual(routes);
  });

  it('counts a route once, at the first gate that removes it', () => {
    const routes = [
      routeWith({ cloudAct: true, carbon: 500, price: null }),
      routeWith({ cloudAct: null }),
      routeWith({ carbon: 500, locode: 'global' }),
      routeWith({ locode: 'global' }),
    ];
    const policy = policyWith({ deny_cloud_act: true, max_carbon: 100, regions: { allow: ['DE'], deny: [] } });
    const { eligible, removed } = applyGates(policy, routes);
    expect(eligible).toEqual([]);
    expect(removed.map(({ gate }) => gate)).toEqual(['deny_cloud_act', 'deny_cloud_act', 'max_carbon', 'regions']);
    expect(removalText(removed)).toBe(
      'deny_cloud_act removed 2 routes, max_carbon removed 1 route, regions removed 1 route',
    );
  });

  it('remembers its answer for a policy and a list, and mixes up neither', () => {
    const [one, two] = [[routeWith({ carbon: 5 })], [routeWith({ carbon: 50 })]];
    const [low, high] = [policyWith({ max_carbon: 10 }), policyWith({ max_carbon: 100 })];
    const first = applyGates(low, one);
    expect(applyGates(low, one)).toBe(first);
    expect(applyGates(low, two).eligible).toEqual([]);
    expect(applyGates(high, two).eligible).toBe(two);
    expect(applyGates(high, one).eligible).toBe(one);
  });

  it('says nothing of gates that removed nothing', () => expect(removalText([])).toBe(''));
});

/** The rules of the gates, written a second time in another way: which gates a route violates, in their order. */
function violations({ provider, model, locode, country, carbon, price }: Route, policy: RoutingPolicy): string[] {
  const found: string[] = [];
  if (policy.deny_cloud_act && (provider.cloudAct ?? true)) found.push('deny_cloud_act');
  if (policy.max_carbon !== null && !((carbon ?? Infinity) <= policy.max_carbon)) found.push('max_carbon');
  if (policy.max_price !== null) {
    const dearest = price ? Math.max(Number(price.input), Number(price.output)) : Infinity;
    if (dearest > Math.round(policy.max_price * 1e6)) found.push('max_price');
  }
  const places = new Set(locode === 'global' ? [] : [locode, `${country}`].map((name) => name.toLowerCase()));
  const named = [
    ['providers', new Set([provider.id])],
    ['creators', new Set([model.creator.toLowerCase()])],
    ['regions', places],
  ] as const;
  for (const [gate, names] of named) {
    const allowed = policy[gate].allow.map((entry) => entry.toLowerCase());
    const denied = policy[gate].deny.map((entry) => entry.toLowerCase());
    const isIn = (entries: string[]) => entries.filter((entry) => names.has(entry)).length > 0;
    if ((allowed.length > 0 && !isIn(allowed)) || isIn(denied)) found.push(gate);
  }
  return found;
}

describe('over random catalogues and policies', () => {
  it('no eligible route violates a gate, and every route is either eligible or removed, in order', () => {
    let [kept, gone] = [0, 0];
    forSeeds(3000, (random) => {
      const [policy, routes] = [randomPolicy(random), randomRoutes(random)];
      const { eligible, removed } = applyGates(policy, routes);
      for (const route of eligible) expect(violations(route, policy)).toEqual([]);
      for (const { route, gate } of removed) expect(violations(route, policy)[0]).toBe(gate);
      expect(eligible.length + removed.length).toBe(routes.length);
      const removedRoutes = new Set(removed.map(({ route }) => route));
      expect(routes.filter((route) => !removedRoutes.has(route))).toEqual(eligible);
      kept += eligible.length;
      gone += removed.length;
    });
    // A generator that only ever kept or removed everything would prove nothing.
    expect(Math.min(kept, gone)).toBeGreaterThan(500);
  });

  it('the counts of the 403 add up to the routes that are gone', () => {
    forSeeds(500, (random) => {
      const { removed } = applyGates(randomPolicy(random), randomRoutes(random));
      const counts = [...removalText(removed).matchAll(/removed (\d+) routes?(?=,|$)/g)].map(([, count]) =>
        Number(count),
      );
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(removed.length);
    });
  });
});

it.each([
  [['max_carbon', 'key_scope'], 'Relax a gate, or pin a four-segment id.'],
  [['provider.only'], 'Relax what the request asks for in `provider`.'],
  [['key_scope'], 'Relax the `allowed_providers` of the key.'],
  [
    ['key_scope', 'provider.max_price', 'provider.regions'],
    'Relax the `allowed_providers` of the key, or what the request asks for in `provider`.',
  ],
])('the advice against %j is what helps', (names, advice) => {
  expect(exhaustedAdvice(names.map((gate) => ({ route: routeWith(), gate })))).toBe(advice);
});
