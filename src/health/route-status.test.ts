import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../tests/support/manual-clock.js';
import type { RouteWindow } from '../storage/store.js';
import { RouteStatus, windowFigures } from './route-status.js';

const aWindow = (fields: Partial<RouteWindow> = {}): RouteWindow => ({
  ...{ routeId: 'acme/meta/llama/defra', window: '24h', served: 19, broken: 1, failed: 1, accounts: 3 },
  ...{ firstByteP50Ms: 120, firstByteP95Ms: 300, tokensPerSecondP50: 40 },
  ...fields,
});
const threshold = { minRequests: 20, minAccounts: 3 };

describe('the figures of a window', () => {
  it('are shares of attempts: answered, and failed or broken off', () => {
    expect(windowFigures(aWindow(), threshold)).toEqual({
      availability: 0.95,
      error_rate: 0.1,
      first_byte_ms: { p50: 120, p95: 300 },
      tokens_per_second: { p50: 40 },
    });
  });

  it.each([
    ['with 19 requests', { served: 18 }],
    ['of 2 accounts', { accounts: 2 }],
    ['of nobody', { served: 0, failed: 0, broken: 0 }],
  ])('are none %s', (_, fields) => expect(windowFigures(aWindow(fields), threshold)).toBeNull());

  it('follow a lower threshold of the operator', () => {
    const figures = windowFigures(aWindow({ served: 1, broken: 0, failed: 0, accounts: 1 }), {
      minRequests: 1,
      minAccounts: 1,
    });
    expect(figures).toMatchObject({ availability: 1, error_rate: 0 });
  });

  it('show a route that answered nothing', () => {
    expect(windowFigures(aWindow({ served: 0, broken: 0, failed: 30 }), threshold)).toMatchObject({
      availability: 0,
      error_rate: 1,
    });
  });
});

describe('the status of routes', () => {
  function fixture() {
    const clock = new ManualClock();
    const state = { reads: 0, away: false, takesMs: 0, rows: [aWindow()] };
    const store = {
      windows: async () => {
        state.reads++;
        if (state.away) throw new Error('away');
        clock.advance(state.takesMs);
        return state.rows;
      },
      incidents: async () => [],
    };
    return { clock, state, status: new RouteStatus({ store, clock, threshold }) };
  }
  const route = 'acme/meta/llama/defra';

  it('has null for windows and routes without figures', async () => {
    const { status } = fixture();
    const reportOf = await status.reports();
    expect(reportOf(route).windows).toMatchObject({ '24h': { availability: 0.95 }, '7d': null, '90d': null });
    expect(reportOf('nobody/meta/llama/defra')).toEqual({
      windows: { '24h': null, '7d': null, '90d': null },
      incidents: [],
    });
  });

  it('reads the store once for everybody who asks within seconds', async () => {
    const { status, state, clock } = fixture();
    await Promise.all(Array.from({ length: 50 }, () => status.reports()));
    clock.advance(4_999);
    await status.reports();
    expect(state.reads).toBe(1);
    clock.advance(2);
    await status.reports();
    expect(state.reads).toBe(2);
  });

  it('keeps the last figures while the store is away, and fails where there are none', async () => {
    const { status, state, clock } = fixture();
    state.away = true;
    await expect(status.reports()).rejects.toThrow('away');
    state.away = false;
    await status.reports();
    state.away = true;
    clock.advance(60_000);
    expect((await status.reports())(route).windows['24h']).not.toBeNull();
  });

  it('gives the last figures while it reads again slowly, and waits where they are five minutes old', async () => {
    const { status, state, clock } = fixture();
    state.takesMs = 300;
    await status.reports();
    state.rows = [aWindow({ failed: 19 })];
    clock.advance(60_000);
    expect((await status.reports())(route).windows['24h']).toMatchObject({ availability: 0.95 });
    expect((await status.reports())(route).windows['24h']).toMatchObject({ availability: 0.5 });
    state.rows = [aWindow()];
    clock.advance(5 * 60_000);
    expect((await status.reports())(route).windows['24h']).toMatchObject({ availability: 0.95 });
  });

  it('waits for a read that is fast, so that nobody sees older figures than necessary', async () => {
    const { status, state, clock } = fixture();
    await status.reports();
    state.rows = [aWindow({ failed: 19 })];
    clock.advance(60_000);
    expect((await status.reports())(route).windows['24h']).toMatchObject({ availability: 0.5 });
  });

  it('shows operators every figure', async () => {
    const { status, state } = fixture();
    state.rows = [aWindow({ served: 1, broken: 0, failed: 0, accounts: 1 })];
    expect((await status.reports())(route).windows['24h']).toBeNull();
    expect((await status.operatorReports())(route).windows['24h']).toMatchObject({ availability: 1 });
  });
});
