import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { silentLogger } from '../base/logger.js';
import type { FailureCount, IncidentRow } from '../storage/store.js';
import { RouteHealth } from './route-health.js';
import { RouteHistory } from './route-history.js';
import type { BreakerState } from './route-state.js';
import { mergeIncidents } from './route-status.js';

const llama = 'acme/meta/llama/defra';

/** A history over a store in memory that can be away; the test moves its clock and its rounds. */
function fixture() {
  const clock = new ManualClock();
  const failures: FailureCount[] = [];
  const rows = new Map<string, IncidentRow>();
  const state = { away: false, breaker: 'closed' as BreakerState, held: [] as string[] };
  const guard = () => {
    if (state.away) throw new Error('away');
  };
  const store = {
    addFailures: async (counts: readonly FailureCount[]) => {
      guard();
      failures.push(...counts);
    },
    putIncidents: async (put: readonly IncidentRow[]) => {
      guard();
      for (const row of put) rows.set(row.id, row);
    },
    forgetIncidents: async () => guard(),
  };
  const history = new RouteHistory({
    ...{ store, clock, logger: silentLogger },
    health: { view: () => ({ breaker: state.breaker, latency_ms: null, error_rate: null }) },
    holds: { heldRoutes: () => state.held },
  });
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 1000) {
      clock.advance(Math.min(left, 1000));
      await vi.advanceTimersByTimeAsync(1000);
    }
  };
  const incidents = () => mergeIncidents([...rows.values()], clock.now()).get(llama) ?? [];
  return { clock, failures, rows, state, history, pass, incidents };
}

describe('the history of routes', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('writes failed attempts by route, account and hour, and loses none while the store is away', async () => {
    const { history, failures, state, pass, clock } = fixture();
    const fromHour = Math.floor(clock.now() / 3_600_000);
    state.away = true;
    history.countFailure(llama, 'a');
    history.countFailure(llama, 'a');
    await pass(1000);
    history.countFailure(llama, 'a');
    history.countFailure(llama, 'b');
    expect(failures).toEqual([]);
    state.away = false;
    await pass(1000);
    expect(failures).toEqual(
      expect.arrayContaining([
        { routeId: llama, accountId: 'a', fromHour, failed: 3 },
        { routeId: llama, accountId: 'b', fromHour, failed: 1 },
      ]),
    );
    await pass(2000);
    expect(failures).toHaveLength(2);
  });

  it('records an opening from its moment until the route answers', async () => {
    const { history, state, pass, clock, incidents } = fixture();
    const fromMs = clock.now();
    history.breakerOpened(llama);
    state.breaker = 'open';
    await pass(2000);
    expect(incidents()).toEqual([{ kind: 'breaker', fromMs, toMs: null }]);
    state.breaker = 'half_open';
    await pass(2000);
    history.breakerOpened(llama);
    state.breaker = 'open';
    await pass(2000);
    state.breaker = 'closed';
    await pass(1000);
    expect(incidents()).toEqual([{ kind: 'breaker', fromMs, toMs: clock.now() }]);
  });

  it('records an opening that was over before the next round', async () => {
    const { history, pass, incidents, clock } = fixture();
    history.breakerOpened(llama);
    await pass(1000);
    expect(incidents()).toEqual([{ kind: 'breaker', fromMs: expect.any(Number), toMs: clock.now() }]);
  });

  it('ends an opening that nobody probes where its cooldown ended', async () => {
    const { history, state, pass, clock, incidents } = fixture();
    history.breakerOpened(llama);
    state.breaker = 'open';
    await pass(30_000);
    state.breaker = 'half_open';
    const waitingMs = clock.now() + 1000;
    await pass(299_000);
    expect(incidents()[0]?.toMs).toBeNull();
    await pass(3000);
    expect(incidents()[0]?.toMs).toBe(waitingMs);
  });

  it('records a hold until it is lifted, and a second one apart', async () => {
    const { state, pass, incidents } = fixture();
    state.held = [llama];
    await pass(2000);
    expect(incidents()).toEqual([{ kind: 'hold', fromMs: expect.any(Number), toMs: null }]);
    state.held = [];
    await pass(2000);
    state.held = [llama];
    await pass(1000);
    expect(incidents().map(({ toMs }) => toMs === null)).toEqual([true, false]);
  });

  it('ends what lasts when the process stops', async () => {
    const { history, state, incidents, clock } = fixture();
    history.breakerOpened(llama);
    state.breaker = 'open';
    history.countFailure(llama, 'a');
    await history.close();
    expect(incidents()).toEqual([{ kind: 'breaker', fromMs: clock.now(), toMs: clock.now() }]);
  });

  it('lets an incident of a process that died end where it was last confirmed', async () => {
    const { history, state, pass, rows, clock } = fixture();
    history.breakerOpened(llama);
    state.breaker = 'open';
    await pass(40_000);
    const [row] = [...rows.values()];
    expect(clock.now() - row!.seenMs).toBeLessThanOrEqual(15_000);
    const later = clock.now() + 61_000;
    expect(mergeIncidents([row!], later).get(llama)).toEqual([
      { kind: 'breaker', fromMs: row!.fromMs, toMs: row!.seenMs },
    ]);
  });
});

describe('incidents of several processes', () => {
  const row = (id: string, fromMs: number, toMs: number | null, fields: Partial<IncidentRow> = {}): IncidentRow => ({
    ...{ id, kind: 'breaker', routeId: llama, fromMs, seenMs: toMs ?? 1_000_000, toMs, ...fields },
  });
  const merged = (rows: IncidentRow[]) =>
    (mergeIncidents(rows, 1_000_000).get(llama) ?? []).map(({ kind, fromMs, toMs }) => [kind, fromMs, toMs]);

  it('are one while they overlap, and apart otherwise, newest first', () => {
    expect(merged([row('a', 10, 50), row('b', 20, 80), row('c', 30, 40), row('d', 100, 120)])).toEqual([
      ['breaker', 100, 120],
      ['breaker', 10, 80],
    ]);
    expect(merged([row('a', 10, null), row('b', 20, 80)])).toEqual([['breaker', 10, null]]);
    expect(merged([row('a', 10, 50), row('b', 20, null)])).toEqual([['breaker', 10, null]]);
  });

  it('are apart where the kind is another', () => {
    expect(merged([row('a', 10, 50), row('b', 20, 80, { kind: 'hold' })])).toEqual([
      ['hold', 20, 80],
      ['breaker', 10, 50],
    ]);
  });

  it('go on over the restart of a process that died', () => {
    const died = row('a', 10, null, { kind: 'hold', seenMs: 500_000 });
    expect(merged([died, row('b', 530_000, null, { kind: 'hold' })])).toEqual([['hold', 10, null]]);
    expect(merged([died, row('b', 600_000, null, { kind: 'hold' })])).toEqual([
      ['hold', 600_000, null],
      ['hold', 10, 500_000],
    ]);
  });
});

describe('RouteHealth', () => {
  it('tells of each opening of a breaker, once', () => {
    const opened: string[] = [];
    const config = { failures: 2, windowMs: 1000, cooldownMs: 1000, probeMaxMs: 5000 };
    const health = new RouteHealth(new ManualClock(), config, (routeId) => void opened.push(routeId));
    const late = health.begin(llama, false, true);
    for (let count = 0; count < 4; count++) health.begin(llama, false, true)?.fail(null);
    late?.fail(null);
    expect(opened).toEqual([llama]);
  });
});
