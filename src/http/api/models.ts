/** `GET /v1/models` and `GET /v1/models/{id}`: the ids that can be served now, and no others. */

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { targetModelId } from '../../accounts/aliases/alias-target.js';
import { findModel, findRoute, routeOf } from '../../catalogue/lookup.js';
import { idExcerpt, parseModelId } from '../../catalogue/model-id.js';
import type { ModelName } from '../../catalogue/model-name.js';
import { type Model, type ModelKind, modelKinds, type Route, type Snapshot } from '../../catalogue/route.js';
import { shortIdOf } from '../../catalogue/short-id.js';
import type { Alias } from '../../domain/account.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { termsPermit } from '../../territory/territories.js';
import { accountOf, callerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { json, list, operation, resource } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { queryChoice } from '../query.js';
import { autoEntry, type ModelEntry, routeEntry, shownModel } from './model-entry.js';

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

export const models = resource('Models', 'The ids that can be served now.', 'key', {
  'GET /v1/models': operation('listModels', 'List models', {
    description:
      'Every servable route as a four-segment id, one `auto/` id for each model, and the account’s aliases. Servable means: configured, priced, not held, not disabled, permitted in your territory.',
    parameters: [s.query('kind', 'Only models of this kind.', { type: 'string', enum: [...modelKinds] })],
    answers: list(shownModel),
  }),
  'GET /v1/models/{id}': operation('getModel', 'Get a model', { answers: json('The model.', shownModel) }),
});
