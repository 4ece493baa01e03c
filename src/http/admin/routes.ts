/** Every route of the catalogue with its health, and the lifting of quota holds (contract 7). */
import type { FastifyInstance } from 'fastify';
import type { Route } from '../../catalogue/route.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { HttpDeps } from '../deps.js';
import { actorOf } from './actor.js';

type RouteName = { Params: { provider: string; creator: string; model: string; locode: string } };

export function registerRoutes(app: FastifyInstance, deps: HttpDeps): void {
  const { catalogue, modelStates, health, holds, audit } = deps;
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
