/** How available each route was on each of the last 90 days, for the status page. Read seldom, because past days do not change. */
import type { Clock } from '../base/time.js';
import type { RouteDay, RouteHistoryStore } from '../storage/store.js';
import { type Threshold, windowFigures } from './route-status.js';

export const shownDays = 90;
const dayMs = 86_400_000;
const freshMs = 10 * 60_000;

/** The share of attempts that were answered, the oldest day first; null where a day has too little traffic for a figure. */
export type DailyAvailability = readonly (number | null)[];

interface RouteDaysDeps {
  store: Pick<RouteHistoryStore, 'days'>;
  clock: Pick<Clock, 'now' | 'monotonicMs'>;
  threshold: Threshold;
}

export class RouteDays {
  private latest: ReadonlyMap<string, DailyAvailability> = new Map();
  private staleAtMs = Number.NEGATIVE_INFINITY;
  private reading: Promise<void> | null = null;

  constructor(private readonly deps: RouteDaysDeps) {}

  /** One read at a time. While the store is away, the last figures stand. */
  async byRoute(): Promise<ReadonlyMap<string, DailyAvailability>> {
    if (this.deps.clock.monotonicMs() >= this.staleAtMs) {
      this.reading ??= this.read().finally(() => {
        this.reading = null;
      });
      await this.reading.catch(() => {});
    }
    return this.latest;
  }

  private async read(): Promise<void> {
    const { store, clock, threshold } = this.deps;
    const now = clock.now();
    const firstDay = Math.floor(now / dayMs) - shownDays + 1;
    const days = new Map<string, (number | null)[]>();
    for (const row of await store.days(now, shownDays)) {
      const known = days.get(row.routeId) ?? Array.from({ length: shownDays }, () => null);
      days.set(row.routeId, known);
      known[row.day - firstDay] = availabilityOf(row, threshold);
    }
    this.latest = days;
    this.staleAtMs = clock.monotonicMs() + freshMs;
  }
}

function availabilityOf(day: RouteDay, threshold: Threshold): number | null {
  const times = { firstByteP50Ms: null, firstByteP95Ms: null, tokensPerSecondP50: null };
  return windowFigures({ ...day, ...times, window: '24h', broken: 0 }, threshold)?.availability ?? null;
}
