/** The admin API of routes, models and the catalogue: health, history, quota holds, availability and reload. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { KeyView } from '../../base/provider-key.js';
import { keyStates } from '../../base/provider-key.js';
import { retiredRoutes, retiringRoutes } from '../../catalogue/retirement.js';
import type { Route } from '../../catalogue/route.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { HttpDeps } from '../deps.js';
import { body, component, json, list, noContent, operation, record, resource } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { routeStatusFields, statusJson } from '../ops/status-json.js';
import { actorOf, auditOperation } from './audit.js';
import { billedLinesOperation } from './billed-lines.js';
import { bodyFields, personText } from './fields.js';

type RouteName = { Params: { provider: string; creator: string; model: string; locode: string } };

export function registerRoutes(app: FastifyInstance, deps: HttpDeps): void {
  const { catalogue, modelStates, health, holds, providerKeys, audit } = deps;
  const holdJson = (routeId: string) => {
    const hold = holds.view(routeId);
    return hold && { until: new Date(hold.until).toISOString(), reason: hold.reason };
  };
  const routeJson = (route: Route) => ({
    id: route.id,
    provider: route.provider.id,
    creator: route.model.creator,
    model: route.model.model,
    locode: route.locode,
    default: route.isDefault,
    configured: route.provider.configured,
    priced: route.price !== null,
    model_state: modelStates.get(route.model.canonicalId).state,
    ...health.view(route.id),
    hold: holdJson(route.id),
    ...(route.provider.keys && { keys: (providerKeys?.viewsOf(route.provider) ?? []).map(keyJson) }),
  });

  app.get('/routes', async () => {
    if (!catalogue.current) throw gatewayError('service_unavailable');
    return { object: 'list', data: [...catalogue.current.routes.values()].map(routeJson) };
  });

  app.delete<RouteName>('/routes/:provider/:creator/:model/:locode/hold', async (request, reply) => {
    const { provider, creator, model, locode } = request.params;
    const id = `${provider}/${creator}/${model}/${locode.toLowerCase()}`;
    if (!catalogue.current) throw gatewayError('service_unavailable');
    if (!catalogue.current.routes.has(id))
      throw gatewayError('resource_not_found', { what: 'route', id: id.slice(0, 200) });
    if (!(await holds.lift(id))) throw gatewayError('resource_not_found', { what: 'hold on the route', id });
    await audit.record(actorOf(request), 'hold.lift', id);
    return reply.code(204).send();
  });
}

function keyJson({ name, weight, models, state, held, running, calls }: KeyView) {
  const until = held === null ? null : new Date(held.until).toISOString();
  return { name, weight, models, state, until, reason: held?.reason ?? null, running, calls };
}

const modelStateNames = ['available', 'soft_disabled', 'disabled'] as const;
const newState = z.strictObject({
  state: z
    .enum(modelStateNames, `must be one of ${modelStateNames.join(', ')}`)
    .describe('`soft_disabled` answers 503 `model_unavailable` with the reason, `disabled` 404 `model_not_found`.'),
  reason: personText(500).nullish(),
});

/** A model is available, soft-disabled (503 with a reason) or disabled (404). */
export function registerModelAvailability(app: FastifyInstance, { catalogue, modelStates, audit }: HttpDeps): void {
  app.put<{ Params: { creator: string; model: string } }>('/models/:creator/:model/availability', async (request) => {
    const { state, reason = null } = bodyFields(request, newState);
    const canonicalId = `${request.params.creator}/${request.params.model}`;
    if (!catalogue.current) throw gatewayError('service_unavailable');
    if (!catalogue.current.models.has(canonicalId)) {
      throw gatewayError('resource_not_found', { what: 'model', id: canonicalId.slice(0, 200) });
    }
    await modelStates.set(canonicalId, { state, reason });
    await audit.record(actorOf(request), 'model.availability', canonicalId, { state, reason });
    return { object: 'model_availability', id: canonicalId, state, reason };
  });
}

/** Reloads all of the catalogue, or nothing and answers with every fault. */
export function registerCatalogue(app: FastifyInstance, { catalogue, audit, store, clock }: HttpDeps): void {
  app.post('/catalogue/reload', async (request) => {
    const outcome = await catalogue.reload();
    if (!outcome.ok) throw gatewayError('catalogue_invalid', { faults: outcome.faults.join('\n') });
    const { models, routes, providers, sandbox } = outcome;
    await audit.record(actorOf(request), 'catalogue.reload', 'catalogue', { models, routes, providers });
    return { models, routes, providers, sandbox };
  });

  app.get('/catalogue/retirements', async () => {
    const nowMs = clock.now();
    const ending = [...retiredRoutes(catalogue.current), ...retiringRoutes(catalogue.current, nowMs)];
    const names = await store.notices.namesOf(ending);
    const data = ending.map(({ route, model, date, replacedBy }) => ({
      ...{ route, model, date, replaced_by: replacedBy, retired: Date.parse(date) <= nowMs },
      names: names.flatMap(({ accountId, name, routes }) =>
        routes.includes(route) ? [{ account_id: accountId, name }] : [],
      ),
    }));
    return { object: 'list', data };
  });
}

/** How every route did over a day, a week and a quarter. Operators see every figure, however few requests there were. */
export function registerRouteHistory(app: FastifyInstance, { catalogue, routeStatus }: HttpDeps): void {
  app.get('/routes/history', async () => {
    if (!catalogue.current) throw gatewayError('service_unavailable');
    const reportOf = await routeStatus.operatorReports();
    const data = [...catalogue.current.routes.values()].map((route) => ({
      id: route.id,
      ...statusJson(route, reportOf(route.id)),
    }));
    return { object: 'list', data };
  });
}

const shownRoute = record('Route', {
  id: s.text('The four-segment id.'),
  provider: s.text('The provider.'),
  creator: s.text('The creator.'),
  model: s.text('The model.'),
  locode: s.text('The region.'),
  default: s.boolean('The provider’s default region for the model.'),
  configured: s.boolean('The provider has its credentials.'),
  priced: s.boolean('A price is published.'),
  model_state: s.oneOfValues(modelStateNames, 'The model’s availability.'),
  breaker: s.oneOfValues(['closed', 'open', 'half_open'], 'The route’s circuit breaker.'),
  hold: s.objectOrNull('A quota hold; null where there is none.', {
    until: s.time('Midnight UTC, or when the first of several keys may be used again.'),
    reason: s.optional(s.text('What spent the quota.')),
  }),
  latency_ms: s.numberOrNull('Smoothed time to the first byte of recent answers.'),
  error_rate: s.numberOrNull('Share of recent attempts that failed.'),
  keys: s.optional(
    s.objectsOf(
      'The keys for the route, where the provider has `keys` in the configuration. Each process has its own figures.',
      {
        name: s.text('Its name in the configuration.'),
        weight: s.number('Its share beside the other keys.'),
        models: s.orNull(
          s.array(s.text('`{creator}/{model}` or `{creator}/*`.'), 'What it is for; null is everything.'),
        ),
        state: s.oneOfValues(keyStates, '`refused` lasts until the catalogue is reloaded.'),
        until: s.timeOrNull('When it may be used again; null where it is not held.'),
        reason: s.textOrNull('`limited` by a rate limit or for lack of credit, or `spent` by a daily quota.'),
        running: s.integer('Requests of this process that run with it.'),
        calls: s.integer('Calls of this process with it.'),
      },
    ),
  ),
});

const counts = { models: s.integer('Models.'), routes: s.integer('Routes.'), providers: s.integer('Providers.') };
const catalogueCounts = record('CatalogueCounts', {
  ...counts,
  sandbox: s.objectOf('Those of the built-in sandbox, which are in the figures above too.', counts),
});

const availability = record('ModelAvailability', {
  object: { const: 'model_availability' },
  id: s.text('`{creator}/{model}`.'),
  state: s.oneOfValues(modelStateNames, 'The state.'),
  reason: s.textOrNull('What callers are told.'),
});

const retirement = record('RouteRetirement', {
  route: s.text('The four-segment id.'),
  model: s.text('`creator/model`.'),
  date: s.text('From this day on, 00:00 UTC, it is not served.', { format: 'date' }),
  replaced_by: s.textOrNull('The model to change to; null where none is known.'),
  retired: s.boolean('The day has come.'),
  names: s.objectsOf('What leads to the route in the settings of accounts.', {
    account_id: s.text('Whose name it is.'),
    name: s.text('`alias/{name}`, or an entry of the fallback chain.'),
  }),
});

const about = 'For operators: the health of routes, the catalogue, and who changed what.';
const holdPath = '/admin/v1/routes/{provider}/{creator}/{model}/{locode}/hold';
const availabilityPath = '/admin/v1/models/{creator}/{model}/availability';

export const adminRoutes = resource('Routes', about, 'admin', {
  'GET /admin/v1/billed-lines': billedLinesOperation,
  'GET /admin/v1/routes': operation('listRoutes', 'List routes with their health', { answers: list(shownRoute) }),
  'GET /admin/v1/routes/history': operation('listRouteHistory', 'List routes with their history', {
    description: 'The figures of `GET /v1/status` for every route of the catalogue, however few requests there were.',
    answers: list(record('RouteHistory', { id: s.text('The four-segment id.'), ...routeStatusFields })),
  }),
  [`PUT ${availabilityPath}`]: operation('setModelAvailability', 'Disable or enable a model', {
    body: body(component('NewAvailability', newState), {
      soft: ['Out for now', { state: 'soft_disabled', reason: 'Maintenance until 18:00 UTC' }],
      available: ['Back', { state: 'available' }],
    }),
    answers: json('The state.', availability),
  }),
  [`DELETE ${holdPath}`]: operation('liftHold', 'Lift a quota hold', { answers: noContent }),
  'POST /admin/v1/catalogue/reload': operation('reloadCatalogue', 'Reload the catalogue', {
    description: 'Takes changed catalogue files and provider settings into use: all of them, or none.',
    answers: json('What is in use now.', catalogueCounts),
  }),
  'GET /admin/v1/catalogue/retirements': operation('listRetirements', 'List routes that retire', {
    description:
      'Routes that retire within 60 days or are retired, and what leads to them in the settings of accounts.',
    answers: list(retirement, 'The routes.'),
  }),
  'GET /admin/v1/audit': auditOperation,
});
