/** The status of one route as the API shows it. */
import type { Route } from '../../catalogue/route.js';
import type { RouteReport } from '../../health/route-status.js';
import * as s from '../openapi/schema.js';

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

const share = (description: string) => s.number(description, { minimum: 0, maximum: 1 });

const statusWindow = s.objectOrNull('Null where there were too few requests, or requests of too few accounts.', {
  availability: share('The share of attempts that the route answered.'),
  error_rate: share('The share of attempts that it did not answer, or broke off.'),
  first_byte_ms: s.object({ p50: s.numberOrNull('The median.'), p95: s.numberOrNull('The 95th percentile.') }),
  tokens_per_second: s.object({ p50: s.numberOrNull('The median.') }),
});

const incident = s.object({
  kind: s.oneOfValues(['breaker', 'hold'], '`breaker`: not tried after failures. `hold`: its quota is used up.'),
  from: s.time('When it began.'),
  to: s.timeOrNull('When it ended; null while it lasts.'),
});

export const routeStatusFields = {
  provider: s.text('The provider.'),
  locode: s.text('The region, or `global`.'),
  model: s.text('`{creator}/{model}`.'),
  windows: s.object({ '24h': statusWindow, '7d': statusWindow, '90d': statusWindow }),
  incidents: s.array(incident, 'Of the last 90 days, newest first.'),
};
