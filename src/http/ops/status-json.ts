/** The status of one route as the API shows it. */
import type { Route } from '../../catalogue/route.js';
import type { RouteReport } from '../../health/route-status.js';

export type RouteStatusJson = ReturnType<typeof statusJson>;

export function statusJson({ provider, locode, model }: Route, { windows, incidents }: RouteReport) {
  return {
    provider: provider.id,
    locode,
    model: model.canonicalId,
    windows,
    incidents: incidents.map(({ kind, fromMs, toMs }) => ({
      kind,
      from: new Date(fromMs).toISOString(),
      to: toMs === null ? null : new Date(toMs).toISOString(),
    })),
  };
}
