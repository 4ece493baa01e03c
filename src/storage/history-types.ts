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

/** What of an update is in use: all of it, or only what it adds to the catalogue before it. */
export type UpdatePart = 'all' | 'additions';

export interface KeptUpdate {
  readonly version: string;
  readonly part: UpdatePart;
  readonly appliedMs: number;
  readonly inUse: boolean;
}

export interface StoredUpdate extends Omit<KeptUpdate, 'inUse'> {
  /** The signed note of the file that it was made from. */
  readonly note: string;
  /** The compressed values that are in use. */
  readonly body: Buffer;
}

export interface CatalogueLook {
  readonly atMs: number;
  readonly text: string;
}

/** The updates of the catalogue, for all processes. */
export interface CatalogueUpdateStore {
  /** Newest version first. */
  kept(): Promise<KeptUpdate[]>;
  /** One that is kept, or the one in use where no version is named. */
  find(version?: string): Promise<StoredUpdate | null>;
  /**
   * Takes an update into use, or with null the built-in catalogue, and removes the oldest of more than five. False, and nothing is changed,
   * where `before` is not in use any more.
   */
  use(update: StoredUpdate | null, before: string | null): Promise<boolean>;
  /** True for one process at a time, where a look is due. The next one is then due after `everyMs`. */
  takeLook(nowMs: number, everyMs: number): Promise<boolean>;
  /** `againMs` is when the next one is due, where it is not the usual time. */
  reportLook(look: CatalogueLook, againMs?: number): Promise<void>;
  /** What the last look has found; null where there was none. */
  lastLook(): Promise<CatalogueLook | null>;
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

/** What one route did on one day. */
export interface RouteDay {
  readonly routeId: string;
  /** Days since the epoch. */
  readonly day: number;
  readonly served: number;
  readonly failed: number;
  readonly accounts: number;
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
  /** The last days of UTC, today included. Routes have no row for a day without an attempt. */
  days(nowMs: number, count: number): Promise<RouteDay[]>;
}
