/** What one gate of a routing policy is. Settings, checks, 403 counts, counterfactuals and docs all derive from it. */
import type { JsonSchema } from '../../base/json-schema.js';
import type { Route } from '../../catalogue/route.js';
import type { RoutingPolicy } from '../policy.js';

/** Each gate owns the field of its name; `prefer` orders what is left and removes nothing. */
export type GateName = Exclude<keyof RoutingPolicy, 'prefer'>;

/** The least change of a setting that lets one route pass. */
export interface Relaxation<Setting> {
  readonly setting: Setting;
  /** The change as the beginning of a sentence: `raising max_carbon to 62`. */
  readonly how: string;
}

export interface Gate<Name extends GateName = GateName> {
  readonly name: Name;
  /** Restricts nothing. */
  readonly defaultSetting: RoutingPolicy[Name];
  /** What the setting takes, for the docs page. */
  readonly takes: string;
  /** One sentence for the docs page: what the gate removes, and what an unknown value means. */
  readonly removes: string;
  /** What a route may leave unpublished: while the gate is set, such a route is excluded. */
  readonly figure?: { readonly name: string; published(route: Route): boolean };
  /** Of the setting; `read` takes what fits it, and nothing else. */
  readonly schema: JsonSchema;
  /** Reads what a caller sent; throws a 400 that names the field and the value. `null` has become the default before. */
  read(value: unknown): RoutingPolicy[Name];
  /** Reads what was stored, perhaps by another version. Never throws; what it does not understand never opens the gate. */
  stored(value: unknown): RoutingPolicy[Name];
  isSet(setting: RoutingPolicy[Name]): boolean;
  permits(route: Route, setting: RoutingPolicy[Name]): boolean;
  /** Asked only for a route that the gate removes. */
  relaxed(route: Route, setting: RoutingPolicy[Name]): Relaxation<RoutingPolicy[Name]>;
}
