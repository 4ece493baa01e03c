import { describe, expect, it } from 'vitest';
import { addCalendarMonths, parseExpiry } from './expiry.js';

const now = Date.UTC(2027, 0, 31, 12);
const day = 86_400_000;
const iso = (ms: number | null) => ms && new Date(ms).toISOString();

describe('the expiry of a new key', () => {
  it('is 90 days when left out', () => {
    expect(parseExpiry(undefined, now)).toBe(now + 90 * day);
    expect(parseExpiry(null, now)).toBe(now + 90 * day);
  });

  it('takes days, never and RFC 3339 times', () => {
    expect(parseExpiry('7d', now)).toBe(now + 7 * day);
    expect(parseExpiry('never', now)).toBeNull();
    expect(iso(parseExpiry('2027-03-01T00:00:00Z', now))).toBe('2027-03-01T00:00:00.000Z');
    expect(iso(parseExpiry('2027-03-01t00:00:00.5+02:00', now))).toBe('2027-02-28T22:00:00.500Z');
  });

  it('counts calendar months and stays inside the month', () => {
    expect(iso(parseExpiry('1mo', now))).toBe('2027-02-28T12:00:00.000Z');
    expect(iso(parseExpiry('12mo', now))).toBe('2028-01-31T12:00:00.000Z');
    expect(iso(addCalendarMonths(Date.UTC(2028, 1, 29), 12))).toBe('2029-02-28T00:00:00.000Z');
    expect(iso(addCalendarMonths(Date.UTC(2027, 10, 30), 3))).toBe('2028-02-29T00:00:00.000Z');
  });

  it('ends at 12 months', () => {
    expect(parseExpiry('365d', now)).toBe(now + 365 * day);
    for (const text of ['366d', '13mo', '2028-01-31T12:00:01Z', '99999d']) {
      expect(() => parseExpiry(text, now), text).toThrow('at most 12 months');
    }
  });

  it.each(['0d', '0mo', '2027-01-31T12:00:00Z', '2001-01-01T00:00:00Z'])(
    'refuses %s, which is not in the future',
    (text) => {
      expect(() => parseExpiry(text, now)).toThrow('future');
    },
  );

  it.each([
    '',
    '90',
    '1y',
    '-1d',
    '1.5d',
    'Never',
    '2027-02-30T00:00:00Z',
    '2027-13-01T00:00:00Z',
    '2027-03-01',
    '2027-03-01T25:00:00Z',
  ])('refuses "%s" and names the field and the value', (text) => {
    expect(() => parseExpiry(text, now)).toThrow(
      expect.objectContaining({ condition: 'field_invalid', param: 'expires' }),
    );
    expect(() => parseExpiry(text, now)).toThrow(JSON.stringify(text));
  });
});
