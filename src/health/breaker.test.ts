import { describe, expect, it } from 'vitest';
import { Breaker, type BreakerConfig } from './route-state.js';

const config: BreakerConfig = { failures: 3, windowMs: 30_000, cooldownMs: 10_000, probeMaxMs: 60_000 };

function opened(atMs = 0): Breaker {
  const breaker = new Breaker(config);
  for (let i = 0; i < config.failures; i++) breaker.recordFailure(atMs, null);
  return breaker;
}

describe('opening', () => {
  it('opens at the set number of failures, not before', () => {
    const breaker = new Breaker(config);
    breaker.recordFailure(0, null);
    breaker.recordFailure(1, null);
    expect(breaker.state(2)).toBe('closed');
    breaker.recordFailure(2, null);
    expect(breaker.state(3)).toBe('open');
  });

  it('the window slides: failures on both sides of any fixed boundary count together', () => {
    const breaker = new Breaker(config);
    for (const atMs of [29_000, 30_000, 31_000]) breaker.recordFailure(atMs, null);
    expect(breaker.state(31_000)).toBe('open');
  });

  it('failures that are further apart than the window never open it', () => {
    const breaker = new Breaker(config);
    for (let atMs = 0; atMs < 1_000_000; atMs += 15_001) breaker.recordFailure(atMs, null);
    expect(breaker.closed).toBe(true);
    breaker.recordFailure(1_000_000, null);
    breaker.recordFailure(1_000_001, null);
    expect(breaker.closed).toBe(false);
  });

  it('a success clears the count', () => {
    const breaker = new Breaker(config);
    breaker.recordFailure(0, null);
    breaker.recordFailure(0, null);
    breaker.recordSuccess();
    breaker.recordFailure(0, null);
    breaker.recordFailure(0, null);
    expect(breaker.closed).toBe(true);
  });

  it('with `failures: 1` the first failure opens it', () => {
    const breaker = new Breaker({ ...config, failures: 1 });
    breaker.recordFailure(0, null);
    expect(breaker.state(0)).toBe('open');
  });
});

describe('the cooldown', () => {
  it('ends after its time, to the millisecond', () => {
    const breaker = opened(500);
    expect(breaker.state(10_499)).toBe('open');
    expect(breaker.mayProbe(10_499)).toBe(false);
    expect(breaker.state(10_500)).toBe('half_open');
    expect(breaker.mayProbe(10_500)).toBe(true);
  });

  it('is not extended by failures of pins while open', () => {
    const breaker = opened();
    for (let atMs = 1; atMs < 10_000; atMs += 100) breaker.recordFailure(atMs, 90_000);
    expect(breaker.state(10_000)).toBe('half_open');
  });

  it('is lengthened by a Retry-After, at most tenfold', () => {
    const ends = (retryAfterMs: number): number => {
      const breaker = new Breaker({ ...config, failures: 1 });
      breaker.recordFailure(0, retryAfterMs);
      let atMs = 0;
      while (breaker.state(atMs) === 'open') atMs += 1000;
      return atMs;
    };
    expect(ends(25_000)).toBe(25_000);
    expect(ends(1000)).toBe(10_000);
    expect(ends(86_400_000)).toBe(100_000);
    expect(ends(Number.POSITIVE_INFINITY)).toBe(100_000);
    expect(ends(-5)).toBe(10_000);
    expect(ends(Number.NaN)).toBe(10_000);
  });

  it('is lengthened by the Retry-After of an earlier failure of the window, counted from that failure', () => {
    const breaker = new Breaker(config);
    breaker.recordFailure(0, 40_000);
    breaker.recordFailure(1000, null);
    breaker.recordFailure(2000, null);
    expect(breaker.state(39_999)).toBe('open');
    expect(breaker.state(40_000)).toBe('half_open');
  });

  it('is not lengthened by a Retry-After that a success or the window has cleared', () => {
    const breaker = new Breaker(config);
    breaker.recordFailure(0, 90_000);
    for (const atMs of [31_000, 32_000, 33_000]) breaker.recordFailure(atMs, null);
    expect(breaker.state(43_000)).toBe('half_open');
    breaker.recordSuccess();
    for (let i = 0; i < 3; i++) breaker.recordFailure(50_000, null);
    expect(breaker.state(60_000)).toBe('half_open');
  });
});

describe('half-open', () => {
  it('has one probe at a time', () => {
    const breaker = opened();
    breaker.beginProbe(10_000);
    expect(breaker.mayProbe(10_000)).toBe(false);
    expect(breaker.mayProbe(20_000)).toBe(false);
  });

  it('a probe that ends neutrally frees the slot at once', () => {
    const breaker = opened();
    breaker.endProbe(breaker.beginProbe(10_000));
    expect(breaker.mayProbe(10_000)).toBe(true);
  });

  it('a success closes it', () => {
    const breaker = opened();
    breaker.beginProbe(10_000);
    breaker.recordSuccess();
    expect(breaker.state(10_000)).toBe('closed');
  });

  it('one counted failure opens it again for a new cooldown', () => {
    const breaker = opened();
    const probe = breaker.beginProbe(12_000);
    breaker.recordFailure(13_000, null);
    breaker.endProbe(probe);
    expect(breaker.state(22_999)).toBe('open');
    expect(breaker.mayProbe(23_000)).toBe(true);
  });

  it('a pin’s failure opens it again, and the probe under way keeps its slot until it ends', () => {
    const breaker = opened();
    const probe = breaker.beginProbe(10_000);
    breaker.recordFailure(11_000, null);
    expect(breaker.state(21_000)).toBe('half_open');
    expect(breaker.mayProbe(21_000)).toBe(false);
    breaker.endProbe(probe);
    expect(breaker.mayProbe(21_000)).toBe(true);
  });

  it('a probe that never reports is given up after its bound, and its late end does not free the next one’s slot', () => {
    const breaker = opened();
    const lost = breaker.beginProbe(10_000);
    expect(breaker.mayProbe(69_999)).toBe(false);
    expect(breaker.mayProbe(70_000)).toBe(true);
    breaker.beginProbe(70_000);
    breaker.endProbe(lost);
    expect(breaker.mayProbe(70_001)).toBe(false);
  });

  it('a probe from before a success does not hold or free the slot of a later opening', () => {
    const breaker = opened();
    const old = breaker.beginProbe(10_000);
    breaker.recordSuccess();
    for (let i = 0; i < 3; i++) breaker.recordFailure(11_000, null);
    expect(breaker.mayProbe(21_000)).toBe(true);
    breaker.beginProbe(21_000);
    breaker.endProbe(old);
    expect(breaker.mayProbe(21_000)).toBe(false);
  });
});
