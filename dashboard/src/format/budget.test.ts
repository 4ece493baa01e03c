import { describe, expect, it } from 'vitest';
import { periodOf, projection, spentDays } from './budget.js';

const at = (text: string) => Date.parse(text);

describe('the period of a budget', () => {
  it.each([
    ['daily', '2028-02-29T23:59:59Z', '2028-02-29T00:00:00Z', '2028-03-01T00:00:00Z'],
    ['weekly', '2026-11-15T12:00:00Z', '2026-11-09T00:00:00Z', '2026-11-16T00:00:00Z'],
    ['weekly', '2026-11-16T00:00:00Z', '2026-11-16T00:00:00Z', '2026-11-23T00:00:00Z'],
    ['monthly', '2026-12-31T23:00:00Z', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ] as const)('%s at %s', (period, now, start, end) => {
    expect(periodOf(period, at(now))).toEqual({ start: at(start), end: at(end) });
  });

  it('has no end where it never begins anew', () => expect(periodOf('never', at('2026-11-15T12:00:00Z'))).toBeNull());
});

describe('the projection', () => {
  it('goes on as it went', () => {
    expect(projection('40', 'daily', at('2026-11-15T06:00:00Z'))).toEqual({ usd: '160.00', end: at('2026-11-16') });
  });
  it('is none before a tenth of the period is over, without an end, and where nothing is spent', () => {
    expect(projection('0', 'daily', at('2026-11-15T12:00:00Z'))).toBeNull();
    expect(projection('40', 'daily', at('2026-11-15T02:00:00Z'))).toBeNull();
    expect(projection('40', 'never', at('2026-11-15T12:00:00Z'))).toBeNull();
  });
});

describe('the days of what a project has spent', () => {
  const now = at('2026-11-19T12:00:00Z');
  const made = '2026-10-02T08:00:00Z';
  const budget = (period: 'weekly' | 'never') => ({ limit_usd: '5', period, alert_at: [] });

  it.each([
    [null, made, '2026-11-01'],
    [budget('weekly'), made, '2026-11-16'],
    [budget('never'), made, '2026-10-02'],
    // No report is longer.
    [budget('never'), '2020-01-01T00:00:00Z', '2023-11-16'],
  ])('%j begin at %s', (of, created_at, from) => {
    expect(spentDays({ budget: of, created_at }, now)).toEqual({ from, to: '2026-11-19' });
  });
});
