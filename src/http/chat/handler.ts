/** `POST /v1/chat/completions`, taken before the framework: makes a caller, runs the pipeline, answers what it throws. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestId } from '../../base/ids.js';
import { GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { CallerGone } from '../../pipeline/caller.js';
import type { PipelinePorts } from '../../pipeline/handover.js';
import { serveChat } from '../../pipeline/pipeline.js';
import type { DashboardDeps } from '../dashboard-api/deps.js';
import type { ChatHandler, HttpDeps } from '../deps.js';
import { answerAndDrain, answerError } from '../raw-answer.js';
import { headerObject } from '../raw-headers.js';
import { NodeCaller } from './node-caller.js';
import { RunningChats } from './running-chats.js';

/** An unread body of up to this size is left to node, which throws it away and keeps the connection. */
const unreadBytesMax = 64 * 1024;

export function createChatHandler(
  ports: PipelinePorts,
  { originOf }: Pick<HttpDeps, 'originOf'>,
  chats = new RunningChats(),
): ChatHandler {
  return (req, res, awaitsContinue) => {
    const caller = new NodeCaller(req, res, awaitsContinue, ports.timeouts.streamIdleMs, originOf(req));
    run(ports, chats, { req, res, caller, id: requestId(ports.clock.now()) });
  };
}

/** The same for the dashboard's playground, whose caller is known by its session. */
export function createPlayground(
  ports: PipelinePorts,
  { originOf }: Pick<HttpDeps, 'originOf'>,
  chats: RunningChats,
): DashboardDeps['playground'] {
  return (req, res, identity, id) => {
    res.setHeader('cache-control', 'no-store');
    const awaitsContinue = req.headers.expect !== undefined;
    const caller = new NodeCaller(req, res, awaitsContinue, ports.timeouts.streamIdleMs, originOf(req), identity);
    run(ports, chats, { req, res, caller, id });
  };
}

interface Chat {
  req: IncomingMessage;
  res: ServerResponse;
  caller: NodeCaller;
  id: string;
}

function run(ports: PipelinePorts, chats: RunningChats, chat: Chat): void {
  chats.begin();
  serveChat(ports, chat.caller, chat.id).then(chats.end, (error: unknown) => {
    chats.end();
    fail(ports, chat, error);
  });
}

function fail(ports: PipelinePorts, { req, res, caller, id }: Chat, error: unknown): void {
  const { identity } = caller;
  if (error instanceof CallerGone) {
    if (!res.headersSent) res.destroy();
    return;
  }
  const known = error instanceof GatewayError ? error : unexpected(ports, id, error);
  if (res.headersSent || res.destroyed) {
    res.destroy();
    return;
  }
  const limits = identity ? headerObject(ports.keyLimiter.headersOf(identity)) : {};
  if (bodyIsLeft(req)) answerAndDrain(req, res, known, id, limits);
  else answerError(req, res, known, id, limits);
}

function bodyIsLeft(req: IncomingMessage): boolean {
  if (req.complete) return false;
  const length = req.headers['content-length'];
  return length === undefined ? req.headers['transfer-encoding'] !== undefined : Number(length) > unreadBytesMax;
}

function unexpected(ports: PipelinePorts, id: string, error: unknown): GatewayError {
  ports.logger.error({ err: error, request_id: id }, 'a chat request failed unexpectedly');
  return gatewayError('internal_server_error', { what: 'The service failed while it handled the request.' });
}
