/** `GET /v1/status` and the page `/status`: how every route did, from real traffic. No key is needed. */
import type { FastifyInstance } from 'fastify';
import type { Route } from '../../catalogue/route.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { HttpDeps } from '../deps.js';
import { list, operation, record, resource, textAnswer } from '../openapi/resource.js';
import { strictPolicy } from './docs.js';
import { type RouteStatusJson, routeStatusFields, statusJson } from './status-json.js';
import { readStatusTemplate, type ShownRoute, statusPage } from './status-page.js';

const cacheControl = 'public, max-age=5';

/** Not registered where the operator has switched the status off: both paths then answer 404. */
export function registerStatus(app: FastifyInstance, deps: HttpDeps): void {
  if (!deps.statusIsPublic) return;
  app.get('/v1/status', async (_request, reply) => {
    const data = await statusList(deps);
    reply.header('cache-control', cacheControl);
    return { object: 'list', data };
  });
  const template = readStatusTemplate();
  if (template === null) deps.logger.warn({}, 'the documentation was not built; /status has no layout');
  app.get('/status', async (_request, reply) => {
    const html = statusPage(template, await shownRoutes(deps), providerNames(deps), deps.clock.now());
    reply.headers({ 'cache-control': cacheControl, 'content-security-policy': strictPolicy });
    return reply.header('content-type', 'text/html; charset=utf-8').send(html);
  });
}

async function statusList(deps: HttpDeps): Promise<RouteStatusJson[]> {
  const reportOf = await deps.routeStatus.reports();
  return offeredRoutes(deps).map((route) => statusJson(route, reportOf(route.id)));
}

async function shownRoutes(deps: HttpDeps): Promise<ShownRoute[]> {
  const [reportOf, days] = await Promise.all([deps.routeStatus.reports(), deps.routeDays.byRoute()]);
  return offeredRoutes(deps).map((route) => ({
    ...statusJson(route, reportOf(route.id)),
    isSandbox: route.provider.dialect === 'sandbox',
    days: days.get(route.id) ?? null,
  }));
}

/** The routes that this gateway offers. The others have no status here. */
function offeredRoutes({ catalogue, modelStates }: HttpDeps): Route[] {
  if (!catalogue.current) throw gatewayError('service_unavailable');
  return [...catalogue.current.routes.values()].filter(
    ({ provider, price, model }) =>
      provider.configured && price !== null && modelStates.get(model.canonicalId).state !== 'disabled',
  );
}

function providerNames({ catalogue }: HttpDeps): ReadonlyMap<string, string> {
  return new Map([...(catalogue.current?.providers.values() ?? [])].map(({ id, name }) => [id, name]));
}

export const status = resource('Status', 'How every route answered, from real requests. No key is needed.', 'open', {
  'GET /v1/status': operation('getStatus', 'Status of every route', {
    description: 'There is no such path where `status.public` is false.',
    answers: list(record('RouteStatus', routeStatusFields), 'The routes that the gateway offers.'),
  }),
  'GET /status': operation('getStatusPage', 'The status page', {
    answers: textAnswer('A page for people.', 'text/html', '^<!doctype html>'),
  }),
});
