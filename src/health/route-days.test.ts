import { expect, it } from 'vitest';
import { ManualClock } from '../../tests/support/manual-clock.js';
import type { RouteDay } from '../storage/store.js';
import { RouteDays, shownDays } from './route-days.js';

const routeId = 'acme/meta/llama/defra';
const threshold = { minRequests: 20, minAccounts: 3 };

function fixture() {
  const clock = new ManualClock(Date.parse('2026-11-19T12:00:00Z'));
  const today = Math.floor(clock.now() / 86_400_000);
  const state = { reads: 0, away: false, rows: [] as RouteDay[] };
  const store = {
    days: async () => {
      state.reads++;
      if (state.away) throw new Error('away');
      return state.rows;
    },
  };
  return { clock, today, state, days: new RouteDays({ store, clock, threshold }) };
}

it('has a share for each day with enough traffic, the oldest day first, and nothing for the others', async () => {
  const { today, state, days } = fixture();
  state.rows = [
    { routeId, day: today, served: 30, failed: 10, accounts: 3 },
    { routeId, day: today - shownDays + 1, served: 20, failed: 0, accounts: 5 },
    { routeId, day: today - 1, served: 19, failed: 0, accounts: 5 },
    { routeId, day: today - 2, served: 200, failed: 0, accounts: 2 },
  ];
  const shown = (await days.byRoute()).get(routeId)!;
  expect(shown).toHaveLength(shownDays);
  expect([shown[0], ...shown.slice(-3)]).toEqual([1, null, null, 0.75]);
});

it('is read at most every ten minutes, and stands while the store is away', async () => {
  const { clock, today, state, days } = fixture();
  state.rows = [{ routeId, day: today, served: 30, failed: 0, accounts: 3 }];
  await Promise.all([days.byRoute(), days.byRoute()]);
  state.away = true;
  clock.advance(599_000);
  await days.byRoute();
  expect(state.reads).toBe(1);
  clock.advance(1_000);
  expect((await days.byRoute()).get(routeId)?.at(-1)).toBe(1);
  expect(state.reads).toBe(2);
});
