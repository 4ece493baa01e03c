import { describe, expect, it } from 'vitest';
import { retryAfterMs } from './retry-after.js';

const now = Date.parse('2026-08-01T12:00:00Z');
const after = (headers: Record<string, string>) => retryAfterMs((name) => headers[name], now);

describe('how long an upstream wants to be left alone', () => {
  it.each<[number | undefined, Record<string, string>]>([
    [20_000, { 'retry-after': '20' }],
    [500, { 'retry-after': '0.5' }],
    [1_500, { 'retry-after-ms': '1500' }],
    [1_500, { 'retry-after-ms': '1500', 'retry-after': '2' }],
    [2_000, { 'retry-after-ms': 'soon', 'retry-after': '2' }],
    [90_000, { 'retry-after': 'Sat, 01 Aug 2026 12:01:30 GMT' }],
    [30_000, { 'retry-after': 'Sat, 01 Aug 2026 12:01:30 GMT', date: 'Sat, 01 Aug 2026 12:01:00 GMT' }],
    [86_400_000, { 'retry-after': '86401' }],
    [86_400_000, { 'retry-after': 'Sat, 01 Aug 2099 12:01:30 GMT' }],
    [undefined, {}],
    [undefined, { 'retry-after': '' }],
    [undefined, { 'retry-after': '0' }],
    [undefined, { 'retry-after': '-5' }],
    [undefined, { 'retry-after': '1e3' }],
    [undefined, { 'retry-after': 'NaN' }],
    [undefined, { 'retry-after': 'Infinity' }],
    [undefined, { 'retry-after': 'soon' }],
    [undefined, { 'retry-after': 'Sat, 01 Aug 2026 11:59:00 GMT' }],
    [undefined, { 'retry-after': '9'.repeat(400) }],
  ])('is %s for %j', (ms, headers) => expect(after(headers)).toBe(ms));
});
