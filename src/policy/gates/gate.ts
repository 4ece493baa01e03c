/** Describes one gate of a routing policy. Settings, checks, 403 counts, counterfactuals, docs, API schema and dashboard derive from it. */
import type { JsonSchema } from '../../base/json-schema.js';
import type { PriceMoment } from '../../catalogue/price-moment.js';
import type { Route } from '../../catalogue/route.js';
import type { RoutingPolicy } from '../routing-policy.js';

/** Each gate owns the policy's field of its name. `prefer` is no gate: it orders the routes that are left and removes none. */
export type GateName = Exclude<keyof RoutingPolicy, 'prefer'>;

/** The smallest change of a setting that lets one route pass. */
interface Relaxation<Setting> {
  readonly setting: Setting;
  /** The change as the beginning of a sentence: `raising max_carbon to 62`. */
  readonly how: string;
}

/** The control that edits the setting: a switch, a number with a label, a choice of names, or two lists with suggestions. */
type GateControl =
  | { readonly kind: 'switch'; readonly label: string; readonly hint: string }
  | { readonly kind: 'ceiling'; readonly label: string }
  | { readonly kind: 'choices'; readonly label: string; readonly options: readonly string[] }
  | { readonly kind: 'lists'; readonly suggest?: 'providers' | 'creators' | 'regions' };

/** The gate's card in the dashboard. */
interface GateCard {
  readonly title: string;
  readonly description?: string;
  readonly control: GateControl;
}

export interface Gate<Name extends GateName = GateName> {
  readonly name: Name;
  /** Restricts nothing. */
  readonly defaultSetting: RoutingPolicy[Name];
  /** What the setting takes, for the docs page and the API description. */
  readonly takes: string;
  /** One sentence for the docs page and the API description: what the gate removes, and what an unknown value means. */
  readonly removes: string;
  readonly card: GateCard;
  /** A figure that a route may leave unpublished. While the gate is set, it removes such a route. */
  readonly figure?: { readonly name: string; published(route: Route): boolean };
  /** The setting's schema; `read` accepts what fits it, and nothing else. */
  readonly schema: JsonSchema;
  /**
   * Reads the setting that a caller sent; throws a 400 that names the field, `param` or else the gate, and the value. It never gets
   * null.
   */
  read(value: unknown, param?: string): RoutingPolicy[Name];
  /** Reads a stored setting, perhaps of another version. Never throws. A setting that it cannot read never opens the gate. */
  readStored(value: unknown): RoutingPolicy[Name];
  isSet(setting: RoutingPolicy[Name]): boolean;
  /** `moment` is that of the request, which chooses among the prices of a route. */
  permits(route: Route, setting: RoutingPolicy[Name], moment: PriceMoment): boolean;
  /** Called only for a route that the gate removes. */
  relaxationFor(route: Route, setting: RoutingPolicy[Name], moment: PriceMoment): Relaxation<RoutingPolicy[Name]>;
}
