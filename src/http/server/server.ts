/**
 * The HTTP server. Chat requests go straight to their handler, all others through Fastify. It sets the limits and timeouts of the HTTP
 * layer and answers refused requests with the error envelope.
 */
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { FastifyInstance, FastifyServerFactoryHandler } from 'fastify';
import { requestId } from '../../base/ids.js';
import type { Door } from '../../doors/door.js';
import { openRouterDoors } from '../../doors/openrouter/openrouter-doors.js';
import { doorAt } from '../../doors/registry.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import type { Figures } from '../../observability/metrics/figures.js';
import { buildApp, type Lifecycle } from '../app.js';
import type { HttpDeps } from '../deps.js';
import { asGatewayError, countRefused } from '../faults.js';
import { ownFigures } from '../ops/metrics.js';
import { ResponsesSockets } from '../responses-socket/responses-sockets.js';
import { markAwaitsContinue } from './body.js';
import { type ServerLimits, serverLimits, trackConnections, watchUnread } from './connections.js';
import { FastConnections } from './fast-connections.js';
import { httpsOnlyHeader, rawHeader, socketHeaders } from './headers.js';
import { headFault, onConnect } from './malformed-requests.js';
import { requestClass } from './node-request.js';
import { answerAndDrain, answerError } from './raw-answer.js';
import type { SocketCaller } from './socket-caller.js';
import { afterEarlierAnswers, serveUpgrades } from './upgrades.js';

const closePollMs = 50;
const httpsOnly = Object.entries(httpsOnlyHeader)[0]!;

export interface LodestoneServer {
  readonly server: Server;
  readonly app: FastifyInstance;
  /** The metrics of this process, as plain data that another process can merge. */
  figures(): Figures;
  /** Resolves to the port in use. */
  listen(port: number, host: string): Promise<number>;
  /** Refuses new work. Running answers may finish within `graceMs`, then their connections are closed. */
  close(graceMs?: number): Promise<void>;
}

export async function createServer(deps: HttpDeps, limits: ServerLimits = serverLimits): Promise<LodestoneServer> {
  const lifecycle = { draining: false };
  const app = await buildApp(deps, lifecycle, (handler) => nodeServer(deps, limits, lifecycle, handler));
  const server = app.server as Server;
  const sockets = deps.messageChat && new ResponsesSockets({ ...deps, messageChat: deps.messageChat }, lifecycle);
  serveUpgrades(server, sockets && ((req, socket, behind) => void sockets.accept(req, socket, behind)));
  const open = trackConnections(server, limits.connectionsMax);
  const { socketChat } = deps;
  if (socketChat) {
    const failed = (caller: SocketCaller, error: unknown) => refuseThrown(deps, caller, error);
    const { bodyMemory } = deps;
    new FastConnections({ server, open, limits: limits.options, lifecycle, bodyMemory, chat: socketChat, failed });
  }
  return {
    server,
    app,
    figures: () => ownFigures(deps),
    listen: (port, host) => listen(server, port, host),
    close: async (graceMs = 0) => {
      lifecycle.draining = true;
      deps.bodyMemory.refuseUnfinished(drainingError);
      await closeConnections(server, graceMs);
      sockets?.stop();
      await app.close();
    },
  };
}

function nodeServer(
  deps: HttpDeps,
  { options }: ServerLimits,
  lifecycle: Lifecycle,
  framework: FastifyServerFactoryHandler,
): Server {
  const route = (req: IncomingMessage, res: ServerResponse, awaitsContinue: boolean) => {
    // Requests that are still served, such as /readyz, also announce the end of their connection.
    if (lifecycle.draining) res.shouldKeepAlive = false;
    if (deps.https) res.setHeader(...httpsOnly);
    const fault = headFault(req);
    if (fault !== undefined) return refuse(deps, req, res, fault);
    toOriginForm(req);
    const door = req.method === 'POST' ? (doorAt(req.url) ?? openRouterDoorAt(deps, req.url)) : undefined;
    if (!door) callFramework(framework, req, res);
    else if (lifecycle.draining) answerError(req, res, counted(deps, drainingError()), requestId(deps.clock.now()));
    else callChat(deps, door, { req, res, awaitsContinue });
  };
  const server = createHttpServer({ ...options, IncomingMessage: requestClass(deps.bodyMemory) }, (req, res) =>
    route(req, res, false),
  );
  // maxHeaderSize is the bound. A limit on the count would silently drop headers, perhaps the key.
  server.maxHeadersCount = 0;
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    // After a refusal the client may or may not send the body, so the connection cannot be reused.
    res.shouldKeepAlive = false;
    markAwaitsContinue(req, res);
    route(req, res, true);
  });
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
    res.shouldKeepAlive = false;
    if (deps.https) res.setHeader(...httpsOnly);
    const value = (req.headers.expect ?? '').slice(0, 100);
    const refusal = unlessSanctioned(deps, req, gatewayError('expectation_failed', { value }));
    answerError(req, res, counted(deps, refusal), requestId(deps.clock.now()));
  });
  server.on('connect', (req: IncomingMessage, socket: Socket, head: Buffer) =>
    afterEarlierAnswers(socket, head, () => onConnect(req, socket, socketHeaders(deps.https))),
  );
  return server;
}

function refuse(deps: HttpDeps, req: IncomingMessage, res: ServerResponse, reason: string): void {
  const refusal = unlessSanctioned(deps, req, gatewayError('bad_http', { reason }));
  answerAndDrain(req, res, counted(deps, refusal), requestId(deps.clock.now()));
}

function counted({ meters }: HttpDeps, refusal: GatewayError): GatewayError {
  countRefused(meters, refusal);
  return refusal;
}

/** A client in a sanctioned territory gets the 451, whatever else is wrong with the request. */
function unlessSanctioned(
  { territories, originOf }: HttpDeps,
  req: IncomingMessage,
  fault: GatewayError,
): GatewayError {
  try {
    territories.checkCaller(originOf(req).territory);
    return fault;
  } catch (error) {
    return asGatewayError(error);
  }
}

function callFramework(framework: FastifyServerFactoryHandler, req: IncomingMessage, res: ServerResponse): void {
  res.once('prefinish', watchUnread);
  framework(req, res);
}

function drainingError() {
  return gatewayError('draining', undefined, { headers: { connection: 'close' } });
}

interface Incoming {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly awaitsContinue: boolean;
}

/** The handler answers every failure itself. A bug in it must not end the process. */
function callChat(deps: HttpDeps, door: Door, { req, res, awaitsContinue }: Incoming): void {
  try {
    deps.chat(req, res, awaitsContinue, door);
  } catch (error) {
    const request_id = handlerThrew(deps, error);
    if (res.headersSent) res.destroy();
    else answerError(req, res, counted(deps, asGatewayError(error)), request_id);
  }
}

function refuseThrown(deps: HttpDeps, caller: SocketCaller, error: unknown): void {
  const request_id = handlerThrew(deps, error);
  caller.refuse(counted(deps, asGatewayError(error)), request_id, {});
}

/** Logs a bug in the handler. Returns the id for its answer. */
function handlerThrew({ clock, logger }: HttpDeps, error: unknown): string {
  const request_id = requestId(clock.now());
  logger.error({ request_id, error: String(error) }, 'the chat handler threw');
  return request_id;
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Connections become idle one by one as their answers end, so idle ones are closed repeatedly. */
function closeConnections(server: Server, graceMs: number): Promise<void> {
  if (!server.listening) return Promise.resolve();
  return new Promise((resolve) => {
    const idle = setInterval(() => server.closeIdleConnections(), closePollMs);
    const grace = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(grace);
      resolve();
    });
    server.closeIdleConnections();
  });
}

const absoluteTarget = /^https?:\/\/([^/?#]+)([/?].*)?$/i;

/**
 * Turns a target such as `http://host/v1/key`, which a client sends to a proxy and every server has to take (RFC 9112, 3.2.2), into a
 * path. One for another host than the `Host` header names stays, and is no known path.
 */
function toOriginForm(req: IncomingMessage): void {
  if (req.url === undefined || req.url.startsWith('/')) return;
  const [, host, rest = '/'] = absoluteTarget.exec(req.url) ?? [];
  if (host === undefined || host.toLowerCase() !== rawHeader(req, 'host')?.toLowerCase()) return;
  req.url = rest.startsWith('/') ? rest : `/${rest}`;
}

/** Paths under `/api/v1`, where OpenRouter's dialect is on. */
function openRouterDoorAt({ isOpenRouter }: HttpDeps, url: string | undefined): Door | undefined {
  return isOpenRouter ? doorAt(url, openRouterDoors) : undefined;
}
