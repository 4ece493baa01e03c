import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { SeededRandom } from '../../tests/support/seeded-random.js';
import { type Permit, RouteHealth } from './route-health.js';

const route = 'acme/meta/llama/defra';
const config = { failures: 5, windowMs: 30_000, cooldownMs: 30_000, probeMaxMs: 305_000 };

function fresh(start?: { openRoute: true }) {
  const clock = new ManualClock();
  const health = new RouteHealth(clock, config);
  const fail = () => health.begin(route, false, true)!.fail(null);
  if (start?.openRoute) for (let i = 0; i < config.failures; i++) fail();
  return { clock, health, fail };
}

describe('breakers by route', () => {
  it('an open one refuses auto/ walks and no other route, and never a pin', () => {
    const { health } = fresh({ openRoute: true });
    expect(health.begin(route, false, false)).toBeNull();
    expect(health.isOpen(route)).toBe(true);
    expect(health.begin(route, false, true)).not.toBeNull();
    expect(health.begin('zeta/meta/llama/global', false, false)).not.toBeNull();
    expect(health.isOpen('zeta/meta/llama/global')).toBe(false);
    expect(health.view(route).breaker).toBe('open');
  });

  it('a pin’s success closes it at any time', () => {
    const { health } = fresh({ openRoute: true });
    health.begin(route, false, true)!.succeed(100);
    expect(health.view(route).breaker).toBe('closed');
    expect(health.begin(route, false, false)).not.toBeNull();
  });

  it('500 parallel requests at the end of the cooldown: one permit', () => {
    const { clock, health } = fresh({ openRoute: true });
    clock.advance(30_000);
    expect(health.isOpen(route)).toBe(false);
    const permits = Array.from({ length: 500 }, () => health.begin(route, true, false));
    expect(permits.filter((permit) => permit !== null)).toHaveLength(1);
    expect(health.isOpen(route)).toBe(true);
    expect(health.view(route).breaker).toBe('half_open');
  });

  it('asking whether it is open takes no probe slot', () => {
    const { clock, health } = fresh({ openRoute: true });
    clock.advance(30_000);
    for (let i = 0; i < 10; i++) expect(health.isOpen(route)).toBe(false);
    expect(health.begin(route, false, false)).not.toBeNull();
  });

  it('a probe that is a rejected request lets the next one probe at once', () => {
    const { clock, health } = fresh({ openRoute: true });
    clock.advance(30_000);
    for (let i = 0; i < 50; i++) health.begin(route, false, false)!.release();
    health.begin(route, false, false)!.succeed(5);
    expect(health.view(route).breaker).toBe('closed');
  });

  it('1,000 rejections do nothing to a route', () => {
    const { health } = fresh();
    for (let i = 0; i < 1000; i++) health.begin(route, false, false)!.release();
    expect(health.view(route)).toEqual({ breaker: 'closed', latency_ms: null, error_rate: null });
    expect(health.revision).toBe(0);
  });

  it('the first content of a probe’s stream closes it; a cut later is one counted failure', () => {
    const { clock, health, fail } = fresh({ openRoute: true });
    clock.advance(30_000);
    const stream = health.begin(route, true, false)!;
    stream.reportContent();
    expect(health.view(route).breaker).toBe('closed');
    expect(health.begin(route, true, false)).not.toBeNull();
    stream.fail(null);
    for (let i = 0; i < 3; i++) fail();
    expect(health.view(route).breaker).toBe('closed');
    fail();
    expect(health.view(route).breaker).toBe('open');
  });

  it('attempts from before an opening that end after it neither open it again nor count once it has closed', () => {
    const { clock, health, fail } = fresh();
    const slow = Array.from({ length: 12 }, (_, i) => health.begin(route, false, i % 2 === 0)!);
    for (let i = 0; i < config.failures; i++) fail();
    clock.advance(30_000);
    for (const permit of slow.slice(0, 6)) permit.fail(90_000);
    expect(health.view(route).breaker).toBe('half_open');
    health.begin(route, false, false)!.succeed(5);
    for (const permit of slow.slice(6)) permit.fail(90_000);
    expect(health.view(route)).toMatchObject({ breaker: 'closed', error_rate: 17 / 18 });
    for (let i = 0; i < config.failures; i++) fail();
    expect(health.view(route).breaker).toBe('open');
  });

  it.each([
    ['a pin', true],
    ['a walk', false],
  ])('a success of an attempt of %s that began before the opening neither closes it nor clears a count', (_, pin) => {
    const { clock, health, fail } = fresh();
    const early = () => health.begin(route, true, pin)!;
    const [whole, stream, afterCooldown, afterClosing] = [early(), early(), early(), early()];
    for (let i = 0; i < config.failures; i++) fail();
    whole.succeed(100);
    stream.reportContent();
    stream.succeed(100);
    expect(health.view(route).breaker).toBe('open');
    clock.advance(30_000);
    afterCooldown.succeed(100);
    expect(health.view(route).breaker).toBe('half_open');
    health.begin(route, false, false)!.succeed(5);
    expect(health.view(route).breaker).toBe('closed');
    for (let i = 0; i < config.failures - 1; i++) fail();
    afterClosing.reportContent();
    afterClosing.succeed(100);
    fail();
    expect(health.view(route).breaker).toBe('open');
  });

  it('a probe that succeeds after a pin has opened it again closes nothing, but frees its slot', () => {
    const { clock, health, fail } = fresh({ openRoute: true });
    clock.advance(30_000);
    const probe = health.begin(route, false, false)!;
    fail();
    probe.succeed(5);
    expect(health.view(route).breaker).toBe('open');
    clock.advance(30_000);
    health.begin(route, false, false)!.succeed(5);
    expect(health.view(route).breaker).toBe('closed');
  });

  it('only the first end of a permit counts', () => {
    const { health } = fresh({ openRoute: true });
    const permit = health.begin(route, false, true)!;
    permit.release();
    permit.reportContent();
    permit.succeed(100);
    permit.fail(null);
    expect(health.view(route)).toEqual({ breaker: 'open', latency_ms: null, error_rate: 1 });
  });

  it('the wall clock plays no part', () => {
    const { clock, health } = fresh({ openRoute: true });
    for (const time of ['1999-01-01T00:00:00Z', '2040-01-01T00:00:00Z']) {
      clock.setWall(time);
      expect(health.isOpen(route)).toBe(true);
    }
    clock.advance(30_000);
    expect(health.isOpen(route)).toBe(false);
  });

  it('500 cycles with random probe ends: never stuck, never two probes', () => {
    const random = new SeededRandom(500);
    const { clock, health, fail } = fresh();
    let cycles = 0;
    let reopened = 0;
    while (cycles < 500) {
      while (!health.isOpen(route)) fail();
      clock.advance(30_000 + random.below(5000));
      for (let tries = 0; health.view(route).breaker === 'half_open'; tries++) {
        expect(tries).toBeLessThan(50);
        const probe: Permit | null = health.begin(route, random.chance(0.5), false);
        if (!probe) expect.fail('stuck: half-open with no probe under way, and none is allowed');
        expect(health.begin(route, true, false)).toBeNull();
        clock.advance(random.below(200_000));
        expect(health.begin(route, true, false)).toBeNull();
        reopened += endOf(probe, random, clock);
        if (health.view(route).breaker === 'open') clock.advance(30_000);
      }
      expect(health.view(route).breaker).toBe('closed');
      cycles++;
    }
    expect(reopened).toBeGreaterThan(100);
  });
});

/** Ends the probe at random; 1 where it failed. */
function endOf(probe: Permit, random: SeededRandom, clock: ManualClock): number {
  const end = random.pick(['success', 'content', 'failure', 'neutral', 'lost'] as const);
  if (end === 'success') probe.succeed(random.below(1000));
  else if (end === 'content') probe.reportContent();
  else if (end === 'failure') probe.fail(null);
  else if (end === 'neutral') probe.release();
  else clock.advance(config.probeMaxMs);
  return end === 'failure' ? 1 : 0;
}

describe('the figures for ranking', () => {
  it('nothing of a route that was never measured', () => {
    const { health } = fresh();
    expect(health.observed(route, true)).toEqual({ firstByteMs: null, failureShare: 0 });
  });

  it('smoothed first bytes, rounded up to 100 ms, of streams and whole answers apart', () => {
    const { health } = fresh();
    health.begin(route, true, false)!.succeed(201);
    health.begin(route, false, false)!.succeed(2000);
    expect(health.observed(route, true).firstByteMs).toBe(300);
    expect(health.observed(route, false).firstByteMs).toBe(2000);
    // 2000 + 0.2 × (1000 − 2000) = 1800
    health.begin(route, false, false)!.succeed(1000);
    expect(health.observed(route, false).firstByteMs).toBe(1800);
    health.begin(route, true, false)!.succeed(null);
    expect(health.observed(route, true).firstByteMs).toBe(300);
  });

  it('the revision moves with a step, not with noise; nothing new is allocated meanwhile', () => {
    const { health } = fresh();
    health.begin(route, true, false)!.succeed(150);
    const { revision } = health;
    const before = health.observed(route, true);
    for (const firstByteMs of [140, 160, 120, 199, 101]) health.begin(route, true, false)!.succeed(firstByteMs);
    expect(health.revision).toBe(revision);
    expect(health.observed(route, true)).toBe(before);
    health.begin(route, true, false)!.succeed(900);
    expect(health.revision).toBeGreaterThan(revision);
    expect(health.observed(route, true).firstByteMs).toBe(300);
  });

  it('the share of failures in steps of 5 %, 0 while fewer than 20 attempts were seen', () => {
    const { health } = fresh();
    for (let i = 0; i < 4; i++) health.begin(route, true, true)!.fail(null);
    for (let i = 0; i < 15; i++) health.begin(route, true, true)!.succeed(null);
    expect(health.observed(route, true).failureShare).toBe(0);
    const { revision } = health;
    health.begin(route, true, true)!.succeed(null);
    expect(health.observed(route, true).failureShare).toBe(0.2);
    expect(health.observed(route, false).failureShare).toBe(0.2);
    expect(health.revision).toBe(revision + 1);
    health.begin(route, true, true)!.succeed(null);
    expect(health.observed(route, true).failureShare).toBe(0.2);
    expect(health.revision).toBe(revision + 1);
  });

  it('time alone takes failures away, and the revision says so', () => {
    const { clock, health } = fresh();
    for (let i = 0; i < 20; i++) health.begin(route, true, true)!.fail(null);
    expect(health.observed(route, true).failureShare).toBe(1);
    const { revision } = health;
    clock.advance(269_999);
    expect(health.revision).toBe(revision);
    clock.advance(30_001);
    expect(health.revision).toBe(revision + 1);
    expect(health.observed(route, true).failureShare).toBe(0);
    expect(health.view(route).error_rate).toBeNull();
  });

  it('a first byte counts for five minutes: a route that was slow once gets its chance again', () => {
    const { clock, health } = fresh();
    health.begin(route, true, false)!.succeed(900);
    clock.advance(5 * 60_000);
    expect(health.observed(route, true).firstByteMs).toBe(900);
    const before = health.revision;
    clock.advance(60_000);
    expect(health.revision).not.toBe(before);
    expect(health.observed(route, true).firstByteMs).toBeNull();
  });

  it('nothing of a route that has left the catalogue', () => {
    const { health } = fresh({ openRoute: true });
    const { revision } = health;
    const late = health.begin(route, true, true)!;
    health.forget(new Set(['zeta/meta/llama/global']));
    late.fail(null);
    expect(health.view(route)).toEqual({ breaker: 'closed', latency_ms: null, error_rate: null });
    expect(health.revision).toBeGreaterThan(revision);
  });
});

it('keeps as many states as it may, of those that were used last', () => {
  const health = new RouteHealth(new ManualClock(), config, undefined, 4);
  const use = (name: string) => health.begin(name, true, true)!.succeed(100);
  for (const name of ['a', 'b', 'c', 'd', 'a', 'e', 'f']) use(name);
  const isKept = (name: string) => health.observed(name, true).firstByteMs !== null;
  expect(['a', 'b', 'c', 'd', 'e', 'f'].filter(isKept)).toEqual(['a', 'd', 'e', 'f']);
  expect(health.size).toBe(4);
});

describe('the figures for operators', () => {
  it('latency over both kinds and the plain error rate, from the first attempt on', () => {
    const { health } = fresh();
    health.begin(route, true, false)!.succeed(100);
    health.begin(route, false, false)!.succeed(203);
    health.begin(route, false, false)!.fail(null);
    expect(health.view(route)).toEqual({ breaker: 'closed', latency_ms: 121, error_rate: 1 / 3 });
  });
});
