/**
 * Protects the dashboard's API against cross-site requests. Three checks, each of which another site cannot pass: a custom header, which
 * a form cannot send and a script of another origin may not send (there is no CORS here); `sec-fetch-site`, which the browser sets; and
 * the origin, compared with the configuration and never with `Host`.
 */
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { gatewayError } from '../../errors/gateway-error.js';
import type { DashboardDeps } from './dashboard-deps.js';

const dashboardHeader = 'x-lodestone-dashboard';

const readingMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

export function isReading(request: FastifyRequest): boolean {
  return readingMethods.has(request.method);
}

/** Calls that only read change nothing, and other origins cannot read their answers. */
export function checkSameOrigin(request: FastifyRequest, { configured }: Pick<DashboardDeps, 'configured'>): void {
  if (isReading(request)) return;
  const { headers } = request;
  if (headers[dashboardHeader] === undefined) throw csrfRefusal(`the header ${dashboardHeader} is missing`);
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') throw csrfRefusal('the browser says that another site has made it');
  const { origin } = headers;
  if (origin === undefined || isOwnOrigin(origin, configured, request.raw.socket?.localPort)) return;
  throw csrfRefusal(`the page has the origin ${origin.slice(0, 100)}, which is not the one in the configuration`);
}

function csrfRefusal(reason: string) {
  return gatewayError('csrf_refused', { reason });
}

/** Without a configured address: `localhost` or any IP address, which no DNS server can redirect. */
function isOwnOrigin(origin: string, { baseUrl, dashboardUrl }: DashboardDeps['configured'], port?: number): boolean {
  const own = [baseUrl, dashboardUrl].filter((address) => address !== null);
  if (own.length > 0) return own.some((address) => new URL(address).origin === origin);
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname, port: originPort } = new URL(origin);
  if (protocol !== 'http:' || Number(originPort || 80) !== port) return false;
  return hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
}
