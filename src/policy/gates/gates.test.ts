import { describe, expect, it } from 'vitest';
import { anyMoment, policyWith, type RouteFigures, routeWith } from '../../../tests/support/policy-routes.js';
import { defaultPolicy } from '../policy.js';
import type { RoutingPolicy } from '../routing-policy.js';
import type { GateName } from './gate.js';
import { gates } from './index.js';
import { picoFloor } from './max-price.js';

function permits(name: GateName, setting: RoutingPolicy[GateName], figures: RouteFigures): boolean {
  return gates.find((gate) => gate.name === name)!.permits(routeWith(figures), setting, anyMoment);
}

const lists = (allow: string[], deny: string[] = []) => ({ allow, deny });

describe('the list of gates', () => {
  it('lists the gates in the order in which routes are counted', () => {
    const known = [
      ...['deny_cloud_act', 'max_carbon', 'max_price', 'providers', 'creators', 'regions', 'deny_training'],
      ...['max_retention_days', 'require_in_region', 'require_eu_owned', 'certifications', 'quantizations'],
    ];
    expect(gates.map(({ name }) => name).filter((name) => known.includes(name))).toEqual(known);
  });

  it('covers every field of a policy but the preference', () => {
    expect([...gates.map(({ name }) => name), 'prefer']).toEqual(Object.keys(defaultPolicy));
  });

  it.each(gates.map((gate) => [gate.name, gate] as const))('%s permits everything by default', (_name, gate) => {
    expect(gate.isSet(gate.defaultSetting)).toBe(false);
    const bare: RouteFigures = { cloudAct: null, carbon: null, price: null, locode: 'global' };
    for (const figures of [{}, bare])
      expect(gate.permits(routeWith(figures), gate.defaultSetting, anyMoment)).toBe(true);
  });
});

describe('what a gate permits', () => {
  it.each<[string, GateName, RoutingPolicy[GateName], RouteFigures, boolean]>([
    ['a provider outside of the act', 'deny_cloud_act', true, { cloudAct: false }, true],
    ['a provider under the act', 'deny_cloud_act', true, { cloudAct: true }, false],
    ['a provider of which it is unknown', 'deny_cloud_act', true, { cloudAct: null }, false],
    ['carbon at the ceiling', 'max_carbon', 56, { carbon: 56 }, true],
    ['carbon above the ceiling', 'max_carbon', 56, { carbon: 56.01 }, false],
    ['no published carbon', 'max_carbon', 1e9, { carbon: null }, false],
    ['no carbon at all under a ceiling of 0', 'max_carbon', 0, { carbon: 0 }, true],
    ['a global route with a figure of its own', 'max_carbon', 56, { carbon: 20, locode: 'global' }, true],
    ['the dearer price at the ceiling', 'max_price', 0.8, { price: [600_000n, 800_000n] }, true],
    ['an output price above the ceiling', 'max_price', 0.799999, { price: [600_000n, 800_000n] }, false],
    ['an input price above the ceiling', 'max_price', 0.6, { price: [800_000n, 600_000n] }, false],
    ['0.29 exactly', 'max_price', 0.29, { price: [290_000n, 290_000n] }, true],
    ['the least above 0.29', 'max_price', 0.29, { price: [290_001n, 0n] }, false],
    ['a free route under a ceiling of 0', 'max_price', 0, { price: [0n, 0n] }, true],
    ['no published price', 'max_price', 1e9, { price: null }, false],
    ['a provider that is allowed', 'providers', lists(['acme']), { provider: 'acme' }, true],
    ['a provider that is not allowed', 'providers', lists(['acme']), { provider: 'zeta' }, false],
    ['a provider that is denied', 'providers', lists([], ['zeta']), { provider: 'zeta' }, false],
    ['one that is allowed and denied', 'providers', lists(['zeta'], ['zeta']), { provider: 'zeta' }, false],
    ['one in neither list', 'providers', lists([], ['zeta']), { provider: 'acme' }, true],
    ['a creator that is not allowed', 'creators', lists(['qwen']), { creator: 'meta' }, false],
    ['a creator whatever its case', 'creators', lists([], ['meta']), { creator: 'Meta' }, false],
    ['an allowed locode', 'regions', lists(['defra']), { locode: 'defra' }, true],
    ['an allowed country', 'regions', lists(['DE']), { locode: 'defra' }, true],
    ['another region of no allowed country', 'regions', lists(['deber', 'FR']), { locode: 'defra' }, false],
    ['a denied locode of an allowed country', 'regions', lists(['DE'], ['defra']), { locode: 'defra' }, false],
    ['an allowed locode of a denied country', 'regions', lists(['defra'], ['DE']), { locode: 'defra' }, false],
    ['a global route under an allow list', 'regions', lists(['DE']), { locode: 'global' }, false],
    ['a global route under a deny list', 'regions', lists([], ['DE']), { locode: 'global' }, true],
  ])('%s: %s %j', (_what, name, setting, figures, expected) => {
    expect(permits(name, setting, figures)).toBe(expected);
  });
});

describe('a price ceiling without floats', () => {
  it.each<[number, bigint]>([
    [0, 0n],
    [0.29, 290_000n],
    [0.57, 570_000n],
    [1.005, 1_005_000n],
    [8.41, 8_410_000n],
    [0.000001, 1n],
    [0.0000019, 1n],
    [1e-7, 0n],
    [2.5e-6, 2n],
    [1e21, 10n ** 27n],
    [1.5e300, 15n * 10n ** 305n],
    [999_999_999.999999, 999_999_999_999_999n],
  ])('%d USD a million are %s pico-dollars a token', (ceiling, pico) => {
    expect(picoFloor(ceiling)).toBe(pico);
  });

  it('permits a route at its own price for every price of up to six decimals', () => {
    for (let pico = 1n; pico < 10n ** 15n; pico = pico * 3n + 1n) {
      const ceiling = Number(`${pico}e-6`);
      expect(picoFloor(ceiling)).toBe(pico);
      expect(permits('max_price', ceiling, { price: [pico, 0n] })).toBe(true);
      expect(permits('max_price', ceiling, { price: [pico + 1n, 0n] })).toBe(false);
    }
  });
});

describe('a relaxation', () => {
  const relax = (fields: Partial<RoutingPolicy>, figures: RouteFigures) => {
    const policy = policyWith(fields);
    const gate = gates.find((candidate) => candidate.isSet(policy[candidate.name]))!;
    const { setting, how } = gate.relaxationFor(routeWith(figures), policy[gate.name], anyMoment);
    expect(gate.permits(routeWith(figures), setting, anyMoment)).toBe(true);
    return [how, setting];
  };

  it('goes no further than the route needs', () => {
    expect(relax({ max_carbon: 50 }, { carbon: 62 })).toEqual(['raising max_carbon to 62', 62]);
    expect(relax({ max_price: 0.1 }, { price: [290_000n, 1n] })).toEqual(['raising max_price to 0.29', 0.29]);
    expect(relax({ providers: lists(['zeta']) }, {})).toEqual(['allowing the provider acme', lists(['zeta', 'acme'])]);
    expect(relax({ providers: lists([], ['acme', 'x']) }, {})).toEqual([
      'no longer denying the provider acme',
      lists([], ['x']),
    ]);
    expect(relax({ creators: lists(['qwen'], ['meta']) }, {})).toEqual([
      'allowing the creator meta and no longer denying the creator meta',
      lists(['qwen', 'meta']),
    ]);
    expect(relax({ regions: lists(['FR']) }, {})).toEqual(['allowing the region defra', lists(['FR', 'defra'])]);
    expect(relax({ regions: lists([], ['DE', 'defra', 'FR']) }, {})).toEqual([
      'no longer denying the region DE and defra',
      lists([], ['FR']),
    ]);
  });

  it('switches off where no setting could admit the route', () => {
    expect(relax({ deny_cloud_act: true }, { cloudAct: null })).toEqual(['switching deny_cloud_act off', false]);
    expect(relax({ max_carbon: 50 }, { carbon: null })).toEqual(['switching max_carbon off', null]);
    expect(relax({ max_price: 50 }, { price: null })).toEqual(['switching max_price off', null]);
    expect(relax({ regions: lists(['DE'], ['FR']) }, { locode: 'global' })[1]).toEqual(lists([], ['FR']));
  });
});
