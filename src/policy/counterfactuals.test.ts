import { describe, expect, it } from 'vitest';
import { anyMoment, policyWith, randomPolicy, randomRoutes, routeWith } from '../../tests/support/policy-routes.js';
import { forSeeds } from '../../tests/support/seeded-random.js';
import type { Route } from '../catalogue/route.js';
import { applyGates as applyGatesAt } from './apply-gates.js';
import { type Counterfactual, counterfactuals as counterfactualsAt } from './counterfactuals.js';
import { gates } from './gates/index.js';
import { defaultPolicy } from './policy.js';
import type { RoutingPolicy } from './routing-policy.js';

const applyGates = (policy: RoutingPolicy, routes: readonly Route[]) => applyGatesAt(policy, routes, anyMoment);
const counterfactuals = (policy: RoutingPolicy, routes: readonly Route[]) =>
  counterfactualsAt(policy, routes, anyMoment);

const messages = (found: Counterfactual[]) => found.map(({ message }) => message);

function changed(policy: RoutingPolicy, { gate, setting, also }: Counterfactual): RoutingPolicy {
  const changes = [{ gate, setting }, ...also].map((change) => [change.gate, change.setting]);
  return { ...policy, ...(Object.fromEntries(changes) as Partial<RoutingPolicy>) };
}

describe('counterfactuals', () => {
  it('names the least ceiling that admits a route', () => {
    const routes = [routeWith({ carbon: 344 }), routeWith({ carbon: 62 }), routeWith({ carbon: 62 })];
    expect(counterfactuals(policyWith({ max_carbon: 50 }), routes)).toEqual([
      { gate: 'max_carbon', setting: 62, also: [], admits: 2, message: 'raising max_carbon to 62 admits 2 routes' },
    ]);
  });

  it('says so where a figure is not published, instead of promising that a higher ceiling helps', () => {
    const dark = [routeWith({ carbon: null }), routeWith({ carbon: null })];
    const policy = policyWith({ max_carbon: 50 });
    expect(counterfactuals(policy, dark)).toEqual([
      {
        ...{ gate: 'max_carbon', setting: null, also: [], admits: 2 },
        message:
          'switching max_carbon off admits 2 routes; 2 routes publish no carbon figure and stay excluded while max_carbon is set',
      },
    ]);
    expect(messages(counterfactuals(policy, [...dark, routeWith({ carbon: 62 })]))).toEqual([
      'raising max_carbon to 62 admits 1 route; 2 routes publish no carbon figure and stay excluded while max_carbon is set',
    ]);
    expect(messages(counterfactuals(policyWith({ max_price: 0.1 }), [routeWith({ price: null })]))).toEqual([
      'switching max_price off admits 1 route; 1 route publishes no price and stays excluded while max_price is set',
    ]);
  });

  it('tells of every gate that would be enough by itself, in their order', () => {
    const routes = [
      routeWith({ cloudAct: true }),
      routeWith({ carbon: 344 }),
      ...['b', 'b', 'c'].map((provider) => routeWith({ provider, cloudAct: false })),
    ];
    const policy = policyWith({
      deny_cloud_act: true,
      max_carbon: 100,
      providers: { allow: ['acme'], deny: [] },
    });
    expect(messages(counterfactuals(policy, routes))).toEqual([
      'switching deny_cloud_act off admits 1 route',
      'raising max_carbon to 344 admits 1 route',
      'allowing the provider b admits 2 routes',
      'allowing the provider c admits 1 route',
    ]);
  });

  it('joins the least changes where no single one helps', () => {
    const routes = [
      routeWith({ cloudAct: true, carbon: 344, price: [900_000n, 0n] }),
      routeWith({ carbon: 200, price: [300_000n, 0n] }),
      routeWith({ carbon: 150, price: [900_000n, 0n] }),
      routeWith({ carbon: 250, price: [900_000n, 0n] }),
    ];
    const found = counterfactuals(policyWith({ deny_cloud_act: true, max_carbon: 100, max_price: 0.29 }), routes);
    expect(messages(found)).toEqual([
      'raising max_carbon to 200 together with raising max_price to 0.3 admits 1 route',
      'raising max_carbon to 150 together with raising max_price to 0.9 admits 1 route',
    ]);
    expect(found[0]).toMatchObject({ gate: 'max_carbon', setting: 200, also: [{ gate: 'max_price', setting: 0.3 }] });
  });

  it('empties an allow list of regions only for a global route, and only where nothing narrower helps', () => {
    const policy = policyWith({ regions: { allow: ['FR'], deny: [] } });
    const global = routeWith({ locode: 'global' });
    expect(messages(counterfactuals(policy, [global]))).toEqual([
      'emptying the allow list of regions, since a global route has none, admits 1 route',
    ]);
    expect(messages(counterfactuals(policy, [global, routeWith()]))).toEqual([
      'allowing the region defra admits 1 route',
    ]);
  });

  it('tells at most three ways at one gate, those that admit the most first', () => {
    const names = ['a', 'b', 'b', 'b', 'c', 'c', 'd', 'e', 'e', 'e', 'e'];
    const routes = names.map((provider) => routeWith({ provider }));
    const found = counterfactuals(policyWith({ providers: { allow: ['acme'], deny: [] } }), routes);
    expect(found.map(({ admits }) => admits)).toEqual([4, 3, 2]);
  });

  it('has nothing to say where a route is left, or there are none', () => {
    expect(counterfactuals(defaultPolicy, [routeWith()])).toEqual([]);
    expect(counterfactuals(policyWith({ max_carbon: 100 }), [routeWith(), routeWith({ carbon: 500 })])).toEqual([]);
    expect(counterfactuals(policyWith({ max_carbon: 100 }), [])).toEqual([]);
  });
});

describe('over random catalogues and policies', () => {
  it('every change admits just what it says, and never more gates than needed', () => {
    let combinations = 0;
    let changes = 0;
    forSeeds(4000, (random) => {
      const [policy, routes] = [randomPolicy(random), randomRoutes(random, 6)];
      const found = counterfactuals(policy, routes);
      expect(found.length > 0).toBe(routes.length > 0 && applyGates(policy, routes).eligible.length === 0);
      for (const one of found) {
        expect(applyGates(changed(policy, one), routes).eligible).toHaveLength(one.admits);
        expect(one.admits).toBeGreaterThan(0);
        // With any of the changed gates as it was, nothing is admitted.
        for (const { gate } of [one, ...one.also]) {
          const undone = { ...changed(policy, one), [gate]: policy[gate] };
          expect(applyGates(undone, routes).eligible).toEqual([]);
        }
        changes++;
        if (one.also.length > 0) combinations++;
      }
    });
    expect(changes).toBeGreaterThan(125);
    expect(combinations).toBeGreaterThan(12);
  });

  it('a raised ceiling is the least: a hair lower admits nothing', () => {
    let raised = 0;
    forSeeds(3000, (random) => {
      const [policy, routes] = [randomPolicy(random), randomRoutes(random, 6)];
      for (const one of counterfactuals(policy, routes)) {
        const isCeiling = one.gate === 'max_carbon' || one.gate === 'max_price';
        if (!isCeiling || one.also.length > 0 || one.setting === null) continue;
        const lower = { ...policy, [one.gate]: (one.setting as number) - 1e-7 };
        expect(applyGates(lower, routes).eligible).toEqual([]);
        raised++;
      }
    });
    expect(raised).toBeGreaterThan(12);
  });

  it('switching every gate off would admit every route', () => {
    forSeeds(200, (random) => {
      const off = Object.fromEntries(gates.map(({ name, defaultSetting }) => [name, defaultSetting]));
      const routes = randomRoutes(random);
      expect(applyGates({ ...randomPolicy(random), ...off }, routes).eligible).toBe(routes);
    });
  });
});
