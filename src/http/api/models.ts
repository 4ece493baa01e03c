/** `GET /v1/models` and `GET /v1/models/{id}`: what can be served right now, and only that (§4.2, contract 4.2). */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { targetModelId } from '../../accounts/aliases/alias-target.js';
import { findRoute } from '../../catalogue/lookup.js';
import { idExcerpt, parseModelId } from '../../catalogue/model-id.js';
import type { Model, Route, Snapshot } from '../../catalogue/route.js';
import type { Alias } from '../../domain/account.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { permits } from '../../territory/provider-terms.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { autoEntry, type ModelEntry, routeEntry } from './model-entries.js';

export function registerModels(app: FastifyInstance, deps: HttpDeps): void {
  app.get('/v1/models', async (request) => {
    const listing = new Listing(deps, request);
    return { object: 'list', data: [...listing.all()] };
  });
  app.get<{ Params: { '*': string } }>('/v1/models/*', async (request) =>
    new Listing(deps, request).one(request.params['*']),
  );
}

/** One request's view: one snapshot, one caller. */
class Listing {
  private readonly snapshot: Snapshot;
  private readonly created: number;

  constructor(
    private readonly deps: HttpDeps,
    private readonly request: FastifyRequest,
  ) {
    const { current } = deps.catalogue;
    if (!current) throw gatewayError('service_unavailable');
    this.snapshot = current;
    this.created = Math.floor(current.loadedAt / 1000);
  }

  *all(): Generator<ModelEntry> {
    for (const model of this.snapshot.models.values()) {
      const routes = this.servableRoutes(model);
      for (const route of routes) yield routeEntry(route, this.created);
      if (routes.length > 0) yield autoEntry(model, routes, this.created);
    }
    for (const alias of accountOf(this.request).aliases.values()) {
      const entry = this.aliasEntry(alias);
      if (entry) yield entry;
    }
  }

  /** An id that names nothing, whatever its shape, is a 404 here: the path is a resource, not a field of a request. */
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
    return this.servable(route) ? routeEntry(route, this.created) : this.notServed(text);
  }

  /** Not where its target cannot be served: the list has only ids that can (§4.2). */
  private aliasEntry(alias: Alias): ModelEntry | undefined {
    const id = `alias/${alias.name}`;
    if (alias.locode === null) return this.auto(alias.canonicalId, id);
    const route = this.snapshot.routes.get(targetModelId(alias));
    return route && this.servable(route) ? routeEntry(route, this.created, id) : undefined;
  }

  private auto(canonicalId: string, id?: string): ModelEntry | undefined {
    const model = this.snapshot.models.get(canonicalId);
    if (!model) return undefined;
    const routes = this.servableRoutes(model);
    return routes.length > 0 ? autoEntry(model, routes, this.created, id) : undefined;
  }

  private servableRoutes(model: Model): Route[] {
    return model.routes.filter((route) => this.servable(route));
  }

  /** Configured, priced, not disabled, not held (§3.2), permitted in the caller's territory (contract 4.2). */
  private servable(route: Route): boolean {
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
