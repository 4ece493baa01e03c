/** An account's routing policy: hard gates for `auto/` selection, and what to prefer among what is left. */
import { type JsonSchema, orNullEach } from '../base/json-schema.js';
import { gatewayError } from '../errors/gateway-error.js';
import { shown } from '../wire/json-text.js';
import { gates } from './gates/index.js';

export const preferences = ['balanced', 'price', 'latency', 'carbon'] as const;
export type Preference = (typeof preferences)[number];

/** An empty `allow` restricts nothing. */
export interface AllowDeny {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** Fields are named as in the API: each gate owns the one of its name. Immutable, replaced whole. */
export interface RoutingPolicy {
  readonly deny_cloud_act: boolean;
  /** gCO2e/kWh. */
  readonly max_carbon: number | null;
  /** USD per million tokens, held against the dearer of a route's input and output price. */
  readonly max_price: number | null;
  readonly providers: AllowDeny;
  readonly creators: AllowDeny;
  /** Locodes in lower case, ISO country codes in upper case. */
  readonly regions: AllowDeny;
  readonly prefer: Preference;
}

const defaultPreference: Preference = 'balanced';

export const defaultPolicy: RoutingPolicy = Object.freeze({
  ...(Object.fromEntries(gates.map((gate) => [gate.name, gate.defaultSetting])) as Omit<RoutingPolicy, 'prefer'>),
  prefer: defaultPreference,
});

/** Of each field of a policy, as the API gives it. */
export const policySchemas = {
  ...Object.fromEntries(gates.map((gate) => [gate.name, gate.schema])),
  prefer: { type: 'string', enum: preferences },
} as unknown as Record<keyof RoutingPolicy, JsonSchema>;

/** Of each field that `readPolicy` takes. */
export const sentPolicySchemas: Record<keyof RoutingPolicy, JsonSchema> = orNullEach(policySchemas) as never;

/** `object` is taken and ignored, so that the answer of a GET can be sent back. */
const fieldNames = new Set(['object', ...Object.keys(defaultPolicy)]);

/**
 * The policy of a request's body, which replaces all: an absent field, or null, is its default. A field of any other name is a
 * 400, because a gate that was mistyped and ignored would let through what its owner wants kept out.
 */
export function readPolicy(body: Record<string, unknown>): RoutingPolicy {
  const unknown = Object.keys(body).find((name) => !fieldNames.has(name));
  if (unknown !== undefined) {
    throw gatewayError('field_invalid', {
      param: unknown.slice(0, 100),
      reason: `is not a field of a routing policy; there are ${Object.keys(defaultPolicy).join(', ')}`,
    });
  }
  return policyOf(
    (gate) => (isAbsent(body[gate.name]) ? gate.defaultSetting : gate.read(body[gate.name])),
    isAbsent(body.prefer) ? defaultPreference : readPreference(body.prefer),
  );
}

/** The policy of a stored one, perhaps another version's: what is missing is the default, what is unknown is left out. Never throws. */
export function policyOfStored(stored: unknown): RoutingPolicy {
  if (typeof stored !== 'object' || stored === null) return defaultPolicy;
  const fields = stored as Record<string, unknown>;
  return policyOf((gate) => gate.stored(fields[gate.name]), asPreference(fields.prefer) ?? defaultPreference);
}

/** What is stored: all but `object`; null for the default, so that an account follows a default that changes. */
export function policyToStore(policy: RoutingPolicy): RoutingPolicy | null {
  return policy === defaultPolicy ? null : policy;
}

/** As the API gives it. */
export function policyJson(policy: RoutingPolicy): { object: 'routing_policy' } & RoutingPolicy {
  return { object: 'routing_policy', ...policy };
}

/** The one default object where nothing differs from it: requests recognise it at a glance. */
function policyOf(settingOf: (gate: (typeof gates)[number]) => unknown, prefer: Preference): RoutingPolicy {
  const settings = Object.fromEntries(gates.map((gate) => [gate.name, settingOf(gate)]));
  const policy = { ...settings, prefer } as RoutingPolicy;
  const isDefault = prefer === defaultPreference && !gates.some((gate) => gate.isSet(policy[gate.name]));
  return isDefault ? defaultPolicy : Object.freeze(policy);
}

function readPreference(value: unknown): Preference {
  const preference = asPreference(value);
  if (preference !== undefined) return preference;
  const expected = `one of ${preferences.join(', ')}`;
  throw gatewayError('field_type', { param: 'prefer', found: shown(value, 'utf8'), expected });
}

function asPreference(value: unknown): Preference | undefined {
  return preferences.find((preference) => preference === value);
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
