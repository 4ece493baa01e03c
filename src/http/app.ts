/** The framework's part of the server: everything but the chat path, testable with `app.inject`. */

import type { OutgoingHttpHeaders } from 'node:http';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactory,
} from 'fastify';
import { requestId } from '../base/ids.js';
import { keepsDebug } from '../base/logger.js';
import { openRouterError } from '../doors/openrouter/openrouter-doors.js';
import { doorAt, doors } from '../doors/registry.js';
import { envelopeOf, headersOf } from '../errors/envelope.js';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';
import { outcomeOfStatus, unknownEndpoint } from '../observability/metrics/meters.js';
import { registerAdmin } from './admin/register.js';
import { registerCatalogueChanges } from './api/catalogue-changes.js';
import { registerApi } from './api/register.js';
import { oauthError, registerToken } from './api/token.js';
import { registerDashboard } from './dashboard/register.js';
import type { HttpDeps } from './deps.js';
import { asGatewayError, countRefused } from './faults.js';
import { KnownPaths } from './known-paths.js';
import { registerOpenApi } from './openapi/register.js';
import { isOpenRouterPath, pathBehind, registerOpenRouter } from './openrouter/register.js';
import { registerDocs } from './ops/docs.js';
import { registerLog } from './ops/log.js';
import { movedPage, sendNotFoundPage, wantsPage } from './ops/not-found-page.js';
import { registerOps } from './ops/ops.js';
import { registerStatus } from './ops/status.js';
import { registerStripeWebhook } from './ops/stripe-webhook.js';
import { readControlBody } from './server/body.js';
import { serverLimits } from './server/connections.js';
import {
  allowOrigin,
  apiHeaders,
  isApiPath,
  isLogPath,
  preflightHeaders,
  securityHeaders,
  socketHeaders,
} from './server/headers.js';
import { onClientError } from './server/malformed-requests.js';
import { answerAndDrain } from './server/raw-answer.js';

export interface Lifecycle {
  /** True once the process refuses new work. */
  readonly draining: boolean;
}

/** No route has this path. Invalid targets are sent here, so that guards and the 404 treat them like any unknown path. */
const noSuchPath = '/\ufffd';

export async function buildApp(
  deps: HttpDeps,
  lifecycle: Lifecycle,
  serverFactory?: FastifyServerFactory,
): Promise<FastifyInstance> {
  const knownPaths = new KnownPaths();
  const onSocket = {
    onAnswer: (fault: GatewayError) => countRefused(deps.meters, fault),
    headers: socketHeaders(deps.https),
  };
  const app = Fastify({
    ...(serverFactory && { serverFactory }),
    logger: false,
    return503OnClosing: false,
    genReqId: () => requestId(deps.clock.now()),
    clientErrorHandler: (error, socket) => onClientError(error, socket, onSocket),
    rewriteUrl: (req) => routablePath(deps.isOpenRouter ? behindOpenRouter(req.url ?? '') : (req.url ?? '')),
    // As long as a head with every escape escaped, because Fastify's own refusal is not the error envelope.
    routerOptions: { maxParamLength: 2 * serverLimits.options.maxHeaderSize },
    // Handlers check bodies with zod. Loading Fastify's unused compilers would take a tenth of the start time.
    schemaController: { compilersFactory: { buildValidator: noRouteSchemas, buildSerializer: noRouteSchemas } },
  });
  app.decorateRequest('identity', null);
  app.decorateRequest('session', null);
  app.decorateRequest('origin');
  app.decorateRequest('bodyHold', null);
  app.decorate('knownPaths', knownPaths);
  app.addHook('onRoute', ({ url, method, config }) => {
    if (!config?.anyPath) knownPaths.add(url, method);
  });
  for (const { path } of doors) knownPaths.add(path, 'POST');
  startAnswers(app);
  decodeParameters(app);
  watchAnswers(app, deps);
  guardRequests(app, deps, lifecycle);
  answerUnknown(app, knownPaths, deps);
  answerErrors(app, deps);
  takeBodies(app, deps);
  await app.register(async (api) => {
    if (deps.isOpenRouter) registerOpenRouter(api, deps);
    await registerApi(api, deps);
  });
  await app.register((admin) => registerAdmin(admin, deps), { prefix: '/admin/v1' });
  await registerDashboard(app, deps);
  registerToken(app, deps);
  registerStripeWebhook(app, deps);
  registerOps(app, deps, lifecycle);
  registerCatalogueChanges(app, deps);
  registerStatus(app, deps);
  registerLog(app, deps);
  registerOpenApi(app);
  registerDocs(app, deps);
  await app.ready();
  return app;
}

const behindOpenRouter = (url: string): string => (isOpenRouterPath(url) ? pathBehind(url) : url);

function noRouteSchemas(): never {
  throw new Error('A route has a Fastify schema. Check its body with bodyFields instead.');
}

/**
 * Absolute-form targets, `*`, fragments, broken escapes and NUL become the unknown path. The router decodes a path before it compares
 * it, so a guard or proxy that does not would see another path. Therefore escapes are escaped once more: the router matches the path
 * as it was sent, and `decodeParameters` decodes the parameters.
 */
function routablePath(url: string): string {
  if (!url.startsWith('/') || url.includes('#')) return noSuchPath;
  if (!url.includes('%')) return url;
  const path = url.split('?', 1)[0]!;
  try {
    if (decodeURIComponent(path).includes('\0')) return noSuchPath;
  } catch {
    return noSuchPath;
  }
  return path.replaceAll('%', '%25') + url.slice(path.length);
}

/** Parameters such as an account's id may be percent-encoded. */
function decodeParameters(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (pathOf(request).includes('%')) {
      const parameters = request.params as Record<string, string>;
      for (const [name, value] of Object.entries(parameters)) parameters[name] = decodeURIComponent(value);
    }
    done();
  });
}

function pathOf(request: FastifyRequest): string {
  return request.originalUrl.split('?', 1)[0] ?? '';
}

function startAnswers(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    reply.headers(isApiPath(pathOf(request)) ? apiHeaders : securityHeaders);
    done();
  });
}

/** Counts requests by the registered path, never by the text that a client sent, so that the number of series is bounded. */
function watchAnswers(app: FastifyInstance, { meters, logger }: HttpDeps): void {
  const logged = keepsDebug(logger);
  app.addHook('onResponse', (request, reply, done) => {
    const { url, config } = request.routeOptions;
    const path = config?.countsByPath ? pathOf(request) : url;
    const endpoint = path === undefined ? unknownEndpoint : `${request.method} ${path}`;
    const outcome = outcomeOfStatus(reply.statusCode);
    meters.request(endpoint, outcome);
    if (logged) {
      const { id: request_id } = request;
      const duration_ms = Math.round(reply.elapsedTime);
      logger.debug({ request_id, endpoint, outcome, status: reply.statusCode, duration_ms }, 'a request ended');
    }
    done();
  });
}

function guardRequests(app: FastifyInstance, deps: HttpDeps, lifecycle: Lifecycle): void {
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.unguarded) return;
    if (lifecycle.draining) throw gatewayError('draining', undefined, { headers: { connection: 'close' } });
    // Applies to every path, also to unknown ones.
    request.origin = deps.originOf(request.raw);
    deps.territories.checkCaller(request.origin.territory);
    await deps.ipLimiter.take(request.origin.address);
    if (showsStates(pathOf(request))) await deps.deployment.refreshStates();
  });
}

/** Files and pages show nothing that another process could have changed. */
const showsStates = (path: string): boolean => isApiPath(path) || /^\/(admin|dashboard\/api)\//.test(path);

/** Answers 404, 405 and OPTIONS in a hook, before the body is read. */
function answerUnknown(app: FastifyInstance, knownPaths: KnownPaths, deps: HttpDeps): void {
  const answer = (request: FastifyRequest, reply: FastifyReply) => {
    const path = pathOf(request);
    const shownPath = path.length > 200 ? `${path.slice(0, 200)}…` : path;
    const ownPath = deps.isOpenRouter ? behindOpenRouter(path) : path;
    const methods = knownPaths.methodsOf(ownPath);
    const allow = methods.join(', ');
    // A path that contains NUL only looks like a known one.
    if (allow === '' && ownPath.startsWith('/v1/responses/')) throw gatewayError('response_not_stored');
    const page = allow === '' ? movedPage(request, path, knownPaths) : undefined;
    if (page !== undefined) return reply.header('vary', 'accept, accept-encoding').redirect(page, 302);
    if (allow === '' && wantsPage(request)) return sendNotFoundPage(request, reply, deps);
    if (allow === '' || (methods.includes(request.method) && request.method !== 'OPTIONS'))
      throw gatewayError('path_not_found', { method: request.method, path: shownPath });
    if (request.method !== 'OPTIONS') {
      throw gatewayError(
        'method_not_allowed',
        { method: request.method, path: shownPath, allow },
        { headers: { allow } },
      );
    }
    // The log of receipts is open to scripts of other origins too.
    if (isLogPath(path)) reply.headers(allowOrigin);
    if (isApiPath(path) || isLogPath(path))
      reply.headers({ ...preflightHeaders, 'access-control-allow-methods': allow });
    return reply.code(204).header('allow', allow).send();
  };
  app.addHook('onRequest', async (request, reply) => (request.is404 ? answer(request, reply) : undefined));
  app.setNotFoundHandler(answer);
}

function answerErrors(app: FastifyInstance, deps: HttpDeps): void {
  app.setErrorHandler((error, request, reply) => {
    const fault = asGatewayError(error);
    deps.meters.error(fault);
    if (fault.status === 500) {
      const { row, condition } = fault;
      const fields = { request_id: request.id, code: row.code, condition, error: errorText(error) };
      deps.logger.error(fields, 'a request failed with an internal error');
    }
    if (endsUpload.has(fault.condition) && !request.raw.complete) {
      reply.hijack();
      answerAndDrain(request.raw, reply.raw, fault, request.id, reply.getHeaders() as OutgoingHttpHeaders);
      return;
    }
    reply.code(fault.status).headers(headersOf(fault));
    if (request.routeOptions.config?.oauthErrors) return reply.send(oauthError(fault));
    const door = doorAt(request.originalUrl);
    if (deps.isOpenRouter && isOpenRouterPath(request.originalUrl)) return reply.send(openRouterError(fault));
    if (!door) return reply.send(envelopeOf(fault));
    return reply.type('application/json; charset=utf-8').send(door.writeError(fault, request.id));
  });
}

/** Errors that end an upload. The client must be able to read the answer before the connection closes. */
const endsUpload: ReadonlySet<string> = new Set([
  'request_too_large',
  'body_memory_full',
  'request_timeout',
  'draining',
]);

function errorText(error: unknown): string {
  const { stack, cause } = (error ?? {}) as Error;
  return `${stack ?? String(error)}${cause === undefined ? '' : `; cause: ${String(cause)}`}`;
}

/** Keeps bodies as bytes. Handlers that take one parse it as JSON. */
function takeBodies(app: FastifyInstance, { bodyMemory }: HttpDeps): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request: FastifyRequest) => readControlBody(request, bodyMemory));
}
