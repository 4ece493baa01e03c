/**
 * The WebSockets at `GET /v1/responses`. The handshake is checked like any request, and its refusal is an ordinary answer. The key is
 * checked again with every message.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { addressRefusal } from '../../accounts/keys/token.js';
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
import { announcedLength } from '../server/body.js';
import { keepAliveMs, markUpgraded } from '../server/connections.js';
import { apiHeaders, connectionHeaders, rawHeader, socketHeaders } from '../server/headers.js';
import { endAndLinger, headFault } from '../server/malformed-requests.js';
import { errorText } from '../server/raw-answer.js';
import { Conversations } from './conversations.js';
import { FrameTurns } from './frame-reader.js';
import { SocketSession, type SocketTimes } from './session.js';
import type { SocketTurn } from './socket-turn.js';

interface SocketsDeps
  extends Pick<
    HttpDeps,
    | 'clock'
    | 'logger'
    | 'directory'
    | 'brought'
    | 'expiry'
    | 'originOf'
    | 'territories'
    | 'ipLimiter'
    | 'keyLimiter'
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
/** Of one account. Each holds 20 KB and more, and what its client does not read. */
const socketsMax = 1_000;

export class ResponsesSockets {
  private readonly sessions = new Set<SocketSession>();
  /** How many of them each account has. */
  private readonly socketsOf = new Map<string, number>();
  private readonly conversations = new Conversations<SocketSession>();
  private readonly turns = new FrameTurns();
  private readonly handshakes = new WebSocketServer({
    ...{ noServer: true, clientTracking: false, perMessageDeflate: false, autoPong: false },
    ...{ maxPayload: bodyBytesMax, maxFragments: fragmentsMax, closeTimeout: closeMs },
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

  /** `head` is what the client has sent behind its handshake. */
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
    // It was paused where the handshake had to wait for the answers of earlier requests.
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
    // The bytes of a body would be read as frames.
    if (announcedLength(req) !== 0) throw gatewayError('bad_http', { reason: 'a WebSocket handshake has no body' });
    if (this.lifecycle.draining) throw gatewayError('draining');
    const origin = deps.originOf(req);
    deps.territories.checkCaller(origin.territory);
    await deps.ipLimiter.take(origin.address);
    const identity = await identify(deps, rawHeader(req, 'authorization'), origin.address);
    const refusal = addressRefusal(identity.key, origin.address);
    if (refusal) throw refusal;
    if ((this.socketsOf.get(identity.account.id) ?? 0) >= socketsMax)
      throw gatewayError('too_many_websockets', { limit: socketsMax });
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
      ...{ ws, socket, origin, bodyMemory, conversations: this.conversations, turns: this.turns, times: this.times },
      authorization: rawHeader(req, 'authorization'),
      header: (name) => rawHeader(req, name),
      identity,
      countFrames: (frames, address, caller) => this.countFrames(frames, address, caller),
      serve: (turn, door) => this.serve(turn, door),
      closed: (closed) => {
        this.sessions.delete(closed);
        this.countSocket(identity.account.id, -1);
      },
    });
    this.sessions.add(session);
    this.countSocket(identity.account.id, 1);
    markUpgraded(socket, session);
    // The server may have begun to drain during the handshake.
    if (this.lifecycle.draining) session.closeUnlessAnswering();
  }

  private countSocket(accountId: string, change: number): void {
    const count = (this.socketsOf.get(accountId) ?? 0) + change;
    if (count === 0) this.socketsOf.delete(accountId);
    else this.socketsOf.set(accountId, count);
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

  private async countFrames(
    frames: number,
    address: string | undefined,
    identity: Identity,
  ): Promise<GatewayError | null> {
    const { ipLimiter, keyLimiter, meters } = this.deps;
    let refusal: GatewayError | null;
    try {
      await ipLimiter.take(address, frames);
      refusal = await keyLimiter.countRequest(identity, frames);
    } catch (error) {
      refusal = asGatewayError(error);
    }
    if (refusal) countRefused(meters, refusal);
    return refusal;
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
