/** Gates and ranking use the price that the request would pay: at its time, and for the length of its prompt. */
import { describe, expect, it } from 'vitest';
import { policyWith, routeWith } from '../../tests/support/policy-routes.js';
import type { Price } from '../catalogue/price.js';
import { type PriceMoment, priceKey } from '../catalogue/price-moment.js';
import type { Route } from '../catalogue/route.js';
import { applyGates } from '../policy/apply-gates.js';
import { counterfactuals } from '../policy/counterfactuals.js';
import { rank } from './rank.js';

const usd = (input: number) => ({ input: BigInt(input * 1e6), output: 0n, cachedInput: null });
const priced = (provider: string, price: Price): Route => ({ ...routeWith({ provider }), price });
const at = (time: string, promptTokens = 0): PriceMoment => ({ atMs: Date.parse(time), promptTokens });
const noon = at('2026-11-16T12:00:00Z');

const plain = priced('plain', usd(4));
const banded = priced('banded', { ...usd(3), bands: [{ ...usd(9), fromTokens: 200_001 }] });
const nightly = priced('nightly', { ...usd(6), periods: [{ ...usd(1), fromMinute: 22 * 60, toMinute: 6 * 60 }] });
const dated = priced('dated', { ...usd(2), later: { fromMs: Date.parse('2026-12-01T00:00:00Z'), price: usd(8) } });
const routes = [plain, banded, nightly, dated];

const health = { revision: 1, observed: () => ({ firstByteMs: null, failureShare: 0 }) };
const order = (moment: PriceMoment, list = routes) =>
  rank({ health }, list, { prefer: 'price', stream: false, moment }).map(({ provider }) => provider.id);

describe('the price at the moment of a request', () => {
  it.each([
    ['by day', noon, ['dated', 'banded', 'plain', 'nightly']],
    ['in the hours of a period', at('2026-11-16T23:00:00Z'), ['nightly', 'dated', 'banded', 'plain']],
    [
      'for a prompt at the bound of a band',
      { ...noon, promptTokens: 200_000 },
      ['dated', 'banded', 'plain', 'nightly'],
    ],
    ['for a prompt beyond it', { ...noon, promptTokens: 200_001 }, ['dated', 'plain', 'nightly', 'banded']],
    ['in the last second before a date', at('2026-11-30T21:59:59Z'), ['dated', 'banded', 'plain', 'nightly']],
    ['from a date on', at('2026-12-01T12:00:00Z'), ['banded', 'plain', 'nightly', 'dated']],
    ['and back again, when a clock is set back', noon, ['dated', 'banded', 'plain', 'nightly']],
  ])('ranks %s', (_, moment, expected) => expect(order(moment)).toEqual(expected));

  it('decides what max_price leaves, and what a change of it would admit', () => {
    const policy = policyWith({ max_price: 3 });
    const left = (moment: PriceMoment) =>
      applyGates(policy, routes, moment).eligible.map(({ provider }) => provider.id);
    expect(left(noon)).toEqual(['banded', 'dated']);
    expect(left(at('2026-11-16T23:00:00Z', 300_000))).toEqual(['nightly', 'dated']);
    expect(left(at('2026-12-01T12:00:00Z'))).toEqual(['banded']);
    expect(left(noon)).toEqual(['banded', 'dated']);
    expect(counterfactuals(policy, [banded], { ...noon, promptTokens: 300_000 })).toMatchObject([
      { gate: 'max_price', setting: 9, admits: 1 },
    ]);
  });

  it('is worked out once for the same prices, and not at all where no price varies', () => {
    expect(priceKey([plain, plain], noon)).toBe('');
    expect(priceKey(routes, noon)).toBe(priceKey(routes, { ...noon, promptTokens: 5 }));
    expect(priceKey(routes, noon)).not.toBe(priceKey(routes, { ...noon, promptTokens: 300_000 }));
    const policy = policyWith({ max_price: 3 });
    expect(applyGates(policy, routes, noon)).toBe(applyGates(policy, routes, { ...noon, promptTokens: 5 }));
  });
});
