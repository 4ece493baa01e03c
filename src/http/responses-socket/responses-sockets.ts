/**
 * The WebSockets at `GET /v1/responses`. The handshake is checked like any request, and its refusal is an ordinary answer. The key is
 * checked again with every message.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { addressRefusal } from '../../accounts/keys/key-scope.js';
import { requestId } from '../../base/ids.js';
import type { Identity } from '../../domain/account.js';
import type { Door } from '../../doors/door.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { peerOf } from '../../limits/rate-limits.js';
import { bodyBytesMax, identify } from '../../pipeline/admit.js';
import type { Origin } from '../../territory/territories.js';
import type { Lifecycle } from '../app.js';
import type { HttpDeps, MessageChatHandler } from '../deps.js';
import { asGatewayError, countRefused } from '../faults.js';
import { keepAliveMs, markUpgraded } from '../server/connections.js';
import { apiHeaders, connectionHeaders, rawHeader, socketHeaders } from '../server/headers.js';
import { endAndLinger, headFault } from '../server/malformed-requests.js';
import { errorText } from '../server/raw-answer.js';
import { Conversations } from './conversations.js';
import { SocketSession, type SocketTimes } from './session.js';
import type { SocketTurn } from './socket-turn.js';

interface SocketsDeps
  extends Pick<
    HttpDeps,
    | 'clock'
    | 'logger'
    | 'directory'
    | 'expiry'
    | 'originOf'
    | 'territories'
    | 'ipLimiter'
    | 'bodyMemory'
    | 'https'
    | 'meters'
  > {
  readonly messageChat: MessageChatHandler;
}

const minuteMs = 60_000;
const socketTimes: SocketTimes = {
  lifetimeMs: 60 * minuteMs,
  // A tool of an agent may run for long between two messages.
  idleMs: 15 * minuteMs,
  pingMs: 30_000,
  unreadMs: keepAliveMs,
};
const sweepMs = 5_000;
/** How long a client has to answer a close. */
const closeMs = 2_000;
/** Each costs memory besides its bytes. Clients that send a message in pieces use some of 16 KiB and more. */
const fragmentsMax = 2_048;

export class ResponsesSockets {
  private readonly sessions = new Set<SocketSession>();
  private readonly conversations = new Conversations<SocketSession>();
  private readonly handshakes = new WebSocketServer({
    ...{ noServer: true, clientTracking: false, perMessageDeflate: false, closeTimeout: closeMs },
    ...{ maxPayload: bodyBytesMax, maxFragments: fragmentsMax },
  });
  private readonly sweeper: NodeJS.Timeout;

  constructor(
    private readonly deps: SocketsDeps,
    private readonly lifecycle: Lifecycle,
    private readonly times = socketTimes,
  ) {
    this.handshakes.on('wsClientError', (error, socket) => {
      this.refuse(socket as Socket, gatewayError('bad_http', { reason: error.message }));
    });
    this.handshakes.on('headers', (lines) => {
      const headers = { ...apiHeaders, ...socketHeaders(deps.https), 'x-request-id': requestId(deps.clock.now()) };
      for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
    });
    this.sweeper = setInterval(() => this.sweep(), sweepMs).unref();
  }

  /** For the `upgrade` event of the server. */
  async accept(req: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const destroy = (): void => void socket.destroy();
    socket.on('error', destroy);
    // What the client sends ahead stays with the system, but for what came together with the handshake.
    socket.pause();
    const early = this.deps.bodyMemory.openEarly(peerOf(socket.remoteAddress));
    let caller: { origin: Origin; identity: Identity };
    try {
      const full = early.resize(head.length);
      if (full) throw full;
      caller = await this.admit(req);
    } catch (error) {
      this.refuse(socket, asGatewayError(error));
      return;
    } finally {
      early.release();
    }
    if (socket.destroyed) return;
    socket.off('error', destroy);
    this.handshakes.handleUpgrade(req, socket, head, (ws) => this.open(ws, req, socket, caller));
    socket.resume();
  }

  stop(): void {
    clearInterval(this.sweeper);
    for (const session of this.sessions) session.destroy();
  }

  private async admit(req: IncomingMessage): Promise<{ origin: Origin; identity: Identity }> {
    const { deps } = this;
    const fault = headFault(req);
    if (fault !== undefined) throw gatewayError('bad_http', { reason: fault });
    if (this.lifecycle.draining) throw gatewayError('draining');
    const origin = deps.originOf(req);
    deps.territories.checkCaller(origin.territory);
    await deps.ipLimiter.take(origin.address);
    const identity = await identify(deps, rawHeader(req, 'authorization'));
    const refusal = addressRefusal(identity.key, origin.address);
    if (refusal) throw refusal;
    return { origin, identity };
  }

  private open(
    ws: WebSocket,
    req: IncomingMessage,
    socket: Socket,
    { origin, identity }: { origin: Origin; identity: Identity },
  ): void {
    const { bodyMemory } = this.deps;
    const session = new SocketSession({
      ...{ ws, socket, origin, bodyMemory, conversations: this.conversations, times: this.times },
      authorization: rawHeader(req, 'authorization'),
      header: (name) => rawHeader(req, name),
      owner: identity.account.id,
      serve: (turn, door) => this.serve(turn, door),
      closed: (closed) => void this.sessions.delete(closed),
    });
    this.sessions.add(session);
    markUpgraded(socket, session);
    // The server may have begun to drain during the handshake.
    if (this.lifecycle.draining) session.closeUnlessAnswering();
  }

  /** The handler answers every failure itself. A bug in it must not end the process. */
  private serve(turn: SocketTurn, door: Door): void {
    try {
      this.deps.messageChat(turn, door);
    } catch (error) {
      const { clock, logger, meters } = this.deps;
      const request_id = requestId(clock.now());
      logger.error({ request_id, error: String(error) }, 'the chat handler threw');
      const fault = asGatewayError(error);
      countRefused(meters, fault);
      turn.refuse(fault, request_id, {});
    }
  }

  private refuse(socket: Socket, fault: GatewayError): void {
    const { clock, meters, https } = this.deps;
    countRefused(meters, fault);
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    socket.on('error', () => socket.destroy());
    const headers = { ...socketHeaders(https), ...connectionHeaders.closed };
    socket.write(errorText(fault, requestId(clock.now()), '/v1/', headers));
    endAndLinger(socket);
  }

  private sweep(): void {
    const nowMs = performance.now();
    for (const session of this.sessions) session.sweep(nowMs);
  }
}
