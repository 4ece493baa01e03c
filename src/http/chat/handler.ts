/** Serves the paths of all doors, taken before the framework: makes a caller, runs the pipeline, answers what it throws. */
import { requestId } from '../../base/ids.js';
import { keepsDebug } from '../../base/logger.js';
import { isPending, type MaybePromise } from '../../base/turn.js';
import type { Door } from '../../doors/door.js';
import { openRouterDoors } from '../../doors/openrouter/openrouter-doors.js';
import { doors } from '../../doors/registry.js';
import { GatewayError, gatewayError } from '../../errors/gateway-error.js';
import type { Tracing } from '../../observability/tracing/ended-chat.js';
import { CallerGone } from '../../pipeline/caller.js';
import { newNotes } from '../../pipeline/exchange.js';
import type { Arrival, ChatNotes } from '../../pipeline/handover.js';
import { serve } from '../../pipeline/pipeline.js';
import type { PipelinePorts } from '../../pipeline/ports.js';
import type { Origin } from '../../territory/territories.js';
import type { DashboardDeps } from '../dashboard/dashboard-deps.js';
import type { ChatHandler, HttpDeps, MessageChatHandler, SocketChatHandler } from '../deps.js';
import type { ChatCaller, RequestSource } from '../server/chat-caller.js';
import { headerObject } from '../server/headers.js';
import { NodeCaller } from '../server/node-caller.js';
import { type ChatWatch, chatEnded, type WatchedChat } from './chat-end.js';
import { HourlyCounts } from './hourly-counts.js';

interface ChatDeps extends Pick<HttpDeps, 'territories' | 'meters' | 'https'> {
  /** null = no traces are wanted. */
  tracing: Tracing | null;
}

/** How requests reach the handler: through node:http, from a socket that is read without it, or as messages of a WebSocket. */
interface ChatHandlers {
  readonly chat: ChatHandler;
  readonly socketChat: SocketChatHandler;
  readonly messageChat: MessageChatHandler;
}

export function createChatHandlers(ports: PipelinePorts, deps: ChatDeps, chats = new RunningChats()): ChatHandlers {
  const service = { ports, watch: watchOf(ports, deps), chats };
  /** As the metrics name them. */
  const endpoints = new Map([...doors, ...openRouterDoors].map((door) => [door, `POST ${door.path}`]));
  const begin = (caller: ChatCaller, door: Door, endpoint = endpoints.get(door) ?? null): void =>
    run(service, {
      door,
      caller,
      requestId: requestId(ports.clock.now()),
      endpoint,
      startedAtMs: ports.clock.monotonicMs(),
      notes: newNotes(),
    });
  return {
    chat: (req, res, awaitsContinue, door) => {
      const { streamIdleMs: unreadMs } = ports.timeouts;
      const caller = new NodeCaller(req, res, { awaitsContinue, unreadMs, origin: originOf(deps, req) });
      caller.overHttps = deps.https;
      begin(caller, door);
    },
    socketChat: (caller, door) => {
      caller.origin = originOf(deps, caller);
      caller.unreadMs = ports.timeouts.streamIdleMs;
      caller.overHttps = deps.https;
      begin(caller, door);
    },
    messageChat: (caller, door) => begin(caller, door, `GET ${door.path}`),
  };
}

/** The same for the dashboard's playground, whose caller is known by its session. It sends through every door that answers. */
export function createPlayground(
  ports: PipelinePorts,
  deps: ChatDeps,
  chats: RunningChats,
): DashboardDeps['playground'] {
  const service = { ports, watch: watchOf(ports, deps), chats };
  return (door, req, res, session, id) => {
    res.setHeader('cache-control', 'no-store');
    const awaitsContinue = req.headers.expect !== undefined;
    const { streamIdleMs: unreadMs } = ports.timeouts;
    const caller = new NodeCaller(req, res, { awaitsContinue, unreadMs, origin: originOf(deps, req), session });
    // The framework counts the request already.
    run(service, {
      door,
      caller,
      requestId: id,
      endpoint: null,
      startedAtMs: ports.clock.monotonicMs(),
      notes: newNotes(),
    });
  };
}

function originOf({ territories }: ChatDeps, request: RequestSource): Origin {
  return territories.originOf(request.socket.remoteAddress, request);
}

function watchOf({ clock, logger }: PipelinePorts, { meters, tracing }: ChatDeps): ChatWatch {
  return { clock, logger, debug: keepsDebug(logger), meters, hourly: new HourlyCounts(clock), tracing };
}

/** One request from its head to its end: what the pipeline is given of it, and what is watched. */
interface RunningChat extends WatchedChat, Arrival {
  readonly caller: ChatCaller;
  readonly door: Door;
  readonly requestId: string;
  readonly notes: ChatNotes;
}

/** What all requests of a handler share. */
interface Service {
  readonly ports: PipelinePorts;
  readonly watch: ChatWatch;
  readonly chats: RunningChats;
}

function run(service: Service, chat: RunningChat): void {
  service.chats.begin();
  service.watch.meters.runningChats++;
  let outcome: MaybePromise<void>;
  try {
    outcome = serve(service.ports, chat);
  } catch (error) {
    failed(service, chat, error);
    return;
  }
  if (!isPending(outcome)) served(service, chat);
  else
    outcome.then(
      () => served(service, chat),
      (error) => failed(service, chat, error),
    );
}

function ended({ watch, chats }: Service, { caller }: RunningChat): void {
  caller.releaseBody();
  chats.end();
  watch.meters.runningChats--;
}

function served(service: Service, chat: RunningChat): void {
  ended(service, chat);
  chatEnded(service.watch, chat, null);
}

function failed(service: Service, chat: RunningChat, error: unknown): void {
  ended(service, chat);
  const { ports, watch } = service;
  const { caller, requestId: id } = chat;
  const { identity } = caller;
  if (error instanceof CallerGone) {
    caller.abandon();
    chatEnded(watch, chat, error);
    return;
  }
  const known = error instanceof GatewayError ? error : unexpected(ports, id, error);
  chatEnded(watch, chat, known);
  known.body = chat.door.writeError(known, id);
  caller.refuse(known, id, identity ? headerObject(ports.keyLimiter.headersOf(identity)) : {});
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
