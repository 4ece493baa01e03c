/** `POST /v1/chat/completions`, taken before the framework: makes a caller, runs the pipeline, answers what it throws. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestId } from '../../base/ids.js';
import { GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { CallerGone } from '../../pipeline/caller.js';
import type { PipelinePorts } from '../../pipeline/handover.js';
import { serveChat } from '../../pipeline/pipeline.js';
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
    const id = requestId(ports.clock.now());
    const caller = new NodeCaller(req, res, awaitsContinue, ports.timeouts.streamIdleMs, originOf(req));
    chats.begin();
    serveChat(ports, caller, id).then(chats.end, (error: unknown) => {
      chats.end();
      fail(ports, req, res, caller, id, error);
    });
  };
}

function fail(
  ports: PipelinePorts,
  req: IncomingMessage,
  res: ServerResponse,
  { identity }: NodeCaller,
  id: string,
  error: unknown,
): void {
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
