/** From merged catalogue entries to the snapshot that requests use; what contradicts another entry becomes a fault at its place. */
import { readCredential } from '../base/yaml-fields.js';
import { hasAmbientCredentials } from './ambient-credentials.js';
import type { ProviderEntry, RegionEntry } from './entry-schema.js';
import type { Located, ModelEntry, RouteEntry } from './file.js';
import type { MergedCatalogue } from './load.js';
import type { Auth, Dialect, Model, Provider, Region, Route, Snapshot } from './route.js';

/** An operator's settings of a provider, by provider id (contract 2, `providers`). */
export interface ProviderOverrides {
  /** null = names an absent variable: not configured, whatever `api_key_env` says. */
  readonly apiKey?: string | null;
  readonly baseUrl?: string;
}

export interface SnapshotContext {
  readonly providerSettings: ReadonlyMap<string, ProviderOverrides>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: number;
  /** What this version has adapters for; a provider of another dialect is a fault, not a surprise at its first request. */
  readonly dialects: readonly Dialect[];
}

export function buildSnapshot(merged: MergedCatalogue, context: SnapshotContext): Snapshot {
  const providers = new Map<string, Provider>();
  for (const [id, located] of merged.providers) providers.set(id, providerOf(located, context));
  const regions = new Map<string, Region>();
  for (const [locode, { entry }] of merged.regions) regions.set(locode, regionOf(entry));
  const models = new Map<string, Model>();
  const routes = new Map<string, Route>();
  const upstreamModels = new Map<string, Set<string>>();
  for (const [canonicalId, located] of merged.models) {
    const model = modelOf(located, { providers, regions, faulty: merged.faulty });
    models.set(canonicalId, model);
    for (const route of model.routes) {
      routes.set(route.id, route);
      const key = `${route.provider.id} ${route.upstreamModel}`;
      const mapped = upstreamModels.get(key);
      if (mapped) mapped.add(canonicalId);
      else upstreamModels.set(key, new Set([canonicalId]));
    }
  }
  return { loadedAt: context.now, providers, regions, models, routes, upstreamModels };
}

function providerOf(located: Located<ProviderEntry>, { providerSettings, env, dialects }: SnapshotContext): Provider {
  const { entry, source, path } = located;
  const settings = providerSettings.get(entry.id);
  const dialect = entry.dialect ?? 'openai';
  if (!dialects.includes(dialect)) {
    source.faultAt(
      [...path, 'dialect'],
      `found ${dialect}, expected one that this version speaks: ${dialects.join(', ')}`,
    );
  }
  const baseUrl = settings?.baseUrl ?? entry.base_url ?? '';
  if (baseUrl === '' && dialect !== 'sandbox') {
    source.faultAt([...path, 'base_url'], 'found nothing, expected the http:// or https:// address of the provider');
  }
  const auth = entry.auth ?? usualAuth(dialect, baseUrl);
  if (auth === 'aws' && dialect !== 'bedrock') {
    source.faultAt([...path, 'auth'], `found aws, expected it of the dialect bedrock only, not of ${dialect}`);
  }
  const apiKey = settings?.apiKey !== undefined ? settings.apiKey : keyFromEnvironment(located, env);
  // An api_key that names an absent variable says that there is to be one: no chain takes its place.
  const isAmbient = (auth === 'aws' || auth === 'google') && settings?.apiKey === undefined;
  return {
    id: entry.id,
    name: entry.name ?? entry.id,
    dialect,
    baseUrl,
    apiKey,
    auth: apiKey === null ? auth : 'key',
    configured: apiKey !== null || auth === 'none' || (isAmbient && hasAmbientCredentials(auth, env)),
    headquarters: entry.headquarters ?? null,
    cloudAct: entry.cloud_act ?? null,
    excludedTerritories: entry.excluded_territories ?? [],
  };
}

/** Bedrock signs, and Vertex takes tokens, unless a key is given; everybody else has keys. */
function usualAuth(dialect: Dialect, baseUrl: string): Auth {
  if (dialect === 'bedrock') return 'aws';
  return dialect === 'gemini' && /^https?:\/\/[^/]*\baiplatform\b/i.test(baseUrl) ? 'google' : 'key';
}

function keyFromEnvironment(
  { entry, source, path }: Located<ProviderEntry>,
  env: SnapshotContext['env'],
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

function regionOf(entry: RegionEntry): Region {
  const { locode, country } = entry;
  return {
    locode,
    city: entry.city ?? locode.toUpperCase(),
    country,
    lat: entry.lat ?? null,
    lon: entry.lon ?? null,
    carbon: entry.carbon ?? null,
  };
}

interface Surroundings {
  readonly providers: ReadonlyMap<string, Provider>;
  readonly regions: ReadonlyMap<string, Region>;
  readonly faulty: ReadonlySet<string>;
}

function modelOf({ entry }: Located<ModelEntry>, surroundings: Surroundings): Model {
  const routes: Route[] = [];
  const { creator, model: name } = entry;
  const model: Model = {
    creator,
    model: name,
    canonicalId: `${creator}/${name}`,
    name: entry.name ?? name,
    contextWindow: entry.context_window ?? null,
    maxOutputTokens: entry.max_output_tokens ?? null,
    routes,
  };
  const defaults = defaultRoutes(entry.routes);
  const seen = new Set<string>();
  for (const located of entry.routes) {
    const { provider, locode } = located.entry;
    const id = `${provider}/${model.canonicalId}/${locode}`;
    if (seen.has(id)) located.source.faultAt(located.path, `found a second route "${id}", expected one`);
    seen.add(id);
    const route = routeOf(located, { id, model, isDefault: defaults.get(provider) === located.entry }, surroundings);
    if (route) routes.push(route);
  }
  return model;
}

/** Contract 3: the route marked so is a provider's default for the model, else its first one is. */
function defaultRoutes(routes: readonly Located<RouteEntry>[]): Map<string, RouteEntry> {
  const defaults = new Map<string, RouteEntry>();
  for (const { entry, source, path } of routes) {
    const known = defaults.get(entry.provider);
    if (entry.default && known?.default) {
      source.faultAt(
        [...path, 'default'],
        `found a second default of the provider "${entry.provider}", expected one a model`,
      );
    }
    if (!known || (entry.default && !known.default)) defaults.set(entry.provider, entry);
  }
  return defaults;
}

interface RoutePlace {
  readonly id: string;
  readonly model: Model;
  readonly isDefault: boolean;
}

function routeOf(located: Located<RouteEntry>, place: RoutePlace, surroundings: Surroundings): Route | undefined {
  const { entry } = located;
  const provider = referred(located, 'provider', entry.provider, surroundings.providers, surroundings.faulty);
  const isGlobal = entry.locode === 'global';
  const region = isGlobal ? null : referred(located, 'locode', entry.locode, surroundings.regions, surroundings.faulty);
  if (!provider || region === undefined) return undefined;
  return {
    id: place.id,
    provider,
    model: place.model,
    locode: entry.locode,
    country: region?.country ?? null,
    isDefault: place.isDefault,
    upstreamModel: entry.upstream_model ?? place.model.model,
    // A regional endpoint stays what it is under an operator's provider-wide address: no region is ever substituted (§1.3).
    baseUrl: entry.base_url ?? provider.baseUrl,
    price: entry.price,
    carbon: entry.carbon === undefined ? (region?.carbon ?? null) : entry.carbon,
    capabilities: new Set(entry.capabilities ?? []),
    dailyTokenQuota: entry.daily_token_quota ?? null,
    streamUsage: entry.stream_usage ?? true,
  };
}

/** What a route refers to; a fault where the catalogue does not have it, unless its own entry is the faulty one. */
function referred<T>(
  { source, path }: Located<RouteEntry>,
  fieldName: 'provider' | 'locode',
  name: string,
  known: ReadonlyMap<string, T>,
  faulty: ReadonlySet<string>,
): T | undefined {
  const found = known.get(name);
  if (found === undefined && !faulty.has(name)) {
    const what = fieldName === 'provider' ? 'a provider' : 'a region, or global,';
    source.faultAt([...path, fieldName], `found "${name}", expected ${what} that the catalogue has`);
  }
  return found;
}
