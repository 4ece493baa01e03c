import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../tests/support/manual-clock.js';
import { SeededRandom } from '../../../tests/support/seeded-random.js';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import { silentLogger } from '../../base/logger.js';
import type { ProviderKey } from '../../base/provider-key.js';
import type { Provider, RouteCredential } from '../../catalogue/route.js';
import type { Failure } from '../classify/failure.js';
import { KeyPool, usesKeys } from './key-pool.js';

const keyOf = (name: string, weight = 1, more: Partial<ProviderKey> = {}): ProviderKey => ({
  ...{ name, apiKey: `sk-${name}`, weight, models: null },
  ...more,
});
const [route] = smallSnapshot().routes.values();

function poolOf(keys: ProviderKey[]) {
  const clock = new ManualClock('2026-01-15T12:00:00Z');
  const pool = new KeyPool({ clock, logger: silentLogger });
  const provider: Provider = { ...route!.provider, keys };
  const load = (keys: ProviderKey[]) => {
    const changed = { ...provider, keys };
    pool.load({
      providers: new Map([[provider.id, changed]]),
      routes: new Map([[route!.id, { ...route!, provider: changed }]]),
    });
    return changed;
  };
  load(keys);
  const taken = (from = provider) => pool.take(from);
  const once = (outcome: Failure | 'served' = 'served', from = provider) => {
    const one = pool.take(from)!;
    one.end(outcome);
    return one.key.name;
  };
  return { clock, pool, provider, load, taken, once };
}

const failure = (meaning: Failure['meaning'], status: number, more: Partial<Failure> = {}): Failure => ({
  ...{ meaning, status, quote: 'no' },
  ...more,
});
const limited = (retryAfterMs?: number) =>
  failure('rate_limit', 429, retryAfterMs === undefined ? {} : { retryAfterMs });
const many = (count: number, next: () => string) => Array.from({ length: count }, () => next()).join('');

describe('a call takes a key of the operator', () => {
  const keys = [keyOf('a'), keyOf('b')];
  const ofCustomer: RouteCredential = {
    ...{
      id: 'cred-1',
      owner: 'account',
      name: 'ours',
      use: 'first',
      secretKey: 'cred-1.1',
      healthKey: 'route cred-1.1',
    },
    fee: { percent: 0n, perRequestPico: 0n },
  };

  it.each([
    ['where its provider has several', { keys }, undefined, true],
    ['also where there is one in the list', { keys: [keyOf('a')] }, undefined, true],
    ['but not where it has a single `api_key`', {}, undefined, false],
    ['nor where the customer’s own credential is called with', { keys }, ofCustomer, false],
  ] as const)('%s', (_, more, credential, expected) => {
    const candidate = { ...route!, provider: { ...route!.provider, ...more }, ...(credential && { credential }) };
    expect(usesKeys(candidate)).toBe(expected);
  });
});

describe('the choice of a key', () => {
  it('is the one with the fewest running requests, equal ones in turn', () => {
    const { taken, once } = poolOf([keyOf('a'), keyOf('b'), keyOf('c')]);
    expect(many(6, once)).toBe('abcabc');
    const running = [taken()!, taken()!];
    expect(running.map(({ key }) => key.name)).toEqual(['a', 'b']);
    expect(many(3, once)).toBe('ccc');
    running[0]!.end('served');
    expect(taken()!.key.name).toBe('a');
    expect(taken()!.key.name).toBe('c');
  });

  it('gives each its weight: of the running ones, and of those that follow one another', () => {
    const { taken, once } = poolOf([keyOf('a', 3), keyOf('b')]);
    expect(many(8, once).replaceAll('a', '')).toBe('bb');
    const names = Array.from({ length: 8 }, () => taken()!.key.name).join('');
    expect(names.replaceAll('a', '')).toBe('bb');
  });

  it('keeps to weights that are no integers', () => {
    const { once } = poolOf([keyOf('a', 1.5), keyOf('b', 1)]);
    expect(many(500, once).replaceAll('b', '')).toHaveLength(300);
  });

  it.each([1, 2, 3, 5, 8, 40])('has shares within 10 % of the weights, %i requests at a time', (atOnce) => {
    const weights = { a: 4, b: 3, c: 2, d: 1 };
    const { pool, provider } = poolOf(Object.entries(weights).map(([name, weight]) => keyOf(name, weight)));
    const random = new SeededRandom(atOnce);
    const running: NonNullable<ReturnType<KeyPool['take']>>[] = [];
    const counts: Record<string, number> = { a: 0, b: 0, c: 0, d: 0 };
    const requests = 4_000;
    for (let i = 0; i < requests; i++) {
      if (running.length === atOnce) running.splice(random.below(atOnce), 1)[0]!.end('served');
      const one = pool.take(provider)!;
      running.push(one);
      counts[one.key.name]!++;
    }
    for (const [name, weight] of Object.entries(weights)) {
      const share = (counts[name]! / requests) * 10;
      expect(Math.abs(share / weight - 1), `${name}: ${share}`).toBeLessThan(0.1);
    }
  });

  it('prefers a key that is behind by ten calls at most, and one that was held by none', () => {
    const [a, b] = [keyOf('a'), keyOf('b')];
    const { pool, provider, once, taken, clock } = poolOf([a, b]);
    const onlyA = { ...provider, keys: [a] };
    expect(many(2, once)).toBe('ab');
    expect(many(50, () => once('served', onlyA))).toBe('a'.repeat(50));
    expect(many(14, once)).toMatch(/^b{10}(ab|ba){2}$/);
    const one = taken()!;
    one.end(limited());
    const other = one.key.name === 'a' ? 'b' : 'a';
    expect(many(50, once)).toBe(other.repeat(50));
    clock.advance(10_000);
    expect(many(4, once)).toMatch(/^(ab){2}$|^(ba){2}$/);
    expect(pool.viewsOf(provider).map(({ running }) => running)).toEqual([0, 0]);
  });
});

describe('a key that is limited', () => {
  it('is held for what the provider says', () => {
    const { clock, pool, provider, once } = poolOf([keyOf('a'), keyOf('b')]);
    once(limited(3_000));
    expect(many(3, once)).toBe('bbb');
    expect(pool.viewsOf(provider)[0]).toMatchObject({
      state: 'held',
      held: { until: clock.now() + 3_000, reason: 'limited' },
    });
    clock.advance(2_999);
    expect(once()).toBe('b');
    clock.advance(1);
    expect(many(4, once)).toContain('a');
  });

  it('is else held for 10 s, doubling to 60 s until it serves', () => {
    const { clock, provider, pool, once } = poolOf([keyOf('a')]);
    const heldMs = () => pool.waitMs(provider);
    const seconds: (number | null)[] = [];
    for (let i = 0; i < 5; i++) {
      once(limited());
      seconds.push(heldMs());
      clock.advance(heldMs()!);
    }
    expect(seconds).toEqual([10_000, 20_000, 40_000, 60_000, 60_000]);
    once();
    once(failure('billing', 402));
    expect(heldMs()).toBe(10_000);
  });

  it('counts attempts side by side as one, and the longest time that was stated', () => {
    const { clock, provider, pool, taken, once } = poolOf([keyOf('a')]);
    const running = [1, 2, 3, 4].map(() => taken()!);
    running[0]!.end(limited());
    running[1]!.end(limited());
    expect(pool.waitMs(provider)).toBe(10_000);
    running[2]!.end(limited(30_000));
    running[3]!.end('served');
    expect(pool.waitMs(provider)).toBe(30_000);
    clock.advance(30_000);
    once(limited());
    expect(pool.waitMs(provider)).toBe(20_000);
  });

  it('by a daily quota without a stated time is held until midnight UTC, also where the clock is set', () => {
    const { clock, pool, once } = poolOf([keyOf('a'), keyOf('b')]);
    once(failure('quota', 429));
    once(failure('quota', 429, { retryAfterMs: 5_000 }));
    expect(pool.spentUntil(route!.id)).toBe(clock.now() + 5_000);
    clock.advance(5_000);
    expect(pool.spentUntil(route!.id)).toBeNull();
    expect(many(2, once)).toBe('bb');
    clock.setWall('2026-01-15T23:59:59.999Z');
    expect(once()).toBe('b');
    clock.setWall('2026-01-16T00:00:00Z');
    expect(many(2, once)).toContain('a');
  });

  it('by a quota is used again when an operator lifts the hold', () => {
    const { clock, pool, once, taken } = poolOf([keyOf('a')]);
    once(failure('quota', 429));
    expect(pool.spentUntil(route!.id)).toBe(Date.parse('2026-01-16T00:00:00Z'));
    expect(taken()).toBeNull();
    expect(pool.lift(route!.id)).toBe(true);
    expect(pool.lift(route!.id)).toBe(false);
    expect(taken()!.key.name).toBe('a');
    expect(clock.now()).toBe(Date.parse('2026-01-15T12:00:00Z'));
  });
});

describe('a key that is refused', () => {
  it('is ruled out until the next reload', () => {
    const { clock, pool, provider, load, once } = poolOf([keyOf('a'), keyOf('b')]);
    once(failure('auth', 401));
    clock.advance(86_400_000);
    expect(many(3, once)).toBe('bbb');
    once(failure('auth', 403));
    expect(pool.obstacleOf(provider)).toBe('refused');
    load([keyOf('a'), keyOf('b')]);
    expect(pool.obstacleOf(provider)).toBeNull();
    expect(many(2, once)).toMatch(/ab|ba/);
  });

  it.each([
    ['a proxy', failure('auth', 407)],
    ['a country', failure('auth', 451)],
    ['a model that is missing', failure('unknown_model', 404)],
    ['what is missing, in words of access', failure('auth', 404)],
    ['what is gone, in words of access', failure('auth', 410)],
    ['words that the request has too', failure('auth', 400, { disputed: true })],
    ['the request', failure('rejected', 429)],
    ['the provider', failure('server_error', 500)],
    ['the line', failure('connection', null as never)],
  ])('is not a key whose attempt failed because of %s', (_, other) => {
    const { provider, pool, taken } = poolOf([keyOf('a')]);
    expect(taken()!.end(other)).toBe(false);
    expect(pool.obstacleOf(provider)).toBeNull();
  });
});

describe('all keys', () => {
  it('are limited where one of them will come back by itself', () => {
    const { pool, provider, taken } = poolOf([keyOf('a'), keyOf('b'), keyOf('c')]);
    const running = [taken()!, taken()!, taken()!];
    expect(running[0]!.end(failure('quota', 429))).toBe(true);
    expect(running[1]!.end(failure('auth', 401))).toBe(true);
    expect(pool.obstacleOf(provider)).toBeNull();
    running[2]!.end(limited());
    expect(pool.obstacleOf(provider)).toBe('limited');
    expect(pool.spentUntil(route!.id)).toBeNull();
    expect(pool.waitMs(provider)).toBe(10_000);
  });

  it('that were tried by one request are not tried again by it', () => {
    const { pool, provider } = poolOf([keyOf('a'), keyOf('b')]);
    const one = pool.take(provider)!;
    one.end(limited(1));
    expect(pool.take(provider, [one.key])!.key.name).toBe('b');
    expect(pool.take(provider, provider.keys)).toBeNull();
  });
});

describe('a reload', () => {
  it('keeps holds, counts and what runs; a key with another secret is another key', () => {
    const { pool, load, taken, once } = poolOf([keyOf('a'), keyOf('b')]);
    const running = taken()!;
    once(limited());
    const after = load([keyOf('a', 2), keyOf('b', 1, { apiKey: 'sk-new' }), keyOf('c')]);
    expect(pool.viewsOf(after)).toMatchObject([
      { name: 'a', weight: 2, running: 1, state: 'ready' },
      { name: 'b', running: 0, calls: 0, state: 'ready' },
      { name: 'c', calls: 0 },
    ]);
    running.end(limited());
    expect(pool.views()).toMatchObject([{ running: 0, calls: 1, state: 'held' }, { name: 'b' }, { name: 'c' }]);
  });
});
