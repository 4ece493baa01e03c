/** The interfaces of the store for the changes of the catalogue and the history of routes. */
import type { CatalogueChange } from '../catalogue/changes.js';
import type { Facts } from '../catalogue/facts.js';

export interface CatalogueLoad {
  readonly digest: string;
  /** The facts as canonical JSON. */
  readonly text: string;
  readonly atMs: number;
  /** What is different from the facts that were in force before. */
  changesSince(before: Partial<Facts>): CatalogueChange[];
}

export interface RecordedChange extends CatalogueChange {
  readonly atMs: number;
  /** Its place among the changes of its load, from 0. */
  readonly position: number;
  readonly digest: string;
}

export interface ChangeQuery {
  readonly limit: number;
  /** How many of the newest are left out. */
  readonly offset: number;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  /** Also changes of these providers and regions, beside those of the model. */
  readonly related?: { readonly providers: readonly string[]; readonly locodes: readonly string[] };
}

export interface CatalogueLog {
  /**
   * Compares the facts with those in force and records what has changed, once for all processes. Returns how many changes were
   * recorded. The first load of all is the base, and no change.
   */
  record(load: CatalogueLoad): Promise<number>;
  /** Newest first. */
  changes(query: ChangeQuery): Promise<{ data: RecordedChange[]; hasMore: boolean }>;
}

export type IncidentKind = 'breaker' | 'hold';

/** A time in which one process did not try a route. */
export interface IncidentRow {
  readonly id: string;
  readonly kind: IncidentKind;
  readonly routeId: string;
  readonly fromMs: number;
  /** When the process last saw it. */
  readonly seenMs: number;
  /** null while it lasts. */
  readonly toMs: number | null;
}

export interface FailureCount {
  readonly routeId: string;
  readonly accountId: string;
  /** Hours since the epoch. */
  readonly fromHour: number;
  readonly failed: number;
}

export const windowNames = ['24h', '7d', '90d'] as const;
export type WindowName = (typeof windowNames)[number];

/** What one route did in one window. */
export interface RouteWindow {
  readonly routeId: string;
  readonly window: WindowName;
  /** Requests that the route answered, wholly or in part. */
  readonly served: number;
  /** Of these, the streams that it broke off. */
  readonly broken: number;
  /** Attempts that it did not answer. */
  readonly failed: number;
  readonly accounts: number;
  readonly firstByteP50Ms: number | null;
  readonly firstByteP95Ms: number | null;
  readonly tokensPerSecondP50: number | null;
}

export interface RouteHistoryStore {
  addFailures(counts: readonly FailureCount[]): Promise<void>;
  /** Replaces the rows of the same ids. */
  putIncidents(rows: readonly IncidentRow[]): Promise<void>;
  /** Removes incidents that were last seen before that moment. */
  forgetIncidents(beforeMs: number): Promise<void>;
  /** Those that were seen at or after that moment, oldest first. */
  incidents(sinceMs: number): Promise<IncidentRow[]>;
  /** The windows that end now, in whole hours. Routes without an attempt have no row. */
  windows(nowMs: number): Promise<RouteWindow[]>;
}
