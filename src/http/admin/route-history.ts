/** `GET routes/history`: how every route did over a day, a week and a quarter. Operators see every figure, however few requests there were. */
import type { FastifyInstance } from 'fastify';
import { gatewayError } from '../../errors/gateway-error.js';
import type { HttpDeps } from '../deps.js';
import { statusJson } from '../ops/status-json.js';

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
