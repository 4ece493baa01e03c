/** `GET /v1/models` and `GET /v1/models/{id}`: the ids that can be served now, and no others. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { targetModelId } from '../../accounts/aliases/alias-target.js';
import type { DataPolicyInForce, Quantization } from '../../base/data-policy.js';
import { usdText } from '../../base/money.js';
import { findRoute } from '../../catalogue/lookup.js';
import { idExcerpt, parseModelId } from '../../catalogue/model-id.js';
import { type ClassPrices, priceAt, ratesFor } from '../../catalogue/price.js';
import { type Model, type ModelKind, modelKinds, type Route, type Snapshot } from '../../catalogue/route.js';
import type { Alias } from '../../domain/account.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { permits } from '../../territory/provider-terms.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { queryText } from '../query.js';
import { type Architecture, architectureOf, supportedParameters } from './model-traits.js';

export function registerModels(app: FastifyInstance, deps: HttpDeps): void {
  app.get('/v1/models', async (request) => {
    const kind = kindIn(request);
    const entries = [...new Listing(deps, request).all()];
    return { object: 'list', data: kind === undefined ? entries : entries.filter((entry) => entry.kind === kind) };
  });
  app.get<{ Params: { '*': string } }>('/v1/models/*', async (request) =>
    new Listing(deps, request).one(request.params['*']),
  );
}

/** The filter `?kind=`. */
function kindIn(request: FastifyRequest): ModelKind | undefined {
  const text = queryText(request, 'kind');
  const kind = modelKinds.find((known) => known === text);
  if (text === undefined || kind !== undefined) return kind;
  const kinds = modelKinds.map((known) => `"${known}"`).join(', ');
  throw gatewayError('field_invalid', { param: 'kind', reason: `must be one of ${kinds}` });
}

/** The models as one client sees them in one snapshot. */
class Listing {
  private readonly snapshot: Snapshot;
  private readonly listed: Listed;

  constructor(
    private readonly deps: HttpDeps,
    private readonly request: FastifyRequest,
  ) {
    const { current } = deps.catalogue;
    if (!current) throw gatewayError('service_unavailable');
    this.snapshot = current;
    this.listed = { created: Math.floor(current.loadedAt / 1000), atMs: deps.clock.now() };
  }

  *all(): Generator<ModelEntry> {
    for (const model of this.snapshot.models.values()) {
      const routes = this.servableRoutes(model);
      for (const route of routes) yield routeEntry(route, this.listed);
      if (routes.length > 0) yield autoEntry(model, routes, this.listed);
    }
    for (const alias of accountOf(this.request).aliases.values()) {
      const entry = this.aliasEntry(alias);
      if (entry) yield entry;
    }
  }

  /** An unknown id of any shape is a 404, because the id is a path and not a field of a request. */
  one(text: string): ModelEntry {
    const id = parseModelId(text);
    if (id.kind === 'alias') {
      const alias = accountOf(this.request).aliases.get(id.name);
      if (!alias) throw gatewayError('alias_not_found', { name: idExcerpt(id.name), param: 'model' });
      return this.aliasEntry(alias) ?? this.notServed(text);
    }
    if (id.kind === 'auto') return this.auto(`${id.creator}/${id.model}`) ?? this.notServed(text);
    if (id.kind === 'invalid') throw notOffered(text, `the id ${id.reason}`);
    const route = findRoute(this.snapshot, id);
    return this.isServable(route) ? routeEntry(route, this.listed) : this.notServed(text);
  }

  /** undefined where the target of the alias cannot be served. */
  private aliasEntry(alias: Alias): ModelEntry | undefined {
    const id = `alias/${alias.name}`;
    if (alias.locode === null) return this.auto(alias.canonicalId, id);
    const route = this.snapshot.routes.get(targetModelId(alias));
    return route && this.isServable(route) ? routeEntry(route, this.listed, id) : undefined;
  }

  private auto(canonicalId: string, id?: string): ModelEntry | undefined {
    const model = this.snapshot.models.get(canonicalId);
    if (!model) return undefined;
    const routes = this.servableRoutes(model);
    return routes.length > 0 ? autoEntry(model, routes, this.listed, id) : undefined;
  }

  private servableRoutes(model: Model): Route[] {
    return model.routes.filter((route) => this.isServable(route));
  }

  /** Configured, priced, not disabled, not held, and permitted in the client's territory. */
  private isServable(route: Route): boolean {
    const { modelStates, holds } = this.deps;
    return (
      route.provider.configured &&
      route.price !== null &&
      modelStates.get(route.model.canonicalId).state === 'available' &&
      !holds.isHeld(route.id) &&
      permits(route.provider, this.request.origin.territory)
    );
  }

  private notServed(id: string): never {
    throw notOffered(id, 'it cannot be served at the moment');
  }
}

function notOffered(id: string, reason: string): GatewayError {
  return gatewayError('model_not_offered', { id: idExcerpt(id), reason });
}

/** OpenAI's model object with what the catalogue knows about a route. */
interface ModelEntry {
  id: string;
  object: 'model';
  created: number;
  owned_by: string;
  name: string;
  kind: ModelKind;
  architecture: Architecture;
  /** Only of embedding models that publish it. */
  dimensions?: number;
  context_length: number | null;
  max_output_tokens: number | null;
  pricing: Pricing;
  provider: string;
  locode: string | null;
  country: string | null;
  carbon: number | null;
  cloud_act: boolean | null;
  /** null where nothing is known, and where the id leaves the choice to the gateway or is an alias. */
  data_policy: DataPolicyInForce | null;
  quantization: Quantization | null;
  supported_parameters: string[];
}

/** The value that all routes have in common; null where they differ, because the walk decides which one serves. */
function commonValue<T>(routes: readonly Route[], read: (route: Route) => T | null): T | null {
  const [first, ...rest] = routes.map(read);
  return first !== undefined && rest.every((value) => value === first) ? first : null;
}

/** The smallest known value, which every route offers. */
function smallest(routes: readonly Route[], read: (route: Route) => number | null): number | null {
  const known = routes.map(read).filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** USD a token, for `request` and `web_search` a use, as decimal text; null where unpublished, or where routes differ. */
type Pricing = Record<keyof typeof pricedClasses | 'web_search', string | null>;

/** The classes under OpenRouter's names. */
const pricedClasses = {
  prompt: 'input',
  completion: 'output',
  input_cache_read: 'cachedInput',
  input_cache_write: 'cacheWrite',
  input_cache_write_1h: 'cacheWrite1h',
  request: 'request',
  image: 'inputImage',
  audio: 'inputAudio',
  internal_reasoning: 'reasoning',
} as const satisfies Record<string, keyof ClassPrices>;

/** The prices of a short prompt now, at the ordinary tier. */
function pricingOf(routes: readonly Route[], atMs: number): Pricing {
  const priceText = (read: (route: Route) => bigint | null | undefined) => {
    const pico = commonValue(routes, (route) => read(route) ?? null);
    return pico === null ? null : usdText(pico);
  };
  const pricing: Record<string, string | null> = {};
  for (const [name, key] of Object.entries(pricedClasses)) {
    pricing[name] = priceText(({ price }) => price && ratesFor(price, atMs, null, 0)[key]);
  }
  pricing.web_search = priceText(({ price }) => price && priceAt(price, atMs).tools?.get('web_search'));
  return pricing as Pricing;
}

interface Listed {
  readonly created: number;
  /** When it is listed: a price may depend on it. */
  readonly atMs: number;
}

function entry(
  id: string,
  model: Model,
  routes: readonly Route[],
  { created, atMs }: Listed,
): Omit<ModelEntry, 'provider' | 'locode'> {
  return {
    id,
    object: 'model',
    created,
    owned_by: model.creator,
    name: model.name,
    kind: model.kind ?? 'chat',
    architecture: architectureOf(model, routes),
    ...(model.dimensions !== undefined && { dimensions: model.dimensions }),
    // The window of a model that writes nothing is what it reads.
    context_length: smallest(routes, ({ contextWindow }) => contextWindow ?? model.maxInputTokens ?? null),
    max_output_tokens: smallest(routes, ({ maxOutputTokens }) => maxOutputTokens),
    pricing: pricingOf(routes, atMs),
    country: commonValue(routes, (route) => route.country),
    carbon: commonValue(routes, (route) => route.carbon),
    cloud_act: commonValue(routes, (route) => route.provider.cloudAct),
    data_policy: null,
    quantization: null,
    supported_parameters: supportedParameters(model, routes),
  };
}

function routeEntry(route: Route, listed: Listed, id = route.id): ModelEntry {
  const { provider, locode, dataPolicy = null, quantization = null } = route;
  const facts = id === route.id ? { data_policy: dataPolicy, quantization } : {};
  return { ...entry(id, route.model, [route], listed), provider: provider.id, locode, ...facts };
}

/** `routes` are the servable routes, from which the walk chooses. */
function autoEntry(
  model: Model,
  routes: readonly Route[],
  listed: Listed,
  id = `auto/${model.canonicalId}`,
): ModelEntry {
  return { ...entry(id, model, routes, listed), provider: 'auto', locode: null };
}
