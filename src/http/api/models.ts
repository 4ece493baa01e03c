/** `GET /v1/models` and `GET /v1/models/{id}`: the ids that can be served now, and no others. */

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { targetModelId } from '../../accounts/aliases/alias-target.js';
import type { DataPolicyInForce, Quantization } from '../../base/data-policy.js';
import { isOld } from '../../catalogue/dates.js';
import { findModel, findRoute, routeOf } from '../../catalogue/lookup.js';
import { idExcerpt, parseModelId } from '../../catalogue/model-id.js';
import type { ModelName } from '../../catalogue/model-name.js';
import { priceAt, priceProvenance } from '../../catalogue/price.js';
import { type Model, type ModelKind, modelKinds, type Route, type Snapshot } from '../../catalogue/route.js';
import { shortIdOf } from '../../catalogue/short-id.js';
import type { Alias } from '../../domain/account.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { termsPermit } from '../../territory/territory.js';
import { accountOf, callerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { queryChoice } from '../query.js';
import { commonValue, type Pricing, pricingOf } from './model-pricing.js';
import { type Architecture, architectureOf, supportedParameters } from './model-traits.js';

export function registerModels(app: FastifyInstance, deps: HttpDeps): void {
  app.get('/v1/models', async (request) => {
    const kind = kindIn(request);
    const entries = listModels(deps, request);
    return { object: 'list', data: kind === undefined ? entries : entries.filter((entry) => entry.kind === kind) };
  });
  app.get<{ Params: { '*': string } }>('/v1/models/*', async (request) =>
    new Listing(deps, request).one(request.params['*']),
  );
}

/** Every entry of the list. */
export function listModels(deps: HttpDeps, request: FastifyRequest): ModelEntry[] {
  return [...new Listing(deps, request).all()];
}

/** The filter `?kind=`. */
function kindIn(request: FastifyRequest): ModelKind | undefined {
  return queryChoice(request, 'kind', modelKinds);
}

/** The models as one client sees them in one snapshot. */
class Listing {
  private readonly snapshot: Snapshot;
  /** When it is listed: a price may depend on it. */
  private readonly atMs: number;

  constructor(
    private readonly deps: HttpDeps,
    private readonly request: FastifyRequest,
  ) {
    const { current } = deps.catalogue;
    if (!current) throw gatewayError('service_unavailable');
    this.snapshot = current;
    this.atMs = deps.clock.now();
  }

  *all(): Generator<ModelEntry> {
    for (const model of this.snapshot.models.values()) {
      const routes = this.servableRoutes(model);
      for (const route of routes) yield routeEntry(route, this.atMs);
      if (routes.length > 0) yield autoEntry(model, routes, this.atMs);
    }
    for (const alias of accountOf(this.request).aliases.values()) {
      const entry = this.aliasEntry(alias);
      if (entry) yield entry;
    }
    for (const name of this.deps.names.all()) {
      const entry = this.namedEntry(name);
      if (entry) yield entry;
    }
  }

  /** An unknown id of any shape is a 404, because the id is a path and not a field of a request. */
  one(text: string): ModelEntry {
    const name = this.deps.names.get(text);
    if (name) return this.namedEntry(name) ?? this.notServed(text, this.routesOf(name.target));
    const id = parseModelId(text);
    if (id.kind === 'alias') {
      const alias = accountOf(this.request).aliases.get(id.name);
      if (!alias) throw gatewayError('alias_not_found', { name: idExcerpt(id.name), param: 'model' });
      return this.aliasEntry(alias) ?? this.notServed(text, this.routesOf(targetModelId(alias)));
    }
    if (id.kind === 'auto') {
      const { canonicalId, routes } = findModel(this.snapshot, id.creator, id.model);
      return this.auto(canonicalId) ?? this.notServed(text, routes);
    }
    if (id.kind === 'invalid') {
      const short = shortIdOf(this.snapshot, text);
      if (!short) throw notOffered(text, `the id ${id.reason}`);
      const { canonicalId, routes } = findModel(this.snapshot, short.creator, short.model);
      return this.auto(canonicalId, text) ?? this.notServed(text, routes);
    }
    const route = findRoute(this.snapshot, id);
    const servable = this.servable(route);
    return servable ? routeEntry(servable, this.atMs) : this.notServed(text, [route]);
  }

  /** The routes of a pin or an `auto/` id. */
  private routesOf(id: string): readonly Route[] {
    const target = parseModelId(id);
    if (target.kind === 'auto') return findModel(this.snapshot, target.creator, target.model).routes;
    return target.kind === 'explicit' ? [findRoute(this.snapshot, target)] : [];
  }

  /** The entry of the target under the name; undefined where the target cannot be served. */
  private namedEntry({ name, target }: ModelName): ModelEntry | undefined {
    const id = parseModelId(target);
    if (id.kind === 'auto') {
      const canonicalId = `${id.creator}/${id.model}`;
      const entry = this.auto(canonicalId, name);
      return entry && { ...entry, name_of: `auto/${canonicalId}` };
    }
    if (id.kind !== 'explicit') return undefined;
    const known = routeOf(this.snapshot, id);
    const route = known && this.servable(known);
    if (!route) return undefined;
    return { ...routeEntry(route, this.atMs), id: name, name_of: route.id };
  }

  /** undefined where the target of the alias cannot be served. */
  private aliasEntry(alias: Alias): ModelEntry | undefined {
    const id = `alias/${alias.name}`;
    if (alias.locode === null) return this.auto(alias.canonicalId, id);
    const known = this.snapshot.routes.get(targetModelId(alias));
    const route = known && this.servable(known);
    return route ? routeEntry(route, this.atMs, id) : undefined;
  }

  private auto(canonicalId: string, id?: string): ModelEntry | undefined {
    const model = this.snapshot.models.get(canonicalId);
    if (!model) return undefined;
    const routes = this.servableRoutes(model);
    return routes.length > 0 ? autoEntry(model, routes, this.atMs, id) : undefined;
  }

  private servableRoutes(model: Model): Route[] {
    const ids = new Set<string>();
    return this.candidatesOf(model.routes).filter(
      (route) => !ids.has(route.id) && this.obstacleOf(route) === null && ids.add(route.id),
    );
  }

  /** The first candidate of a route that can be served. */
  private servable(route: Route): Route | undefined {
    return this.candidatesOf([route]).find((each) => this.obstacleOf(each) === null);
  }

  /** With the credentials of the account or project that asks. */
  private candidatesOf(routes: readonly Route[]): readonly Route[] {
    const identity = callerOf(this.request);
    if (identity.account.credentials.length === 0) return routes;
    return this.deps.credentials.candidatesOf(identity, routes);
  }

  /** Why a route cannot be served; null where it can. */
  private obstacleOf({ id, provider, price, model, credential }: Route): string | null {
    const { modelStates, holds } = this.deps;
    if (!provider.configured) return `the provider ${provider.id} is not configured`;
    if (price === null) return 'its price is not published';
    if (modelStates.get(model.canonicalId).state !== 'available') return 'the operator has disabled the model';
    if (credential === undefined && holds.isHeld(id)) return 'its quota is used up for today';
    return termsPermit(provider, this.request.origin.territory)
      ? null
      : `the provider ${provider.id} does not serve your territory`;
  }

  /** `routes` are those that the id could mean. */
  private notServed(id: string, routes: readonly Route[]): never {
    const reasons = new Set(
      this.candidatesOf(routes)
        .map((route) => this.obstacleOf(route))
        .filter((reason) => reason !== null),
    );
    const [first = 'the catalogue has no route for it'] = reasons;
    throw notOffered(id, reasons.size > 1 ? 'each of its routes is unconfigured, unpriced, disabled or held' : first);
  }
}

function notOffered(id: string, reason: string): GatewayError {
  return gatewayError('model_not_offered', { id: idExcerpt(id), reason });
}

/** OpenAI's model object with what the catalogue knows about a route. */
interface ModelEntry {
  id: string;
  object: 'model';
  /** What a name of the operator stands for; only on names. */
  name_of?: string;
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
  /** The date of the figures, as the catalogue has it; null where it does not say, and where routes differ. */
  as_of: string | null;
  /** That date is more than 90 days ago. */
  stale: boolean;
  /** It is an offer without a known end: it holds until the catalogue says otherwise. */
  pricing_until_changed: boolean;
  provider: string;
  locode: string | null;
  country: string | null;
  carbon: number | null;
  cloud_act: boolean | null;
  /** null where nothing is known, and where the id leaves the choice to the gateway or is an alias. */
  data_policy: DataPolicyInForce | null;
  quantization: Quantization | null;
  supported_parameters: string[];
  /** Days of the model's life; null where the catalogue does not say, and on an `auto/` id where routes differ. */
  released: string | null;
  deprecated: string | null;
  /** The day from which it is not served any more. An `auto/` id retires with the last of its routes. */
  retires: { date: string; replaced_by: string | null } | null;
}

/** The smallest known value, which every route offers. */
function smallest(routes: readonly Route[], read: (route: Route) => number | null): number | null {
  const known = routes.map(read).filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** For models whose entry in the catalogue has no date: 2025-01-01. */
const createdOtherwise = 1_735_689_600;

/** The date of the model's entry, in seconds, so that it stays the same in every process and after every reload. */
function createdOf({ provenance }: Model): number {
  const ms = Date.parse(provenance?.asOf ?? '');
  return Number.isNaN(ms) ? createdOtherwise : ms / 1000;
}

function entry(
  id: string,
  model: Model,
  routes: readonly Route[],
  atMs: number,
): Omit<ModelEntry, 'provider' | 'locode'> {
  const asOf = commonValue(routes, (route) => priceProvenance(route).asOf);
  return {
    id,
    object: 'model',
    created: createdOf(model),
    owned_by: model.creator,
    name: model.name,
    kind: model.kind ?? 'chat',
    architecture: architectureOf(model, routes),
    ...(model.dimensions !== undefined && { dimensions: model.dimensions }),
    // The window of a model that writes nothing is what it reads.
    context_length: smallest(routes, ({ contextWindow }) => contextWindow ?? model.maxInputTokens ?? null),
    max_output_tokens: smallest(routes, ({ maxOutputTokens }) => maxOutputTokens),
    pricing: pricingOf(routes, atMs),
    as_of: asOf,
    stale: isOld(asOf, atMs),
    pricing_until_changed: routes.some(({ price }) => price !== null && priceAt(price, atMs).offer !== undefined),
    country: commonValue(routes, (route) => route.country),
    carbon: commonValue(routes, (route) => route.carbon),
    cloud_act: commonValue(routes, (route) => route.provider.cloudAct),
    data_policy: null,
    quantization: null,
    supported_parameters: supportedParameters(model, routes),
    ...lifeOf(routes),
  };
}

function lifeOf(routes: readonly Route[]): Pick<ModelEntry, 'released' | 'deprecated' | 'retires'> {
  const ends = routes.flatMap(({ life }) => life?.retires ?? []).sort((a, b) => b.atMs - a.atMs);
  const [last] = ends.length === routes.length ? ends : [];
  return {
    released: commonValue(routes, ({ life }) => life?.released ?? null),
    deprecated: commonValue(routes, ({ life }) => life?.deprecated ?? null),
    retires: last ? { date: last.date, replaced_by: last.replacedBy } : null,
  };
}

function routeEntry(route: Route, atMs: number, id = route.id): ModelEntry {
  const { provider, locode, dataPolicy = null, quantization = null } = route;
  const facts = id === route.id ? { data_policy: dataPolicy, quantization } : {};
  return { ...entry(id, route.model, [route], atMs), provider: provider.id, locode, ...facts };
}

/** `routes` are the servable routes, from which the walk chooses. */
function autoEntry(model: Model, routes: readonly Route[], atMs: number, id = `auto/${model.canonicalId}`): ModelEntry {
  return { ...entry(id, model, routes, atMs), provider: 'auto', locode: null };
}
