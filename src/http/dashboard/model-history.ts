/** `GET models/{creator}/{model}/history`: how the routes of a model did, and what changed about it, its providers and its regions. */
import type { FastifyInstance } from 'fastify';
import { gatewayError } from '../../errors/gateway-error.js';
import { changeJson } from '../api/catalogue-changes.js';
import type { HttpDeps } from '../deps.js';
import { statusJson } from '../ops/status-json.js';

const changesShown = 20;

export function registerModelHistory(app: FastifyInstance, { catalogue, routeStatus, store }: HttpDeps): void {
  app.get<{ Params: { creator: string; model: string } }>('/models/:creator/:model/history', async (request) => {
    const { creator, model: name } = request.params;
    if (!catalogue.current) throw gatewayError('service_unavailable');
    const model = catalogue.current.models.get(`${creator}/${name}`);
    if (!model) throw gatewayError('resource_not_found', { what: 'model', id: `${creator}/${name}`.slice(0, 200) });
    const related = {
      providers: [...new Set(model.routes.map(({ provider }) => provider.id))],
      locodes: [...new Set(model.routes.map(({ locode }) => locode))],
    };
    const [reportOf, changes] = await Promise.all([
      routeStatus.reports(),
      store.catalogueLog.changes({ limit: changesShown, offset: 0, model: model.canonicalId, related }),
    ]);
    return {
      object: 'model_history',
      model: model.canonicalId,
      routes: model.routes.map((route) => ({ id: route.id, ...statusJson(route, reportOf(route.id)) })),
      changes: changes.data.map(changeJson),
      has_more_changes: changes.hasMore,
    };
  });
}
