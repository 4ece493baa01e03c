import { expect, it } from 'vitest';
import { fromNow } from './time.js';

const now = Date.parse('2026-11-15T12:00:00Z');
const after = (seconds: number) => fromNow(new Date(now + seconds * 1000).toISOString(), now);
/** The expected text in the machine's own language. */
const said = (count: number, unit: Intl.RelativeTimeFormatUnit) =>
  new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' }).format(count, unit);

it('tells the expiry that was chosen, also a moment after it was chosen', () => {
  const chosen = [7, 30, 90].map((days) => after(days * 86_400 - 2));
  expect(chosen).toEqual([said(7, 'day'), said(30, 'day'), said(3, 'month')]);
  expect([after(-7205), after(5)]).toEqual([said(-2, 'hour'), said(0, 'second')]);
});
