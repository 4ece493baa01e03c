/** An account's routing policy: gates that remove routes from `auto/` selection, and the preference that ranks the rest. */
import { type JsonSchema, orNullEach } from '../base/json-schema.js';
import { gatewayError } from '../errors/gateway-error.js';
import { shown } from '../wire/json-text.js';
import { gates } from './gates/index.js';
import { type Preference, type ProjectPolicy, preferences, type RoutingPolicy } from './routing-policy.js';

const defaultPreference: Preference = 'balanced';

export const defaultPolicy: RoutingPolicy = Object.freeze({
  ...(Object.fromEntries(gates.map((gate) => [gate.name, gate.defaultSetting])) as Omit<RoutingPolicy, 'prefer'>),
  prefer: defaultPreference,
});

/** The schema of each field of a policy in a response of the API. */
export const policySchemas = {
  ...Object.fromEntries(gates.map((gate) => [gate.name, { ...gate.schema, description: descriptionOf(gate) }])),
  prefer: { type: 'string', enum: preferences, description: 'What counts most in the ranking.' },
} as unknown as Record<keyof RoutingPolicy, JsonSchema>;

/** The schema of each field that `readPolicy` takes. */
export const sentPolicySchemas: Record<keyof RoutingPolicy, JsonSchema> = orNullEach(policySchemas) as never;

/** `object` is accepted and ignored, so that the response of a GET can be sent back. */
const fieldNames = new Set(['object', ...Object.keys(defaultPolicy)]);

/**
 * Reads a policy from a request's body. An absent or null field gets its default. An unknown field is a 400, because ignoring a
 * mistyped gate would let through what its owner wants removed.
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

/** Reads a stored policy, perhaps of another version: missing fields get their defaults, unknown ones are left out. Never throws. */
export function policyOfStored(stored: unknown): RoutingPolicy {
  if (typeof stored !== 'object' || stored === null) return defaultPolicy;
  const fields = stored as Record<string, unknown>;
  return policyOf((gate) => gate.readStored(fields[gate.name]), asPreference(fields.prefer) ?? defaultPreference);
}

/** What the store keeps: null for the default policy, so that the account follows when the default changes. */
export function policyToStore(policy: RoutingPolicy): RoutingPolicy | null {
  return policy === defaultPolicy ? null : policy;
}

/** The policy as the API returns it. */
export function policyJson<Policy extends RoutingPolicy | ProjectPolicy>(
  policy: Policy,
): { object: 'routing_policy' } & Policy {
  return { object: 'routing_policy', ...policy };
}

/** What a project without a policy of its own shows: no gate, and the account's preference. */
export const openProjectPolicy: ProjectPolicy = Object.freeze({ ...defaultPolicy, prefer: null });

/** Reads the policy of a project, which has the same fields and the account's preference where it names none. */
export function readProjectPolicy(body: Record<string, unknown>): ProjectPolicy {
  const policy = readPolicy(body);
  return isAbsent(body.prefer) ? Object.freeze({ ...policy, prefer: null }) : policy;
}

/** As `policyOfStored`; null where none is stored. */
export function projectPolicyOfStored(stored: unknown): ProjectPolicy | null {
  if (typeof stored !== 'object' || stored === null) return null;
  const prefer = asPreference((stored as Record<string, unknown>).prefer) ?? null;
  return Object.freeze({ ...policyOfStored(stored), prefer });
}

/** Returns the shared default object where nothing differs from it, so that a comparison by reference recognises it. */
function policyOf(settingOf: (gate: (typeof gates)[number]) => unknown, prefer: Preference): RoutingPolicy {
  const settings = Object.fromEntries(gates.map((gate) => [gate.name, settingOf(gate)]));
  const policy = { ...settings, prefer } as RoutingPolicy;
  const isDefault = prefer === defaultPreference && !gates.some((gate) => gate.isSet(policy[gate.name]));
  return isDefault ? defaultPolicy : Object.freeze(policy);
}

/** A field's text in the API description, from what the docs page says of the gate. */
function descriptionOf({ takes, removes }: (typeof gates)[number]): string {
  return `${removes} Takes ${takes}.`;
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
