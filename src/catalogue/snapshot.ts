/** Builds the routing snapshot from merged catalogue entries. Contradictions between entries become faults at their positions. */
import type { Located, ModelEntry, RouteEntry } from './catalogue-file.js';
import type { RegionEntry } from './entry-schema.js';
import { lifeMember } from './life.js';
import { checkLives } from './life-check.js';
import type { MergedCatalogue } from './load-catalogue.js';
import { provenanceMember } from './provenance.js';
import {
  checkRefused,
  type ProviderContext,
  providerOf,
  providerOnRoute,
  publishedRoutePolicy,
  routePolicy,
} from './provider.js';
import type { Model, Provider, Region, Route, Snapshot } from './route.js';

interface SnapshotContext extends ProviderContext {
  readonly now: number;
}

export function buildSnapshot(merged: MergedCatalogue, context: SnapshotContext): Snapshot {
  const providers = new Map<string, Provider>();
  for (const [id, located] of merged.providers) providers.set(id, providerOf(located, context));
  for (const located of merged.refused) checkRefused(located, context);
  const regions = new Map<string, Region>();
  for (const [locode, { entry }] of merged.regions) regions.set(locode, regionOf(entry));
  const models = new Map<string, Model>();
  const routes = new Map<string, Route>();
  const upstreamModels = new Map<string, Set<string>>();
  for (const [canonicalId, located] of merged.models) {
    checkLives(located, canonicalId, merged);
    const model = modelOf(located, { providers, regions, faulty: merged.faulty, context });
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

function regionOf(entry: RegionEntry): Region {
  const { locode, country } = entry;
  return {
    locode,
    city: entry.city ?? locode.toUpperCase(),
    country,
    lat: entry.lat ?? null,
    lon: entry.lon ?? null,
    carbon: entry.carbon ?? null,
    ...provenanceMember(entry),
  };
}

interface Surroundings {
  readonly providers: ReadonlyMap<string, Provider>;
  readonly regions: ReadonlyMap<string, Region>;
  readonly faulty: ReadonlySet<string>;
  readonly context: ProviderContext;
}

function modelOf({ entry }: Located<ModelEntry>, surroundings: Surroundings): Model {
  const routes: Route[] = [];
  const { creator, model: name } = entry;
  const model: Model = {
    creator,
    model: name,
    canonicalId: `${creator}/${name}`,
    name: entry.name ?? name,
    ...(entry.kind && { kind: entry.kind }),
    ...(entry.dimensions && { dimensions: entry.dimensions }),
    ...(entry.fixed_dimensions && { fixedDimensions: true }),
    ...(entry.max_input_tokens && { maxInputTokens: entry.max_input_tokens }),
    contextWindow: entry.context_window ?? null,
    maxOutputTokens: entry.max_output_tokens ?? null,
    ...(entry.excluded_territories && { excludedTerritories: entry.excluded_territories }),
    ...lifeMember(entry),
    ...provenanceMember(entry),
    routes,
  };
  const defaults = defaultRoutes(entry.routes);
  const seen = new Set<string>();
  for (const located of entry.routes) {
    const { provider, locode } = located.entry;
    const id = `${provider}/${model.canonicalId}/${locode}`;
    if (seen.has(id)) located.source.faultAt(located.path, `found a second route "${id}", expected one`);
    seen.add(id);
    const isDefault = defaults.get(provider) === located.entry;
    const route = routeOf(located, { id, model, entry, isDefault }, surroundings);
    if (route) routes.push(route);
  }
  return model;
}

/** A provider's default route for the model: the one marked `default`, else the first. */
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
  readonly entry: ModelEntry;
  readonly isDefault: boolean;
}

function routeOf(located: Located<RouteEntry>, place: RoutePlace, surroundings: Surroundings): Route | undefined {
  const { entry } = located;
  const provider = findReferenced(located, 'provider', entry.provider, surroundings.providers, surroundings.faulty);
  const isGlobal = entry.locode === 'global';
  const region = isGlobal
    ? null
    : findReferenced(located, 'locode', entry.locode, surroundings.regions, surroundings.faulty);
  if (!provider || region === undefined) return undefined;
  if (isGlobal && entry.processing === 'region') {
    located.source.faultAt([...located.path, 'processing'], 'found region, expected it of a route with a region only');
  }
  const dataPolicy = routePolicy(provider, entry, surroundings.context);
  const publishedPolicy = publishedRoutePolicy(provider, entry, surroundings.context);
  const onRoute = providerOnRoute(provider, located, place.entry, surroundings.context);
  if (entry.responses_only && !onRoute.provider.apis?.includes('responses')) {
    const expected = 'it of a route whose `apis`, or those of its provider, have responses';
    located.source.faultAt([...located.path, 'responses_only'], `found true, expected ${expected}`);
  }
  return {
    id: place.id,
    model: place.model,
    ...onRoute,
    locode: entry.locode,
    country: region?.country ?? null,
    isDefault: place.isDefault,
    upstreamModel: entry.upstream_model ?? place.model.model,
    price: entry.price,
    carbon: entry.carbon === undefined ? (region?.carbon ?? null) : entry.carbon,
    capabilities: new Set(entry.capabilities ?? []),
    ...unsupportedMember(entry.unsupported_parameters ?? place.entry.unsupported_parameters),
    dailyTokenQuota: entry.daily_token_quota ?? null,
    ...(entry.max_batch && { maxBatch: entry.max_batch }),
    streamUsage: entry.stream_usage ?? true,
    ...(entry.responses_only && { responsesOnly: true }),
    ...(entry.hidden_reasoning && { hiddenReasoning: true }),
    ...(entry.processing && { processing: entry.processing }),
    ...(dataPolicy && { dataPolicy }),
    ...(publishedPolicy !== undefined && { publishedPolicy }),
    ...(entry.quantization && { quantization: entry.quantization }),
    contextWindow: entry.context_window === undefined ? place.model.contextWindow : entry.context_window,
    maxOutputTokens: entry.max_output_tokens === undefined ? place.model.maxOutputTokens : entry.max_output_tokens,
    ...lifeMember(entry, place.entry),
    ...provenanceMember(entry),
  };
}

function unsupportedMember(list: Route['unsupportedParameters'] | null): Pick<Route, 'unsupportedParameters'> {
  return list ? { unsupportedParameters: list } : {};
}

/** The entry that a route refers to. A missing one is a fault, unless that entry itself is faulty. */
function findReferenced<T>(
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
