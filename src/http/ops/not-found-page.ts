/** What a person sees at an address that leads nowhere: another address that does, or a page with the navigation. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { gatewayError } from '../../errors/gateway-error.js';
import type { HttpDeps } from '../deps.js';
import { isApiPath } from '../server/headers.js';
import { sendDocsPage } from './docs.js';

/** Programs get JSON there, also where a browser asks. */
const forPrograms = /^\/(v1|admin|dashboard\/api)(\/|$)/;

/** A browser that opens an address asks for HTML by name; programs do not. */
export function wantsPage({ method, headers, originalUrl }: FastifyRequest): boolean {
  const path = originalUrl.split('?', 1)[0] ?? '';
  if (isApiPath(path) || forPrograms.test(path)) return false;
  return (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true;
}

/** Where `/`, for whoever takes a page, and a page of the guide with a slash too many lead to. */
export function movedPage(
  { method, headers }: FastifyRequest,
  path: string,
  known: { methodsOf(path: string): string[] },
): string | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (path === '/') return /text\/html|\*\/\*/.test(headers.accept ?? '') ? '/dashboard' : undefined;
  const page = /^(\/docs(?:\/[\w-]+)*)\/$/.exec(path)?.[1];
  return page !== undefined && known.methodsOf(page).length > 0 ? page : undefined;
}

export async function sendNotFoundPage(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Pick<HttpDeps, 'statusIsPublic'>,
): Promise<FastifyReply> {
  const path = request.originalUrl.split('?', 1)[0] ?? '';
  reply.header('vary', 'accept, accept-encoding');
  reply.code(404);
  if (!(await sendDocsPage('/docs/404', request, reply, deps))) {
    throw gatewayError('path_not_found', { method: request.method, path: path.slice(0, 200) });
  }
  return reply;
}
