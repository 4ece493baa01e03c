/** The admin API of routes, models and the catalogue: health, history, quota holds, availability and reload. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { KeyView } from '../../base/provider-key.js';
import { retiredRoutes, retiringRoutes } from '../../catalogue/retirement.js';
import type { Route } from '../../catalogue/route.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { HttpDeps } from '../deps.js';
import { statusJson } from '../ops/status-json.js';
import { actorOf } from './audit.js';
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

export const modelStateNames = ['available', 'soft_disabled', 'disabled'] as const;
export const newState = z.strictObject({
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
