/** Serves the paths of all doors, taken before the framework: makes a caller, runs the pipeline, answers what it throws. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestId } from '../../base/ids.js';
import { chatDoor } from '../../doors/chat/chat-door.js';
import { doors } from '../../doors/registry.js';
import { GatewayError, gatewayError } from '../../errors/gateway-error.js';
import type { Tracing } from '../../observability/tracing/ended-chat.js';
import { CallerGone } from '../../pipeline/caller.js';
import { ChatNotes, type PipelinePorts } from '../../pipeline/handover.js';
import { type Arrival, serve } from '../../pipeline/pipeline.js';
import type { DashboardDeps } from '../dashboard/dashboard-deps.js';
import type { ChatHandler, HttpDeps } from '../deps.js';
import { headerObject } from '../server/headers.js';
import { NodeCaller } from '../server/node-caller.js';
import { answerAndDrain, answerError } from '../server/raw-answer.js';
import { httpsStarts } from '../server/response-head.js';
import { type ChatWatch, chatEnded, type WatchedChat } from './chat-end.js';

/** An unread body of up to this size is left to node, which throws it away and keeps the connection. */
const unreadBytesMax = 64 * 1024;

export interface ChatDeps extends Pick<HttpDeps, 'originOf' | 'meters' | 'https'> {
  /** null = no traces are wanted. */
  tracing: Tracing | null;
}

export function createChatHandler(ports: PipelinePorts, deps: ChatDeps, chats = new RunningChats()): ChatHandler {
  const watch = watchOf(ports, deps);
  /** As the metrics name them. */
  const endpoints = new Map(doors.map((door) => [door, `POST ${door.path}`]));
  return (req, res, awaitsContinue, door) => {
    const { streamIdleMs: unreadMs } = ports.timeouts;
    const caller = new NodeCaller(req, res, { awaitsContinue, unreadMs, origin: deps.originOf(req) });
    if (deps.https) caller.headStarts = httpsStarts;
    const id = requestId(ports.clock.now());
    const endpoint = endpoints.get(door) ?? null;
    run(ports, watch, chats, {
      door,
      req,
      res,
      caller,
      requestId: id,
      endpoint,
      startedAtMs: ports.clock.monotonicMs(),
      notes: new ChatNotes(),
    });
  };
}

/** The same for the dashboard's playground, whose caller is known by its session. */
export function createPlayground(
  ports: PipelinePorts,
  deps: ChatDeps,
  chats: RunningChats,
): DashboardDeps['playground'] {
  const watch = watchOf(ports, deps);
  return (req, res, session, id) => {
    res.setHeader('cache-control', 'no-store');
    const awaitsContinue = req.headers.expect !== undefined;
    const { streamIdleMs: unreadMs } = ports.timeouts;
    const caller = new NodeCaller(req, res, { awaitsContinue, unreadMs, origin: deps.originOf(req), session });
    // The framework counts the request already.
    run(ports, watch, chats, {
      door: chatDoor,
      req,
      res,
      caller,
      requestId: id,
      endpoint: null,
      startedAtMs: ports.clock.monotonicMs(),
      notes: new ChatNotes(),
    });
  };
}

function watchOf({ clock, logger }: PipelinePorts, { meters, tracing }: ChatDeps): ChatWatch {
  return { clock, logger, meters, tracing };
}

/** One request from its head to its end: what the pipeline is given of it, and what is watched. */
interface RunningChat extends WatchedChat, Arrival {
  readonly res: ServerResponse;
  readonly caller: NodeCaller;
  readonly requestId: string;
  readonly notes: ChatNotes;
}

function run(ports: PipelinePorts, watch: ChatWatch, chats: RunningChats, chat: RunningChat): void {
  chats.begin();
  watch.meters.runningChats++;
  const end = (): void => {
    chat.caller.releaseBody();
    chats.end();
    watch.meters.runningChats--;
  };
  serve(ports, chat).then(
    () => {
      end();
      chatEnded(watch, chat, null);
    },
    (error: unknown) => {
      end();
      fail(ports, watch, chat, error);
    },
  );
}

function fail(ports: PipelinePorts, watch: ChatWatch, chat: RunningChat, error: unknown): void {
  const { req, res, caller, requestId: id } = chat;
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

/**
 * Counts the requests that are not over. A request whose caller has left, or whose connection was cut at the end of the drain time, is
 * still billed and settled. A stop waits for these, or they would be billed by an estimate, or not at all.
 */
export class RunningChats {
  private count = 0;
  private readonly waiting: (() => void)[] = [];

  begin(): void {
    this.count++;
  }

  readonly end = (): void => {
    if (--this.count === 0) for (const resolve of this.waiting.splice(0)) resolve();
  };

  /** Resolves when none is left, or after `timeoutMs`. */
  over(timeoutMs: number): Promise<void> {
    if (this.count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
