/** The fields of a routing policy and what they may hold. */
import type { Certification, Quantization } from '../base/data-policy.js';

export const preferences = ['balanced', 'price', 'latency', 'carbon', 'throughput'] as const;
export type Preference = (typeof preferences)[number];

/** An empty `allow` restricts nothing. */
export interface AllowDeny {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** Fields have their names of the API: each gate owns the field of its name. A policy is never changed, only replaced. */
export interface RoutingPolicy {
  readonly deny_cloud_act: boolean;
  /** gCO2e/kWh. */
  readonly max_carbon: number | null;
  /** USD per million tokens, compared with the higher of a route's input and output price. */
  readonly max_price: number | null;
  readonly providers: AllowDeny;
  readonly creators: AllowDeny;
  /** Locodes in lower case, ISO country codes in upper case. */
  readonly regions: AllowDeny;
  readonly deny_training: boolean;
  readonly max_retention_days: number | null;
  readonly require_in_region: boolean;
  readonly require_eu_owned: boolean;
  /** A route needs all of them. */
  readonly certifications: readonly Certification[];
  /** An empty list restricts nothing. */
  readonly quantizations: readonly Quantization[];
  readonly prefer: Preference;
}

/** The gates of a policy, without its preference. */
export type GateSettings = Omit<RoutingPolicy, 'prefer'>;

/** A project's: its gates hold beside the account's. */
export interface ProjectPolicy extends GateSettings {
  /** null takes the account's. */
  readonly prefer: Preference | null;
}
