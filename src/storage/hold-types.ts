/** What the store knows of models that are off and routes that are held. */
import type { ModelAvailability } from '../catalogue/route.js';

export interface AvailabilityStore {
  all(): Promise<Map<string, ModelAvailability>>;
  set(canonicalId: string, availability: ModelAvailability): Promise<void>;
}

export type HoldReason = 'upstream' | 'daily_token_quota';

/** The state of a route's quota on one UTC day. */
export interface HoldRecord {
  /** Days since the epoch. */
  utcDay: number;
  routeId: string;
  /** null where the route is not held, or no longer. */
  reason: HoldReason | null;
  /** An operator has lifted the hold of the route's own quota, which then does not apply on that day. */
  quotaLifted: boolean;
}

export interface HoldStore {
  /** The records of that day and later ones. */
  since(utcDay: number): Promise<HoldRecord[]>;
  /** Replaces the record of that route and day. */
  put(record: HoldRecord): Promise<void>;
  /** Prompt and completion tokens of billed generations created from `fromMs` to before `toMs`, by the route that served. */
  tokensBetween(fromMs: number, toMs: number): Promise<Map<string, number>>;
}
