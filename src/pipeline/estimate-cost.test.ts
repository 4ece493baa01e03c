import { expect, it } from 'vitest';
import { forSeeds } from '../../tests/support/seeded-random.js';
import type { Route } from '../catalogue/route.js';
import { estimateCost } from './estimate-cost.js';

const route = { price: { input: 3n, output: 5n, cachedInput: null, request: 7n }, maxOutputTokens: 100 } as Route;
const asked = { promptTokens: 10, atMs: 0 };

it('holds no output tokens for embeddings and rerank', () => {
  const task = { kind: 'embedding', inputs: [], isTokens: false, format: 'float' } as const;
  expect(estimateCost([route], { ...asked, request: { task } })).toBe(37n);
  expect(estimateCost([route], { ...asked, request: {} })).toBe(537n);
});

it('is the highest of all routes, whatever is left out of the comparison', () => {
  forSeeds(400, (random) => {
    const amount = () => BigInt(random.below(4));
    const routes = Array.from({ length: 1 + random.below(8) }, () => {
      const rates = { input: amount(), output: amount(), cachedInput: null };
      const request = random.chance(0.3) ? { request: amount() * 40n } : {};
      const bands = random.chance(0.3) ? { bands: [{ ...rates, input: amount() + 3n, fromTokens: 50 }] } : {};
      const price = random.chance(0.1) ? null : { ...rates, ...request, ...bands };
      return { price, maxOutputTokens: random.pick([null, 10, 100, 40_000]) } as Route;
    });
    const request = random.chance(0.5) ? {} : { outputMax: random.pick([5, 50, 50_000]) };
    const asking = { request, promptTokens: random.pick([0, 10, 60]), atMs: 0 };
    const each = routes.map((one) => estimateCost([one], asking));
    const highest = each.reduce((most, cost) => (cost > most ? cost : most), 0n);
    expect(estimateCost(routes, asking)).toBe(highest);
    expect(estimateCost(routes, asking)).toBe(highest);
  });
});
