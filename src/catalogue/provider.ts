/** A provider as requests see it: its entry, the operator's settings and the environment taken together, and how it is on one route. */
import { readCredential } from '../base/yaml-fields.js';
import { hasAmbientCredentials } from './ambient-credentials.js';
import type { Located, ModelEntry, RouteEntry } from './catalogue-file.js';
import type { ProviderEntry } from './entry-schema.js';
import { resolveAddress } from './provider-address.js';
import type { Auth, Dialect, Provider } from './route.js';

/** An operator's settings of a provider, by provider id (contract 2, `providers`). */
export interface ProviderOverrides {
  /** null = names an absent variable: not configured, whatever `api_key_env` says. */
  readonly apiKey?: string | null;
  readonly baseUrl?: string;
}

export interface ProviderContext {
  readonly providerSettings: ReadonlyMap<string, ProviderOverrides>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What this version has adapters for; a provider of another dialect is a fault, not a surprise at its first request. */
  readonly dialects: readonly Dialect[];
}

export function providerOf(located: Located<ProviderEntry>, context: ProviderContext): Provider {
  const { entry, source, path } = located;
  const settings = context.providerSettings.get(entry.id);
  const dialect = entry.dialect ?? 'openai';
  checkDialect(located, dialect, context);
  const written = settings?.baseUrl ?? entry.base_url ?? '';
  if (written === '' && dialect !== 'sandbox') {
    source.faultAt([...path, 'base_url'], 'found nothing, expected the http:// or https:// address of the provider');
  }
  const { address, absent } = addressOf(located, written, context);
  const baseUrl = address ?? written;
  const auth = entry.auth ?? usualAuth(dialect, baseUrl);
  if (auth === 'aws' && dialect !== 'bedrock') {
    source.faultAt([...path, 'auth'], `found aws, expected it of the dialect bedrock only, not of ${dialect}`);
  }
  const apiKey = settings?.apiKey !== undefined ? settings.apiKey : keyFromEnvironment(located, context);
  return {
    id: entry.id,
    name: entry.name ?? entry.id,
    dialect,
    baseUrl,
    apiKey,
    auth: apiKey === null ? auth : 'key',
    configured: address !== null && canCall(apiKey, auth, entry.id, context),
    ...(entry.api_key_env && { apiKeyEnv: entry.api_key_env }),
    ...(absent.length > 0 && { absentVariables: absent }),
    headquarters: entry.headquarters ?? null,
    cloudAct: entry.cloud_act ?? null,
    excludedTerritories: entry.excluded_territories ?? [],
  };
}

export interface ServedBy {
  readonly provider: Provider;
  readonly baseUrl: string;
}

/**
 * The provider as it is on one route. A regional endpoint stays what it is under an operator's provider-wide address: no region
 * is ever substituted. A key of the route's own, where the environment has it, wins over the provider's.
 */
export function servedBy(
  provider: Provider,
  located: Located<RouteEntry>,
  model: ModelEntry,
  context: ProviderContext,
): ServedBy {
  const { entry } = located;
  const dialect = entry.dialect ?? provider.dialect;
  if (entry.dialect) checkDialect(located, dialect, context);
  const { address, absent = [] } = entry.base_url
    ? addressOf(located, entry.base_url, context)
    : { address: provider.absentVariables ? null : provider.baseUrl, absent: provider.absentVariables };
  const baseUrl = address ?? entry.base_url ?? provider.baseUrl;
  const isWithheld = context.providerSettings.get(provider.id)?.apiKey === null;
  const apiKey = (isWithheld ? null : keyFromEnvironment(located, context)) ?? provider.apiKey;
  // Only Converse is signed; AWS's other endpoints are called with a key.
  const auth = provider.auth === 'aws' && dialect !== 'bedrock' ? 'key' : (provider.auth ?? 'key');
  const configured = address !== null && canCall(apiKey, auth, provider.id, context);
  const excluded = new Set([...provider.excludedTerritories, ...(model.excluded_territories ?? [])]);
  const differs =
    dialect !== provider.dialect ||
    configured !== provider.configured ||
    excluded.size > provider.excludedTerritories.length ||
    Boolean(entry.api_key_env);
  if (!differs) return { provider, baseUrl };
  const { absentVariables: _, ...rest } = provider;
  return {
    baseUrl,
    provider: {
      ...rest,
      dialect,
      apiKey,
      auth: apiKey === null ? auth : 'key',
      configured,
      ...(entry.api_key_env && { apiKeyEnv: entry.api_key_env }),
      ...(absent.length > 0 && { absentVariables: absent }),
      excludedTerritories: [...excluded],
    },
  };
}

function checkDialect({ source, path }: Located<unknown>, dialect: Dialect, { dialects }: ProviderContext): void {
  if (dialects.includes(dialect)) return;
  const spoken = dialects.join(', ');
  source.faultAt([...path, 'dialect'], `found ${dialect}, expected one that this version speaks: ${spoken}`);
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

/** An api_key that names an absent variable says that there is to be one: no chain takes its place. */
function canCall(apiKey: string | null, auth: Auth, id: string, { providerSettings, env }: ProviderContext): boolean {
  if (apiKey !== null || auth === 'none') return true;
  const isAmbient = (auth === 'aws' || auth === 'google') && providerSettings.get(id)?.apiKey === undefined;
  return isAmbient && hasAmbientCredentials(auth, env);
}

/** Bedrock signs, and Vertex takes tokens, unless a key is given; everybody else has keys. */
function usualAuth(dialect: Dialect, baseUrl: string): Auth {
  if (dialect === 'bedrock') return 'aws';
  return dialect === 'gemini' && /^https?:\/\/[^/]*\baiplatform\b/i.test(baseUrl) ? 'google' : 'key';
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
