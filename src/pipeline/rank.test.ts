import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../tests/support/seeded-random.js';
import { smallSnapshot } from '../../tests/support/snapshot.js';
import type { Route } from '../catalogue/route.js';
import type { Observed } from '../health/route-state.js';
import { preferences } from '../policy/routing-policy.js';
import { scoreRoutes, terms, weights } from './rank.js';

interface Figures {
  /** USD per million tokens, in and out together. */
  price?: number | null;
  carbon?: number | null;
  firstByteMs?: number | null;
  failureShare?: number;
  configured?: boolean;
}

const sample = smallSnapshot().routes.get('acme/meta/llama/defra')!;

/** Routes named by their keys, with these figures; the rest alike. */
function ranked(all: Record<string, Figures>, prefer: (typeof preferences)[number] = 'balanced') {
  const observed = new Map<Route, Observed>();
  const routes = Object.entries(all).map(([id, figures]): Route => {
    const { price = 1, carbon = 100, firstByteMs = null, failureShare = 0, configured = true } = figures;
    const pico = price === null ? null : BigInt(Math.round(price * 1e6));
    const route: Route = {
      ...sample,
      id,
      provider: { ...sample.provider, configured },
      price: pico === null ? null : { input: pico, output: 0n, cachedInput: null },
      carbon,
    };
    observed.set(route, { firstByteMs, failureShare });
    return route;
  });
  return scoreRoutes(routes, prefer, { atMs: 0, promptTokens: 0 }, (route) => observed.get(route)!);
}

const order = (...args: Parameters<typeof ranked>) => ranked(...args).map(({ route }) => route.id);

describe('the score of a candidate', () => {
  it('puts the cheapest first where everything else is alike, under every preference', () => {
    for (const prefer of preferences)
      expect(order({ dear: { price: 2 }, cheap: { price: 1 } }, prefer)).toEqual(['cheap', 'dear']);
  });

  it('follows `prefer` where the figures pull apart', () => {
    const routes = {
      cheap: { price: 0.5, carbon: 600, firstByteMs: 900 },
      fast: { price: 3, carbon: 400, firstByteMs: 200 },
      clean: { price: 4, carbon: 20, firstByteMs: 800 },
    };
    expect(order(routes, 'price')[0]).toBe('cheap');
    expect(order(routes, 'latency')[0]).toBe('fast');
    expect(order(routes, 'carbon')[0]).toBe('clean');
  });

  it('ranks a route without a published carbon figure after all that have one, however cheap, under every preference', () => {
    for (const prefer of preferences) {
      expect(order({ free: { price: 0, carbon: null }, dear: { price: 90, carbon: 900 } }, prefer)).toEqual([
        'dear',
        'free',
      ]);
    }
  });

  it('ranks a route without a published price last of all', () => {
    const routes = {
      unpriced: { price: null, carbon: 1 },
      neither: { price: null, carbon: null },
      unclean: { carbon: null },
    };
    for (const prefer of preferences) expect(order(routes, prefer)).toEqual(['unclean', 'unpriced', 'neither']);
  });

  it('keeps the order of the catalogue on a tie', () => {
    expect(order({ b: {}, a: {}, c: {} })).toEqual(['b', 'a', 'c']);
  });

  it('gives a route that was never measured its chance', () => {
    expect(order({ slow: { firstByteMs: 800 }, unmeasured: {} }, 'latency')).toEqual(['unmeasured', 'slow']);
  });

  it('lets recent failures decide between near equals', () => {
    expect(order({ failing: { failureShare: 0.5 }, steady: { price: 1.02 } })).toEqual(['steady', 'failing']);
  });

  it('measures nobody by a provider that has no credentials', () => {
    const alone = ranked({ a: { price: 2, carbon: 300 } })[0]!.score;
    const beside = ranked({ a: { price: 2, carbon: 300 }, absent: { price: 0, carbon: 0, configured: false } });
    expect(beside.find(({ route }) => route.id === 'a')!.score).toEqual(alone);
  });

  it('is between 0 and 1 in total and in every term, and the same for the same figures, in any order', () => {
    const random = new SeededRandom(7);
    for (let round = 0; round < 500; round++) {
      const all: Record<string, Figures> = {};
      for (let i = 0; i < 1 + random.below(8); i++) {
        all[`r${i}`] = {
          price: random.below(5) === 0 ? null : random.below(1000) / 100,
          carbon: random.below(5) === 0 ? null : random.below(900),
          firstByteMs: random.below(3) === 0 ? null : 100 * random.below(40),
          failureShare: random.below(20) / 20,
          configured: random.below(4) > 0,
        };
      }
      const prefer = preferences[random.below(preferences.length)]!;
      const once = ranked(all, prefer);
      for (const { score } of once) {
        for (const value of [score.total, ...terms.map((term) => score[term] ?? 0)]) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
        }
      }
      const reversed = ranked(Object.fromEntries(Object.entries(all).reverse()), prefer);
      const totals = (list: typeof once) => Object.fromEntries(list.map(({ route, score }) => [route.id, score]));
      expect(totals(reversed)).toEqual(totals(once));
    }
  });

  it('has weights that add up to 1', () => {
    for (const prefer of preferences) {
      expect(terms.reduce((sum, term) => sum + weights[prefer][term], 0)).toBeCloseTo(1, 12);
    }
  });

  it('is published with the weights in use and a worked example that is true', () => {
    const guide = readFileSync(new URL('../../docs/guide/routing.md', import.meta.url), 'utf8');
    for (const prefer of preferences) {
      const row = terms.map((term) => weights[prefer][term].toFixed(2)).join(' | ');
      expect(guide).toContain(`| \`${prefer}\` | ${row} |`);
    }
    const example = ranked({
      'acme/defra': { price: 1.4, carbon: 344, firstByteMs: 400 },
      'zeta/sesto': { price: 2, carbon: 21, firstByteMs: 600 },
      'nova/global': { price: 0.8, carbon: null },
    });
    for (const { route, score } of example) {
      const cell = (value: number | null) => (value === null ? 'unknown' : value.toFixed(3));
      const row = [score.price, score.latency, score.failures, score.carbon, score.total].map(cell).join(' | ');
      expect(guide).toContain(`| \`${route.id}\` | ${row} |`);
    }
    expect(guide).toContain(example.map(({ route }) => `\`${route.id}\``).join(', then '));
  });
});
