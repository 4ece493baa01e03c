/** The fields of a routing policy and what they may hold. */

export const preferences = ['balanced', 'price', 'latency', 'carbon'] as const;
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
  readonly prefer: Preference;
}
