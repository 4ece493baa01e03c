/**
 * What a request asks for in its `provider` object: gates of its own, an order of providers, a preference. It only narrows what the
 * account's policy leaves. Every door's requests pass through here.
 */
import type { Route, Snapshot } from '../catalogue/route.js';
import { GatewayError, gatewayError } from '../errors/gateway-error.js';
import { excerpt, shown } from '../wire/json-text.js';
import type { Gate, GateName } from './gates/gate.js';
import { gates } from './gates/index.js';
import { readSwitch } from './gates/switch.js';
import { openRouterReaders, type PreferredFigures, preferredOf } from './openrouter-preferences.js';
import type { RequestGate } from './request-gate.js';
import { priceGate, readPriceCeilings } from './request-price.js';
import { readOneOf, requestSorts } from './request-sorts.js';
import type { Preference } from './routing-policy.js';

export interface RequestPreferences {
  /** The fields as sent, without nulls and empty lists; null where the request sent none, and a name of the operator asks. */
  readonly sent: Readonly<Record<string, unknown>> | null;
  /** Those that are set, in the order in which they count. */
  readonly gates: readonly RequestGate[];
  /** Providers that are tried first, in this order. */
  readonly order: readonly string[];
  /** Only one candidate is tried. */
  readonly single: boolean;
  /** null = the account's. */
  readonly prefer: Preference | null;
  /** Routes that were measured as worse are tried behind the others; absent where nothing is preferred. */
  readonly preferred?: PreferredFigures;
  /** False = the request neither follows nor changes the route of its conversation. */
  readonly sticky: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** Names a field in an error, under the object that it belongs to. */
const paramOf = (field: string) => `provider.${field}`;

/** The gates of the account that a request can set too, under the same name. */
const sharedGates = [
  ...([
    'max_carbon',
    'deny_cloud_act',
    'regions',
    'max_retention_days',
    'require_in_region',
    'require_eu_owned',
  ] as const),
  ...(['certifications', 'quantizations'] as const),
] satisfies readonly GateName[];

const gateOf = (name: GateName): Gate => gates.find((gate) => gate.name === name)!;

/** Reads each field; throws a 400 that names it. */
const readers: Readonly<Record<string, (value: unknown, param: string) => unknown>> = {
  only: readIds,
  ignore: readIds,
  order: readIds,
  allow_fallbacks: (value, param) => readSwitch(param, value),
  require_parameters: (value, param) => readSwitch(param, value),
  data_collection: (value, param) => readOneOf(['allow', 'deny'], value, param),
  zdr: (value, param) => readSwitch(param, value),
  sort: (value, param) => readOneOf(requestSorts, value, param),
  max_price: readPriceCeilings,
  sticky: (value, param) => readSwitch(param, value),
  ...Object.fromEntries(
    sharedGates.map((name) => [name, (value: unknown, param: string) => gateOf(name).read(value, param)]),
  ),
};

const preferenceFields: readonly string[] = Object.keys(readers);

/** null where the object asks for nothing. The snapshot is the one that the request is routed with; without it ids are not checked. */
export function readPreferences(
  provider: unknown,
  snapshot: Pick<Snapshot, 'providers' | 'openRouter'> | null,
): RequestPreferences | null {
  if (provider === undefined || provider === null) return null;
  if (typeof provider !== 'object' || Array.isArray(provider)) {
    throw gatewayError('field_type', { param: 'provider', found: shown(provider, 'utf8'), expected: 'an object' });
  }
  const sent: Record<string, unknown> = {};
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(provider)) {
    const reader = readerOf(name, snapshot?.openRouter === true);
    if (!reader) throw unknownField(name);
    if (isLeftOut(value)) continue;
    checkLists(value, paramOf(name));
    read[name] = readField(reader, value, paramOf(name));
    sent[name] = withoutNulls(value);
  }
  if (snapshot !== null) {
    for (const name of ['only', 'ignore', 'order'])
      checkIds(name, read[name] as readonly string[] | undefined, snapshot);
  }
  return Object.keys(sent).length === 0 ? null : preferencesOf(sent, read);
}

function preferencesOf(sent: Fields, read: Fields): RequestPreferences {
  const order = (read.order as readonly string[] | undefined) ?? [];
  const fallsBack = read.allow_fallbacks !== false;
  return {
    sent,
    order,
    gates: gatesOf(read, fallsBack ? [] : order),
    single: !fallsBack && order.length === 0,
    prefer: (read.sort as Preference | undefined) ?? null,
    sticky: read.sticky !== false,
    ...preferredOf(read),
  };
}

function readerOf(name: string, isOpenRouter: boolean) {
  if (isOpenRouter && Object.hasOwn(openRouterReaders, name)) return openRouterReaders[name];
  return Object.hasOwn(readers, name) ? readers[name] : undefined;
}

/** What a name of the operator asks for, narrowed by the request: gates of both hold, and the request's order and sort win. */
export function bothPreferences(
  ofName: RequestPreferences | null,
  own: RequestPreferences | null,
): RequestPreferences | null {
  if (ofName === null) return own;
  if (own === null) return { ...ofName, sent: null };
  const gates = [...ofName.gates, ...own.gates].sort((a, b) => placeOf(a) - placeOf(b));
  return {
    ...(ofName.preferred && { preferred: ofName.preferred }),
    ...(own.preferred && { preferred: own.preferred }),
    ...{ sent: own.sent, gates, single: ofName.single || own.single, sticky: ofName.sticky && own.sticky },
    order: own.order.length > 0 ? own.order : ofName.order,
    prefer: own.prefer ?? ofName.prefer,
  };
}

const placeOf = ({ name }: RequestGate): number => requestGateNames.indexOf(name);

/** In the order in which they count. `onlyOrder` are the providers that an order without fallbacks leaves. */
function gatesOf(read: Fields, onlyOrder: readonly string[]): RequestGate[] {
  const found: RequestGate[] = [];
  const add = (field: string, permits: RequestGate['permits'] | null) => {
    if (permits) found.push({ name: paramOf(field), permits });
  };
  const shared = (field: GateName, setting = read[field], name: string = field) => {
    const gate = gateOf(field);
    const isSet = setting !== undefined && gate.isSet(setting as never);
    add(name, isSet ? (route, moment) => gate.permits(route, setting as never, moment) : null);
  };
  const only = read.only as readonly string[] | undefined;
  const ignore = read.ignore as readonly string[] | undefined;
  add('only', only ? ({ provider }) => only.includes(provider.id) : null);
  add('ignore', ignore ? ({ provider }) => !ignore.includes(provider.id) : null);
  add('max_price', priceGate(read.max_price));
  shared('max_carbon');
  shared('deny_cloud_act');
  shared('regions');
  shared('deny_training', read.data_collection === 'deny', 'data_collection');
  shared('max_retention_days', read.zdr === true ? 0 : read.max_retention_days);
  shared('require_in_region');
  shared('require_eu_owned');
  shared('certifications');
  shared('quantizations');
  add('allow_fallbacks', onlyOrder.length > 0 ? ({ provider }) => onlyOrder.includes(provider.id) : null);
  return found;
}

/** The names of all gates of a request, in the order in which they count. */
export const requestGateNames: readonly string[] = [
  ...['only', 'ignore', 'max_price', 'max_carbon', 'deny_cloud_act', 'regions', 'data_collection'],
  ...['max_retention_days', 'require_in_region', 'require_eu_owned', 'certifications', 'quantizations'],
  'allow_fallbacks',
].map(paramOf);

/** Candidates of an ordered provider come first, in that order; otherwise the ranking stays. */
export function applyOrder(routes: readonly Route[], order: readonly string[]): readonly Route[] {
  if (order.length === 0) return routes;
  const placeOf = ({ provider }: Route) => {
    const place = order.indexOf(provider.id);
    return place < 0 ? order.length : place;
  };
  return [...routes].sort((a, b) => placeOf(a) - placeOf(b));
}

function unknownField(name: string): GatewayError {
  return gatewayError('field_invalid', {
    param: paramOf(excerpt(name)),
    reason: `is not a field of \`provider\`; there are ${preferenceFields.join(', ')}`,
  });
}

/** An error inside a field has the field itself as its `param`, and names the member in its text. */
function readField(reader: (value: unknown, param: string) => unknown, value: unknown, param: string): unknown {
  try {
    return reader(value, param);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const values = error.values as { param?: string; reason?: string };
    const { param: member = param, reason } = values;
    const named = member === param || reason === undefined ? {} : { reason: `is not valid: \`${member}\` ${reason}` };
    throw new GatewayError(error.condition, { ...values, ...named, param });
  }
}

function readIds(value: unknown, param: string): readonly string[] {
  const expected = 'an array of provider ids';
  if (!Array.isArray(value)) throw gatewayError('field_type', { param, found: shown(value, 'utf8'), expected });
  const wrong = value.findIndex((entry) => typeof entry !== 'string');
  if (wrong >= 0) {
    const found = `an array whose entry ${wrong} is ${shown(value[wrong], 'utf8')}`;
    throw gatewayError('field_type', { param, found, expected });
  }
  return (value as string[]).map((id) => id.toLowerCase());
}

/** A provider without credentials is known. */
function checkIds(field: string, ids: readonly string[] | undefined, { providers }: Pick<Snapshot, 'providers'>): void {
  const unknown = ids?.find((id) => !providers.has(id));
  if (unknown === undefined) return;
  const reason = `has ${shown(unknown, 'utf8')}, which is not a provider of the catalogue`;
  throw gatewayError('field_invalid', { param: paramOf(field), reason });
}

/** More than there are providers, regions or certifications. */
const entriesMax = 256;

/** A list, or the lists in an object. */
function checkLists(value: unknown, param: string): void {
  const lists = value !== null && typeof value === 'object' ? [value, ...Object.values(value)] : [];
  const long = lists.find((list) => Array.isArray(list) && list.length > entriesMax) as unknown[] | undefined;
  if (long === undefined) return;
  const range = `a list of at most ${entriesMax} entries`;
  throw gatewayError('parameter_out_of_range', { param, value: `a list of ${long.length} entries`, range });
}

function isLeftOut(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

function withoutNulls(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => !isLeftOut(inner)));
}
