/** What routes did over a day, a week and a quarter, from the rollups, and their incidents. Kept for seconds, so that a public page cannot load the store. */
import type { Clock } from '../base/time.js';
import {
  type IncidentKind,
  type IncidentRow,
  type RouteHistoryStore,
  type RouteWindow,
  type WindowName,
  windowNames,
} from '../storage/store.js';
import { incidentLeaseMs } from './route-history.js';

/** As `GET /v1/status` shows it. */
interface WindowFigures {
  /** The share of attempts that the route answered, 0 to 1. */
  readonly availability: number;
  /** The share of attempts that it did not answer, or did not answer to the end. */
  readonly error_rate: number;
  readonly first_byte_ms: { readonly p50: number | null; readonly p95: number | null };
  readonly tokens_per_second: { readonly p50: number | null };
}

type Windows = Readonly<Record<WindowName, WindowFigures | null>>;

export interface RouteReport {
  readonly windows: Windows;
  readonly incidents: readonly Incident[];
}

/** Below either, a window has no figures, because they could show what a single customer does. */
export interface Threshold {
  readonly minRequests: number;
  readonly minAccounts: number;
}

interface RouteStatusDeps {
  store: Pick<RouteHistoryStore, 'windows' | 'incidents'>;
  clock: Pick<Clock, 'now' | 'monotonicMs'>;
  threshold: Threshold;
}

const freshMs = 5_000;
/** A read that takes long is repeated less often: at most a twentieth of the time is spent reading. */
const freshFactor = 20;
/** Where a read takes longer than this, nobody waits for the next one while the last figures are younger than that. */
const slowMs = 200;
const keptMs = 5 * 60_000;
const incidentsMs = 90 * 24 * 3_600_000;

interface Reading {
  readonly windows: ReadonlyMap<string, readonly RouteWindow[]>;
  readonly incidents: ReadonlyMap<string, Incident[]>;
  readonly staleAtMs: number;
  /** Until when they stand while they are read again. */
  readonly keptUntilMs: number;
}

/** For operators, who may see every figure. */
const everything: Threshold = { minRequests: 1, minAccounts: 0 };

export class RouteStatus {
  private latest: Reading | null = null;
  private reading: Promise<Reading> | null = null;

  constructor(private readonly deps: RouteStatusDeps) {}

  /** Returns the report of any route, as everybody may see it. */
  async reports(): Promise<(routeId: string) => RouteReport> {
    return reportsOf(await this.current(), this.deps.threshold);
  }

  /** The same without a threshold. */
  async operatorReports(): Promise<(routeId: string) => RouteReport> {
    return reportsOf(await this.current(), everything);
  }

  /** One read at a time. Callers have the last figures while the store is away, and while a slow read goes on. */
  private async current(): Promise<Reading> {
    const nowMs = this.deps.clock.monotonicMs();
    if (this.latest && nowMs < this.latest.staleAtMs) return this.latest;
    this.reading ??= this.read().finally(() => {
      this.reading = null;
    });
    if (this.latest && nowMs < this.latest.keptUntilMs) {
      // A failure is tried again by the next caller.
      this.reading.catch(() => {});
      return this.latest;
    }
    try {
      return await this.reading;
    } catch (error) {
      if (this.latest) return this.latest;
      throw error;
    }
  }

  private async read(): Promise<Reading> {
    const { store, clock } = this.deps;
    const startedAtMs = clock.monotonicMs();
    const now = clock.now();
    const [rows, incidents] = await Promise.all([store.windows(now), store.incidents(now - incidentsMs)]);
    const windows = new Map<string, RouteWindow[]>();
    for (const row of rows) {
      const known = windows.get(row.routeId);
      if (known) known.push(row);
      else windows.set(row.routeId, [row]);
    }
    const endedAtMs = clock.monotonicMs();
    const tookMs = endedAtMs - startedAtMs;
    const staleAtMs = endedAtMs + Math.max(freshMs, freshFactor * tookMs);
    const keptUntilMs = tookMs > slowMs ? endedAtMs + keptMs : staleAtMs;
    this.latest = { windows, incidents: mergeIncidents(incidents, now), staleAtMs, keptUntilMs };
    return this.latest;
  }
}

function reportsOf({ windows, incidents }: Reading, threshold: Threshold): (routeId: string) => RouteReport {
  return (routeId) => {
    const rows = windows.get(routeId) ?? [];
    const figures = windowNames.map((name) => {
      const row = rows.find(({ window }) => window === name);
      return [name, row ? windowFigures(row, threshold) : null];
    });
    return { windows: Object.fromEntries(figures) as Windows, incidents: incidents.get(routeId) ?? [] };
  };
}

/** null where there were too few requests, or too few accounts made them. */
export function windowFigures(row: RouteWindow, { minRequests, minAccounts }: Threshold): WindowFigures | null {
  const attempts = row.served + row.failed;
  if (attempts < Math.max(minRequests, 1) || row.accounts < minAccounts) return null;
  return {
    availability: share(row.served, attempts),
    error_rate: share(row.failed + row.broken, attempts),
    first_byte_ms: { p50: row.firstByteP50Ms, p95: row.firstByteP95Ms },
    tokens_per_second: { p50: row.tokensPerSecondP50 },
  };
}

/** To four digits: more would give away how many requests there were. */
function share(part: number, whole: number): number {
  return Math.round((part / whole) * 10_000) / 10_000;
}

interface Incident {
  readonly kind: IncidentKind;
  readonly fromMs: number;
  /** null while it lasts. */
  readonly toMs: number | null;
}

interface OpenIncident {
  kind: IncidentKind;
  fromMs: number;
  toMs: number;
  /** The process that saw it has died without saying how it went on. */
  isCut: boolean;
}

/** What several processes saw at the same time is one incident. By route, newest first. `rows` begin with the oldest. */
export function mergeIncidents(rows: readonly IncidentRow[], nowMs: number): Map<string, Incident[]> {
  const byRoute = new Map<string, OpenIncident[]>();
  for (const row of rows) {
    const known = byRoute.get(row.routeId) ?? [];
    byRoute.set(row.routeId, known);
    const isCut = row.toMs === null && nowMs - row.seenMs > incidentLeaseMs;
    const toMs = row.toMs ?? (isCut ? row.seenMs : Number.POSITIVE_INFINITY);
    const earlier = known.findLast(({ kind }) => kind === row.kind);
    // A process that starts again finds the holds of before it; the time in between belongs to the same incident.
    const slackMs = earlier?.isCut ? incidentLeaseMs : 0;
    if (!earlier || row.fromMs > earlier.toMs + slackMs)
      known.push({ kind: row.kind, fromMs: row.fromMs, toMs, isCut });
    else if (toMs >= earlier.toMs) Object.assign(earlier, { toMs, isCut });
  }
  return new Map([...byRoute].map(([routeId, found]) => [routeId, found.reverse().map(incidentOf)]));
}

function incidentOf({ kind, fromMs, toMs }: OpenIncident): Incident {
  return { kind, fromMs, toMs: Number.isFinite(toMs) ? toMs : null };
}
