import { afterEach, describe, expect, it, vi } from 'vitest';
import { forSeeds } from '../../tests/support/seeded-random.js';
import {
  durationText,
  instantMs,
  nextMidnightUtc,
  parseDurationMs,
  secondsToMidnightUtc,
  startOfUtcDay,
  utcDay,
} from './time.js';

describe('durations', () => {
  it.each([
    [15_000, '15s'],
    [30_000, '30s'],
    [90_000, '1m30s'],
    [150_000, '2m30s'],
    [300_000, '5m0s'],
    [3_600_000, '1h0m0s'],
    [250, '250ms'],
    [1_500, '1.5s'],
  ])('prints %d ms in Go\u2019s form as %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
    expect(parseDurationMs(text)).toBe(ms);
  });

  it('reads back whatever it prints', () => {
    forSeeds(500, (random) => {
      const ms = random.below(random.pick([1_000, 60_000, 3_600_000, 100_000_000]));
      expect(parseDurationMs(durationText(ms))).toBeCloseTo(ms, 6);
    });
  });

  it.each(['', ' ', '5', 's', '5 s', '5s ', '1m30', '-5s', '1d', '5ss', '1.s', '5S', '1m 30s'])(
    'takes %j for no duration',
    (text) => expect(parseDurationMs(text)).toBeUndefined(),
  );

  it('keeps no state from a text that failed', () => {
    expect(parseDurationMs('1m30x')).toBeUndefined();
    expect(parseDurationMs('1m30s')).toBe(90_000);
  });
});

describe('a moment', () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each(['UTC', 'America/New_York', 'Asia/Kolkata'])('without an offset is UTC, also in %s', (zone) => {
    vi.stubEnv('TZ', zone);
    const noon = Date.UTC(2026, 10, 16, 12);
    for (const text of ['2026-11-16T12:00', '2026-11-16T12:00:00', '2026-11-16T12:00:00.000000', '2026-11-16T12:00Z'])
      expect(instantMs(text)).toBe(noon);
    expect(instantMs('2026-11-16T12:00+01:00')).toBe(noon - 3_600_000);
    expect(instantMs('2026-11-16')).toBe(Date.UTC(2026, 10, 16));
    expect(instantMs('1970-01-01T00:00+01:00')).toBe(0);
  });

  it.each(['', 'now', '2026-02-30', '2026-11-16 12:00', '2026-11-16T25:00', '16.11.2026'])('is not %j', (text) =>
    expect(instantMs(text)).toBeUndefined(),
  );
});

describe('seconds to midnight UTC', () => {
  it.each([
    ['2026-01-15T00:00:00.000Z', 86_400],
    ['2026-01-15T00:00:00.001Z', 86_400],
    ['2026-01-15T12:00:00.000Z', 43_200],
    ['2026-01-15T23:59:58.000Z', 2],
    ['2026-01-15T23:59:59.000Z', 1],
    ['2026-01-15T23:59:59.999Z', 1],
    ['2026-03-29T00:59:59.999Z', 82_801],
  ])('%s is %i away', (now, seconds) => {
    expect(secondsToMidnightUtc(Date.parse(now))).toBe(seconds);
  });

  it('are always 1 to 86400, and never end before it', () => {
    for (let at = Date.parse('2026-10-24T22:00:00Z'); at < Date.parse('2026-10-26T02:00:00Z'); at += 97_357) {
      const seconds = secondsToMidnightUtc(at);
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(86_400);
      expect(at + seconds * 1000).toBeGreaterThanOrEqual(nextMidnightUtc(at));
      expect(nextMidnightUtc(at) % 86_400_000).toBe(0);
    }
  });
});

describe('the UTC day', () => {
  it('changes at midnight UTC and at no other moment', () => {
    const midnight = Date.parse('2026-03-29T00:00:00Z');
    expect(utcDay(midnight) - utcDay(midnight - 1)).toBe(1);
    expect(utcDay(midnight + 86_399_999)).toBe(utcDay(midnight));
    expect(startOfUtcDay(utcDay(midnight + 12_345))).toBe(midnight);
  });
});
