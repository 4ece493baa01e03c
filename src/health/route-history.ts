/**
 * Writes what the status page needs and no generation shows: failed attempts, and the times in which this process did not try a route.
 * It works beside requests: they only count in memory, and a timer writes. While the store is away, what is to be written waits.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import type { FailureCount, IncidentKind, IncidentRow, RouteHistoryStore } from '../storage/store.js';
import type { QuotaHolds } from './quota-holds.js';
import type { RouteHealth } from './route-health.js';

const hourMs = 3_600_000;
const roundMs = 1_000;
/** How often a lasting incident is confirmed. A reader takes one that was not confirmed for `incidentLeaseMs` as ended. */
const confirmMs = 15_000;
export const incidentLeaseMs = 60_000;
/** A breaker that nobody probes says nothing about its route. After this long its incident ends where its cooldown did. */
const unprobedMs = 5 * 60_000;
/** Longer than the longest window. */
const keptMs = 100 * 24 * hourMs;
const lastWritesMs = 2_000;

interface Lasting {
  readonly id: string;
  readonly kind: IncidentKind;
  readonly routeId: string;
  readonly fromMs: number;
  confirmedMs: number;
  /** Since when the breaker waits for a probe; null while it is open. */
  waitingSinceMs: number | null;
}

interface RouteHistoryDeps {
  store: Pick<RouteHistoryStore, 'addFailures' | 'putIncidents' | 'forgetIncidents'>;
  clock: Pick<Clock, 'now'>;
  logger: Logger;
  health: Pick<RouteHealth, 'view'>;
  holds: Pick<QuotaHolds, 'heldRoutes'>;
}

export class RouteHistory {
  /** Failed attempts that are not written yet, by hour, account and route. */
  private failures = new Map<string, FailureCount>();
  private readonly lasting = new Map<string, Lasting>();
  /** Rows that the store does not have yet, by id. */
  private readonly unwritten = new Map<string, IncidentRow>();
  private readonly timer: NodeJS.Timeout;
  private writing: Promise<void> | null = null;
  private forgottenMs = 0;
  private isAway = false;

  constructor(private readonly deps: RouteHistoryDeps) {
    this.timer = setInterval(() => this.round(), roundMs);
    this.timer.unref();
  }

  countFailure(routeId: string, accountId: string): void {
    const fromHour = Math.floor(this.deps.clock.now() / hourMs);
    const key = `${fromHour} ${accountId} ${routeId}`;
    const failed = (this.failures.get(key)?.failed ?? 0) + 1;
    this.failures.set(key, { routeId, accountId, fromHour, failed });
  }

  breakerOpened(routeId: string): void {
    this.begin('breaker', routeId, this.deps.clock.now());
  }

  /** Ends what lasts, because nobody watches it any more, and writes what is left, up to a bound. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    const now = this.deps.clock.now();
    for (const incident of this.lasting.values()) this.end(incident, now);
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, lastWritesMs);
    });
    const written = (this.writing ?? Promise.resolve()).then(() => this.write());
    await Promise.race([written, tooLate]).finally(() => clearTimeout(timer));
  }

  private round(): void {
    const now = this.deps.clock.now();
    this.watchHolds(now);
    for (const incident of this.lasting.values()) this.watch(incident, now);
    this.writing ??= this.write().finally(() => {
      this.writing = null;
    });
  }

  private watchHolds(now: number): void {
    for (const routeId of this.deps.holds.heldRoutes()) this.begin('hold', routeId, now);
  }

  private watch(incident: Lasting, now: number): void {
    const endedMs = incident.kind === 'hold' ? this.holdEnd(incident, now) : this.breakerEnd(incident, now);
    if (endedMs !== null) this.end(incident, endedMs);
    else if (now - incident.confirmedMs >= confirmMs) this.put(incident, now, null);
  }

  /** When it ended; null while it lasts. */
  private holdEnd({ routeId }: Lasting, now: number): number | null {
    return this.deps.holds.heldRoutes().includes(routeId) ? null : now;
  }

  private breakerEnd(incident: Lasting, now: number): number | null {
    const { breaker } = this.deps.health.view(incident.routeId);
    if (breaker === 'closed') return now;
    if (breaker === 'open') incident.waitingSinceMs = null;
    else incident.waitingSinceMs ??= now;
    const since = incident.waitingSinceMs;
    return since !== null && now - since >= unprobedMs ? since : null;
  }

  private begin(kind: IncidentKind, routeId: string, now: number): void {
    const name = `${kind} ${routeId}`;
    if (this.lasting.has(name)) return;
    const incident = { id: randomUUID(), kind, routeId, fromMs: now, confirmedMs: now, waitingSinceMs: null };
    this.lasting.set(name, incident);
    this.put(incident, now, null);
  }

  private end(incident: Lasting, toMs: number): void {
    this.lasting.delete(`${incident.kind} ${incident.routeId}`);
    this.put(incident, this.deps.clock.now(), toMs);
  }

  private put(incident: Lasting, seenMs: number, toMs: number | null): void {
    incident.confirmedMs = seenMs;
    const { id, kind, routeId, fromMs } = incident;
    this.unwritten.set(id, { id, kind, routeId, fromMs, seenMs, toMs });
  }

  private async write(): Promise<void> {
    const { store, clock, logger } = this.deps;
    const failures = this.failures;
    this.failures = new Map();
    try {
      if (failures.size > 0) await store.addFailures([...failures.values()]);
    } catch (error) {
      for (const [key, count] of failures) {
        const since = this.failures.get(key)?.failed ?? 0;
        this.failures.set(key, { ...count, failed: count.failed + since });
      }
      this.noteAway(logger, error);
      return;
    }
    try {
      const rows = [...this.unwritten.values()];
      if (rows.length > 0) await store.putIncidents(rows);
      // A row that was replaced meanwhile is written again.
      for (const row of rows) if (this.unwritten.get(row.id) === row) this.unwritten.delete(row.id);
      if (clock.now() - this.forgottenMs >= 24 * hourMs) {
        await store.forgetIncidents(clock.now() - keptMs);
        this.forgottenMs = clock.now();
      }
      this.isAway = false;
    } catch (error) {
      this.noteAway(logger, error);
    }
  }

  /** Once for an outage, because it is tried every second. */
  private noteAway(logger: Logger, error: unknown): void {
    if (!this.isAway) logger.warn({ error: String(error) }, 'the history of routes cannot be stored; trying again');
    this.isAway = true;
  }
}
