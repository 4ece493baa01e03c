import { describe, expect, it } from 'vitest';
import { forSeeds } from '../../../tests/support/seeded-random.js';
import { periodStart } from './limit-period.js';

const start = (reset: Parameters<typeof periodStart>[0], at: string) => {
  const ms = periodStart(reset, Date.parse(at));
  return ms === null ? null : new Date(ms).toISOString();
};

describe('the period of a cap', () => {
  it.each([
    ['never', '2026-11-16T18:30:00Z', null],
    ['daily', '2026-11-16T00:00:00.000Z', '2026-11-16T00:00:00.000Z'],
    ['daily', '2026-11-16T23:59:59.999Z', '2026-11-16T00:00:00.000Z'],
    ['weekly', '2026-11-16T00:00:00.000Z', '2026-11-16T00:00:00.000Z'],
    ['weekly', '2026-11-15T23:59:59.999Z', '2026-11-09T00:00:00.000Z'],
    ['weekly', '2027-01-01T12:00:00Z', '2026-12-28T00:00:00.000Z'],
    ['monthly', '2028-02-29T23:59:59.999Z', '2028-02-01T00:00:00.000Z'],
    ['monthly', '2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  ] as const)('%s at %s began %s', (reset, at, expected) => expect(start(reset, at)).toBe(expected));

  it('a week begins on the last Monday at 00:00 UTC, whatever the moment', () => {
    forSeeds(200, (random) => {
      const now = Math.floor(random.next() * 4e12);
      const from = periodStart('weekly', now)!;
      expect([new Date(from).getUTCDay(), from % 86_400_000]).toEqual([1, 0]);
      expect(now - from).toBeGreaterThanOrEqual(0);
      expect(now - from).toBeLessThan(7 * 86_400_000);
    });
  });
});
