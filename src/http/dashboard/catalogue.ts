/** `GET catalogue`: every model and route with price, region, carbon and jurisdiction, and why a route is not served now. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { secretKindOf } from '../../accounts/credentials/secret-kind.js';
import type { Life } from '../../catalogue/life.js';
import { priceProvenance } from '../../catalogue/price.js';
import type { Model, Route } from '../../catalogue/route.js';
import { isServedBy } from '../../domain/credential.js';
import { doorNamed, doors } from '../../doors/registry.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { termsPermit } from '../../territory/territories.js';
import { aliasJson } from '../api/aliases.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { priceJson } from './price-json.js';

/** One door for each API: counting tokens and compacting are none that one talks to. */
export const playgroundDoors = doors.filter((door) => doorNamed(door.name) === door);

type WhyNot = 'disabled' | 'soft_disabled' | 'unconfigured' | 'unpriced' | 'held' | 'territory';

export function registerCatalogueView(app: FastifyInstance, deps: HttpDeps): void {
  app.get('/catalogue', async (request) => {
    const snapshot = deps.catalogue.current;
    if (!snapshot) throw gatewayError('service_unavailable');
    return {
      object: 'list',
      loaded_at: new Date(snapshot.loadedAt).toISOString(),
      // A model whose routes are all retired is no part of it.
      data: [...snapshot.models.values()]
        .filter(({ routes }) => routes.length > 0)
        .map((model) => modelJson(deps, request, model)),
      providers: [...snapshot.providers.values()].map((provider) => ({
        ...{ id: provider.id, name: provider.name, headquarters: provider.headquarters },
        ...{ configured: provider.configured, cloud_act: provider.cloudAct, secret: secretKindOf(provider) },
      })),
      regions: [...snapshot.regions.values()].map(({ locode, city, country, lat, lon, carbon }) => ({
        ...{ locode, city, country, lat, lon, carbon },
      })),
      aliases: [...accountOf(request).aliases.values()].map(aliasJson),
      names: [...deps.names.all()].map(({ name, target }) => ({ name, model_id: target })),
      doors: playgroundDoors.map(({ name, path, kind }) => ({ name, path, kind })),
    };
  });
}

function modelJson(deps: HttpDeps, request: FastifyRequest, model: Model) {
  const routes = model.routes.map((route) => routeJson(deps, request, route));
  const { state, reason } = deps.modelStates.get(model.canonicalId);
  return {
    id: model.canonicalId,
    auto_id: `auto/${model.canonicalId}`,
    creator: model.creator,
    model: model.model,
    name: model.name,
    kind: model.kind ?? 'chat',
    dimensions: model.dimensions ?? null,
    context_window: model.contextWindow,
    max_output_tokens: model.maxOutputTokens,
    state,
    reason,
    servable: routes.some(({ servable }) => servable),
    routes,
  };
}

function routeJson(deps: HttpDeps, request: FastifyRequest, route: Route) {
  const reason = whyNot(deps, request, route);
  const hold = deps.holds.view(route.id);
  return {
    id: route.id,
    provider: route.provider.id,
    locode: route.locode,
    country: route.country,
    default: route.isDefault,
    price: route.price && priceJson(route.price, deps.clock.now(), priceProvenance(route)),
    carbon: route.carbon,
    data_policy: route.dataPolicy ?? null,
    quantization: route.quantization ?? null,
    processing: route.processing ?? null,
    ...lifeJson(route.life),
    context_window: route.contextWindow,
    max_output_tokens: route.maxOutputTokens,
    capabilities: [...route.capabilities],
    servable: reason === null,
    why_not: reason,
    held_until: hold && new Date(hold.until).toISOString(),
  };
}

function lifeJson({ released, deprecated, retires }: Life = {}) {
  return {
    ...{ released: released ?? null, deprecated: deprecated ?? null },
    retires: retires ? { date: retires.date, replaced_by: retires.replacedBy } : null,
  };
}

/** The first obstacle, in the order in which a request would meet them; null = servable. */
export function whyNot(deps: HttpDeps, request: FastifyRequest, route: Route): WhyNot | null {
  const { state } = deps.modelStates.get(route.model.canonicalId);
  if (state !== 'available') return state;
  const isOwn = isServedBy(accountOf(request).credentials, route);
  if (!route.provider.configured && !isOwn) return 'unconfigured';
  if (route.price === null) return 'unpriced';
  if (deps.holds.isHeld(route.id) && !isOwn) return 'held';
  return termsPermit(route.provider, request.origin.territory) ? null : 'territory';
}
