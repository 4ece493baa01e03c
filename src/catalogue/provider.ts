/** Resolves a provider from its entry, the operator's settings and the environment, and adapts it to one route. */
import {
  type DataPolicyInForce,
  mergeDataPolicy,
  type PolicyStatements,
  type StatedPolicy,
} from '../base/data-policy.js';
import { coversModel, type ProviderKey } from '../base/provider-key.js';
import { readCredential } from '../base/yaml-fields.js';
import { hasAmbientCredentials } from './ambient-credentials.js';
import type { Located, ModelEntry, RouteEntry } from './catalogue-file.js';
import type { ProviderEntry } from './entry-schema.js';
import { provenanceMember } from './provenance.js';
import { resolveAddress } from './provider-address.js';
import type { Auth, DialectList, DialectRules, Provider } from './route.js';

/** The operator's settings for a provider (`providers` in the configuration). */
export interface ProviderOverrides {
  /** Null = the setting names an absent variable: the provider is not configured, whatever `api_key_env` says. */
  readonly apiKey?: string | null;
  /** Several credentials, at least one. They take the place of the environment's. */
  readonly keys?: readonly ProviderKey[];
  readonly baseUrl?: string;
  /** What the operator has agreed with the provider. */
  readonly agreement?: StatedPolicy;
  /** Clients may name what the provider keeps for the operator's account. */
  readonly storedObjects?: boolean;
}

export interface ProviderContext {
  readonly providerSettings: ReadonlyMap<string, ProviderOverrides>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The dialects that entries may name. */
  readonly dialects: DialectList;
}

export function providerOf(located: Located<ProviderEntry>, context: ProviderContext): Provider {
  const { entry } = located;
  const settings = context.providerSettings.get(entry.id);
  const dialect = entry.dialect ?? 'openai';
  const written = settings?.baseUrl ?? entry.base_url ?? '';
  const rules = checkedRules(located, { dialect, written, auth: entry.auth }, context);
  const { address, absent } = addressOf(located, written, context);
  const baseUrl = address ?? written;
  const auth = entry.auth ?? rules.defaultAuth(baseUrl);
  const keys = settings?.keys;
  const stated = keys ? keys[0]!.apiKey : settings?.apiKey;
  const apiKey = stated !== undefined ? stated : keyFromEnvironment(located, context);
  return {
    id: entry.id,
    name: entry.name ?? entry.id,
    dialect,
    baseUrl,
    apiKey,
    ...(keys && { keys }),
    auth: apiKey === null ? auth : 'key',
    configured: address !== null && canCall(apiKey, auth, entry.id, context),
    ...(entry.apis && { apis: entry.apis }),
    ...(settings?.storedObjects && { storedObjects: true }),
    ...(entry.api_key_env && { apiKeyEnv: entry.api_key_env }),
    ...(absent.length > 0 && { absentVariables: absent }),
    ...writtenMember(written),
    headquarters: entry.headquarters ?? null,
    cloudAct: entry.cloud_act ?? null,
    excludedTerritories: entry.excluded_territories ?? [],
    ...publishedMember(entry.data_policy),
    ...provenanceMember(entry),
  };
}

/** The address as it is written, where variables are in it: a customer's own credential may name their value. */
function writtenMember(written: string): Pick<Provider, 'writtenUrl'> {
  return written.includes('${') ? { writtenUrl: written.replace(/\/+$/, '') } : {};
}

/** Reports what does not fit the dialect of an entry that was refused for other faults, so that all faults are named at once. */
export function checkRefused(located: Located<Readonly<Record<string, unknown>>>, context: ProviderContext): void {
  const { id, dialect, base_url: url, auth } = located.entry;
  // A member of a wrong type has been reported.
  if (typeof (dialect ?? '') !== 'string' || dialect === '') return;
  const written = context.providerSettings.get(String(id))?.baseUrl ?? url ?? '';
  checkedRules(located, { dialect: (dialect as string | null | undefined) ?? 'openai', written, auth }, context);
}

/** The rules of the dialect. Faults are reported. */
function checkedRules(
  located: Located<unknown>,
  { dialect, written, auth }: { readonly dialect: string; readonly written: unknown; readonly auth: unknown },
  context: ProviderContext,
): DialectRules {
  const { source, path } = located;
  const rules = rulesOf(located, dialect, context);
  if (written === '' && rules.needsBaseUrl) {
    source.faultAt([...path, 'base_url'], 'found nothing, expected the http:// or https:// address of the provider');
  }
  if (auth === 'aws' && !rules.canSign) {
    const signing = Object.keys(context.dialects).filter((name) => context.dialects[name]!.canSign);
    source.faultAt(
      [...path, 'auth'],
      `found aws, expected it of the dialect ${signing.join(' or ')} only, not of ${dialect}`,
    );
  }
  return rules;
}

function publishedMember(stated: StatedPolicy | null | undefined): Pick<Provider, 'dataPolicy'> {
  const merged = mergeDataPolicy({ provider: stated, route: undefined, agreement: undefined });
  if (merged === null) return {};
  const { basis: _, ...dataPolicy } = merged;
  return { dataPolicy };
}

/** What is known of a route's data policy. A route without a region cannot keep processing in it, whatever its provider states. */
export function routePolicy(
  { id, dataPolicy: provider }: Provider,
  { data_policy: route, locode }: Pick<RouteEntry, 'data_policy' | 'locode'>,
  { providerSettings }: Pick<ProviderContext, 'providerSettings'>,
): DataPolicyInForce | null {
  return policyUnder(providerSettings.get(id)?.agreement, { provider, route, locode });
}

/** What is published of it where the operator has an agreement; undefined where there is none. */
export function publishedRoutePolicy(
  { id, dataPolicy: provider }: Provider,
  { data_policy: route, locode }: Pick<RouteEntry, 'data_policy' | 'locode'>,
  { providerSettings }: Pick<ProviderContext, 'providerSettings'>,
): DataPolicyInForce | null | undefined {
  if (providerSettings.get(id)?.agreement === undefined) return undefined;
  return policyUnder(undefined, { provider, route, locode });
}

function policyUnder(
  agreement: StatedPolicy | undefined,
  { provider, route, locode }: Pick<PolicyStatements, 'provider' | 'route'> & { readonly locode: string },
): DataPolicyInForce | null {
  if (locode !== 'global') return mergeDataPolicy({ provider, route, agreement });
  return mergeDataPolicy({
    provider: withoutRegion(provider),
    route: withoutRegion(route),
    agreement: withoutRegion(agreement),
  });
}

function withoutRegion<Stated extends StatedPolicy | null | undefined>(stated: Stated): Stated {
  return stated ? { ...stated, in_region: undefined } : stated;
}

interface RouteProvider {
  readonly provider: Provider;
  readonly baseUrl: string;
  readonly writtenUrl?: string;
}

/**
 * The provider on one route. A route's own address wins over the operator's provider-wide one, so that no region is replaced by
 * another. A key of the route's own, if the environment has it, wins over the provider's.
 */
export function providerOnRoute(
  provider: Provider,
  located: Located<RouteEntry>,
  model: ModelEntry,
  context: ProviderContext,
): RouteProvider {
  const { entry } = located;
  const dialect = entry.dialect ?? provider.dialect;
  const rules = entry.dialect ? rulesOf(located, dialect, context) : context.dialects[dialect];
  const { address, absent = [] } = entry.base_url
    ? addressOf(located, entry.base_url, context)
    : { address: provider.absentVariables ? null : provider.baseUrl, absent: provider.absentVariables };
  const baseUrl = address ?? entry.base_url ?? provider.baseUrl;
  const { writtenUrl } = entry.base_url ? writtenMember(entry.base_url) : provider;
  const place = { baseUrl, ...(writtenUrl !== undefined && { writtenUrl }) };
  const isWithheld = context.providerSettings.get(provider.id)?.apiKey === null;
  const own = isWithheld ? null : keyFromEnvironment(located, context);
  const keys = own === null ? keysFor(provider, model) : undefined;
  const apiKey = own ?? (keys ? (keys[0]?.apiKey ?? null) : provider.apiKey);
  // A route of a signed provider whose dialect cannot sign is called with a key.
  const auth = provider.auth === 'aws' && !rules?.canSign ? 'key' : (provider.auth ?? 'key');
  const configured = address !== null && canCall(apiKey, auth, provider.id, context);
  const excluded = new Set([...provider.excludedTerritories, ...(model.excluded_territories ?? [])]);
  const differs =
    dialect !== provider.dialect ||
    configured !== provider.configured ||
    excluded.size > provider.excludedTerritories.length ||
    Boolean(entry.api_key_env) ||
    Boolean(entry.apis) ||
    keys !== provider.keys;
  if (!differs) return { provider, ...place };
  const { absentVariables: _, keys: _all, ...rest } = provider;
  return {
    ...place,
    provider: {
      ...rest,
      dialect,
      apiKey,
      ...(keys && keys.length > 0 && { keys }),
      auth: apiKey === null ? auth : 'key',
      configured,
      ...(entry.apis && { apis: entry.apis }),
      ...(entry.api_key_env && { apiKeyEnv: entry.api_key_env }),
      ...(absent.length > 0 && { absentVariables: absent }),
      excludedTerritories: [...excluded],
    },
  };
}

/** The keys of a provider for a model: the provider's own list where that is all of them, empty where none is for it. */
function keysFor({ keys }: Provider, { creator, model }: ModelEntry): readonly ProviderKey[] | undefined {
  const covering = keys?.filter((key) => coversModel(key, creator, model));
  return covering?.length === keys?.length ? keys : covering;
}

/** The rules after an unknown dialect has been reported: they add no second fault. */
const unknownDialect: DialectRules = { needsBaseUrl: false, canSign: true, defaultAuth: () => 'key' };

function rulesOf({ source, path }: Located<unknown>, dialect: string, { dialects }: ProviderContext): DialectRules {
  if (Object.hasOwn(dialects, dialect)) return dialects[dialect]!;
  const known = Object.keys(dialects).join(', ');
  source.faultAt([...path, 'dialect'], `found ${JSON.stringify(dialect)}, expected one of: ${known}`);
  return unknownDialect;
}

function addressOf({ source, path }: Located<unknown>, written: string, { env }: ProviderContext) {
  const resolved = resolveAddress(written, env);
  for (const name of resolved.unfit) {
    source.faultAt(
      [...path, 'base_url'],
      `found a value of ${name} that does not fit into the address, expected a name`,
    );
  }
  return resolved;
}

/** An `api_key` setting that names an absent variable means that a key is wanted: no credential chain replaces it. */
function canCall(apiKey: string | null, auth: Auth, id: string, { providerSettings, env }: ProviderContext): boolean {
  if (apiKey !== null || auth === 'none') return true;
  const isAmbient = (auth === 'aws' || auth === 'google') && providerSettings.get(id)?.apiKey === undefined;
  return isAmbient && hasAmbientCredentials(auth, env);
}

function keyFromEnvironment(
  { entry, source, path }: Located<Pick<ProviderEntry, 'api_key_env'>>,
  { env }: ProviderContext,
): string | null {
  const name = entry.api_key_env;
  const value = name && Object.hasOwn(env, name) ? env[name]?.trim() : '';
  if (!value) return null;
  const key = readCredential(value);
  if (key === undefined) {
    source.faultAt(
      [...path, 'api_key_env'],
      `found other characters in ${name}, expected visible ASCII characters only`,
    );
  }
  return key ?? null;
}
