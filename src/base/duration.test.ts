import { describe, expect, it } from 'vitest';
import { forSeeds } from '../../tests/support/seeded-random.js';
import { durationText, parseDurationMs } from './duration.js';

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
  ])('prints %d ms in Go\u2019s form as %s (§8, timeout rule 4)', (ms, text) => {
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
