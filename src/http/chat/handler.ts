/** `POST /v1/chat/completions`, taken before the framework: makes a caller, runs the pipeline, answers what it throws. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestId } from '../../base/ids.js';
import { GatewayError, gatewayError } from '../../errors/gateway-error.js';
import type { Tracing } from '../../observability/tracing/ended-chat.js';
import { CallerGone } from '../../pipeline/caller.js';
import type { PipelinePorts } from '../../pipeline/handover.js';
import { ChatNotes } from '../../pipeline/notes.js';
import { serveChat } from '../../pipeline/pipeline.js';
import { chatPath } from '../chat-path.js';
import type { DashboardDeps } from '../dashboard/dashboard-deps.js';
import type { ChatHandler, HttpDeps } from '../deps.js';
import { headerObject } from '../server/headers.js';
import { NodeCaller } from '../server/node-caller.js';
import { answerAndDrain, answerError } from '../server/raw-answer.js';
import { httpsStarts } from '../server/response-head.js';
import { type ChatWatch, chatEnded, type WatchedChat } from './chat-end.js';
import { RunningChats } from './running-chats.js';

/** An unread body of up to this size is left to node, which throws it away and keeps the connection. */
const unreadBytesMax = 64 * 1024;

/** As the metrics name it. */
const chatEndpoint = `POST ${chatPath}`;

export interface ChatDeps extends Pick<HttpDeps, 'originOf' | 'meters' | 'https'> {
  /** null = no traces are wanted. */
  tracing: Tracing | null;
}

export function createChatHandler(ports: PipelinePorts, deps: ChatDeps, chats = new RunningChats()): ChatHandler {
  const watch = watchOf(ports, deps);
  return (req, res, awaitsContinue) => {
    const caller = new NodeCaller(req, res, awaitsContinue, ports.timeouts.streamIdleMs, deps.originOf(req));
    if (deps.https) caller.headStarts = httpsStarts;
    run(ports, watch, chats, new Chat(req, res, caller, requestId(ports.clock.now()), chatEndpoint, watch));
  };
}

/** The same for the dashboard's playground, whose caller is known by its session. */
export function createPlayground(
  ports: PipelinePorts,
  deps: ChatDeps,
  chats: RunningChats,
): DashboardDeps['playground'] {
  const watch = watchOf(ports, deps);
  return (req, res, identity, id) => {
    res.setHeader('cache-control', 'no-store');
    const awaitsContinue = req.headers.expect !== undefined;
    const caller = new NodeCaller(req, res, awaitsContinue, ports.timeouts.streamIdleMs, deps.originOf(req), identity);
    // The framework counts it among its own.
    run(ports, watch, chats, new Chat(req, res, caller, id, null, watch));
  };
}

function watchOf({ clock, logger }: PipelinePorts, { meters, tracing }: ChatDeps): ChatWatch {
  return { clock, logger, meters, tracing };
}

class Chat implements WatchedChat {
  readonly notes = new ChatNotes();
  readonly startedAtMs: number;

  constructor(
    readonly req: IncomingMessage,
    readonly res: ServerResponse,
    readonly caller: NodeCaller,
    readonly id: string,
    readonly endpoint: string | null,
    { clock }: ChatWatch,
  ) {
    this.startedAtMs = clock.monotonicMs();
  }
}

function run(ports: PipelinePorts, watch: ChatWatch, chats: RunningChats, chat: Chat): void {
  chats.begin();
  watch.meters.runningChats++;
  const ended = (): void => {
    chat.caller.releaseBody();
    chats.end();
    watch.meters.runningChats--;
  };
  serveChat(ports, chat.caller, chat.id, chat.notes).then(
    () => {
      ended();
      chatEnded(watch, chat, null);
    },
    (error: unknown) => {
      ended();
      fail(ports, watch, chat, error);
    },
  );
}

function fail(ports: PipelinePorts, watch: ChatWatch, chat: Chat, error: unknown): void {
  const { req, res, caller, id } = chat;
  const { identity } = caller;
  if (error instanceof CallerGone) {
    if (!res.headersSent) res.destroy();
    chatEnded(watch, chat, error);
    return;
  }
  const known = error instanceof GatewayError ? error : unexpected(ports, id, error);
  chatEnded(watch, chat, known);
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
