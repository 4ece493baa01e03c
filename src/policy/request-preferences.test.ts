import { describe, expect, it } from 'vitest';
import { routeWith } from '../../tests/support/policy-routes.js';
import type { Provider } from '../catalogue/route.js';
import { GatewayError } from '../errors/gateway-error.js';
import { applyOrder, readPreferences, requestGateNames } from './request-preferences.js';

const providers = new Map(['acme', 'zeta', 'omega'].map((id) => [id, { id } as Provider]));
const read = (provider: unknown) => readPreferences(provider, { providers });
const moment = { atMs: 0, promptTokens: 10 };

function paramOf(provider: unknown): string | undefined {
  try {
    read(provider);
  } catch (error) {
    if (error instanceof GatewayError && error.status === 400) return error.param;
    throw error;
  }
  throw new Error(`${JSON.stringify(provider)} was accepted`);
}

describe('the provider object of a request', () => {
  it.each([undefined, null, {}, { only: null, order: [], zdr: null }])('%j asks for nothing', (provider) => {
    expect(read(provider)).toBeNull();
  });

  it('keeps what was sent, without nulls and empty lists', () => {
    const sent = { only: ['acme'], sort: 'price', max_price: { prompt: '1', request: null }, ignore: [], zdr: null };
    expect(read(sent)?.sent).toEqual({ only: ['acme'], sort: 'price', max_price: { prompt: '1' } });
    expect(() => read({ regions: { foo: [] } })).toThrow(
      '`provider.regions.foo` is not a field: there are allow and deny',
    );
  });

  it.each<[string, unknown]>([
    ['provider', 'acme'],
    ['provider', ['acme']],
    ['provider.onyl', { onyl: ['acme'] }],
    ['provider.__proto__', JSON.parse('{"__proto__":1}')],
    ['provider.toString', { toString: 1 }],
    ['provider.only', { only: 'acme' }],
    ['provider.only', { only: [1] }],
    ['provider.only', { only: ['nobody'] }],
    ['provider.ignore', { ignore: ['nobody'] }],
    ['provider.order', { order: ['acme', 'nobody'] }],
    ['provider.allow_fallbacks', { allow_fallbacks: 'no' }],
    ['provider.require_parameters', { require_parameters: 1 }],
    ['provider.data_collection', { data_collection: 'maybe' }],
    ['provider.zdr', { zdr: 'yes' }],
    ['provider.sort', { sort: { by: 'price' } }],
    ['provider.sort', { sort: 'balanced' }],
    ['provider.max_price', { max_price: 1 }],
    ['provider.max_price', { max_price: { image: 1 } }],
    ['provider.max_price', { max_price: { prompt: -1 } }],
    ['provider.max_price', { max_price: { prompt: 'one' } }],
    ['provider.max_price', { max_price: { prompt: '1e3' } }],
    ['provider.max_price', { max_price: { prompt: [1] } }],
    ['provider.sticky', { sticky: 0 }],
    ['provider.max_carbon', { max_carbon: -1 }],
    ['provider.deny_cloud_act', { deny_cloud_act: 1 }],
    ['provider.regions', { regions: ['DE'] }],
    ['provider.regions', { regions: { allow: ['Germany'] } }],
    ['provider.regions', { regions: { only: ['DE'] } }],
    ['provider.max_retention_days', { max_retention_days: 1.5 }],
    ['provider.require_in_region', { require_in_region: 'x' }],
    ['provider.require_eu_owned', { require_eu_owned: {} }],
    ['provider.certifications', { certifications: ['soc9'] }],
    ['provider.certifications', { certifications: 'soc2' }],
    ['provider.quantizations', { quantizations: ['fp5'] }],
  ])('a 400 names %s in %j', (param, provider) => expect(paramOf(provider)).toBe(param));

  it('names its gates in the order in which they count', () => {
    const all = read({
      ...{ quantizations: ['bf16'], certifications: ['soc2'], require_eu_owned: true, require_in_region: true },
      ...{ max_retention_days: 1, data_collection: 'deny', regions: { allow: ['DE'] }, deny_cloud_act: true },
      ...{ max_carbon: 1, max_price: { prompt: 1 }, ignore: ['zeta'], only: ['acme'], order: ['acme'] },
      allow_fallbacks: false,
    });
    expect(all?.gates.map(({ name }) => name)).toEqual(requestGateNames);
  });

  it('takes zdr as a retention of 0 days, whatever else it says', () => {
    const [gate] = read({ zdr: true, max_retention_days: 30 })!.gates;
    expect(gate?.name).toBe('provider.max_retention_days');
    const kept = (retention_days: number) => routeWith({ dataPolicy: { retention_days } });
    expect([kept(0), kept(1), routeWith()].map((route) => gate!.permits(route, moment))).toEqual([true, false, false]);
  });

  it('compares each price exactly, and counts a missing price for requests as 0', () => {
    const permits = (max_price: object) =>
      read({ max_price })!.gates[0]!.permits(routeWith({ price: [290_000n, 800_000n] }), moment);
    expect(permits({ prompt: 0.29 })).toBe(true);
    expect(permits({ prompt: '0.289999' })).toBe(false);
    expect(permits({ completion: '0.8', request: 0 })).toBe(true);
    expect(permits({ completion: 0.799999 })).toBe(false);
    expect(read({ max_price: { request: 5 } })!.gates[0]!.permits(routeWith({ price: null }), moment)).toBe(false);
  });

  it('tries ordered providers first and leaves the ranking otherwise as it is', () => {
    const ranked = ['zeta', 'omega', 'acme', 'zeta'].map((provider) => routeWith({ provider }));
    expect(applyOrder(ranked, ['acme', 'zeta'])).toEqual([ranked[2], ranked[0], ranked[3], ranked[1]]);
    expect(applyOrder(ranked, [])).toBe(ranked);
  });

  it('tries one candidate without fallbacks, and makes a gate of the order where there is one', () => {
    expect(read({ allow_fallbacks: false })).toMatchObject({ single: true, gates: [] });
    const ordered = read({ allow_fallbacks: false, order: ['acme'] })!;
    expect([ordered.single, ordered.gates.map(({ name }) => name)]).toEqual([false, ['provider.allow_fallbacks']]);
  });
});
