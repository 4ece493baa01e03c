/**
 * One Responses WebSocket: takes its messages, runs them one after the other through the pipeline, and remembers the last response. It is
 * an open connection like any other for the limits and for a server that drains.
 */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Door } from '../../doors/door.js';
import { continuedMessage, conversationAfter, socketDoor } from '../../doors/responses/socket-door.js';
import { socketError } from '../../doors/responses/socket-error.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import type { BodyHold, BodyMemory } from '../../limits/body-memory.js';
import type { Origin } from '../../territory/territories.js';
import type { OpenConnection } from '../server/connections.js';
import type { Conversations } from './conversations.js';
import { SocketTurn, type TurnConnection } from './socket-turn.js';

export interface SocketTimes {
  /** From the handshake to the end. */
  readonly lifetimeMs: number;
  /** Without a message or a running response. */
  readonly idleMs: number;
  readonly pingMs: number;
  /** How long a client may leave an ended response unread. */
  readonly unreadMs: number;
}

/** Messages that wait for the running response. */
const waitingMax = 8;
/** A client that leaves more unread, and sends what is answered at once, would fill the memory with answers. */
const unreadBytesMax = 16 * 1024 * 1024;

/** Close codes of RFC 6455. */
const goingAway = 1001;
const unsupported = 1008;
const broken = 1011;
const tryLater = 1013;

interface SessionParts {
  readonly ws: WebSocket;
  readonly socket: Socket;
  readonly origin: Origin;
  readonly authorization: string | undefined;
  header(name: string): string | undefined;
  /** The account whose key opened the connection. */
  readonly owner: string;
  readonly bodyMemory: Pick<BodyMemory, 'open'>;
  readonly conversations: Conversations<SocketSession>;
  readonly times: SocketTimes;
  /** Runs a message through the pipeline. */
  serve(turn: SocketTurn, door: Door): void;
  closed(session: SocketSession): void;
}

interface WaitingMessage {
  readonly bytes: Buffer;
  readonly hold: BodyHold | null;
}

export class SocketSession implements TurnConnection, OpenConnection {
  readonly origin: Origin;
  readonly authorization: string | undefined;
  private turn: SocketTurn | null = null;
  private readonly waiting: WaitingMessage[] = [];
  /** The bytes of a message that is arriving. */
  private arriving: BodyHold | null = null;
  private arrivingBytes = 0;
  private readonly openedAtMs = performance.now();
  private usedAtMs = this.openedAtMs;
  private pingedAtMs = this.openedAtMs;
  private isAlive = true;
  /** Why the connection is closed after the running response. */
  private ending: 'draining' | 'expired' | null = null;

  constructor(private readonly parts: SessionParts) {
    const { ws, socket } = parts;
    this.origin = parts.origin;
    this.authorization = parts.authorization;
    socket.prependListener('data', (chunk: Buffer) => this.countArriving(chunk.length));
    socket.on('drain', () => {
      if (this.turn) this.turn.onDrain?.();
      else this.beginNext();
    });
    // Node's own listener closes the connection, also where the client has read everything.
    socket.removeAllListeners('timeout').on('timeout', () => {
      // Reset: a close would leave the bytes to the system, which would wait for the client in turn.
      if (socket.writableLength > 0) socket.resetAndDestroy();
      else socket.setTimeout(0);
    });
    ws.on('message', (data, isBinary) => this.onMessage(data as Buffer, isBinary))
      .on('ping', () => {
        this.forgetControlFrame();
        this.endIfUnread();
      })
      .on('pong', () => this.forgetControlFrame())
      // What it did wrong decides the code that the connection is closed with.
      .on('error', () => {})
      .on('close', () => this.onClose());
  }

  get isBusy(): boolean {
    return this.turn !== null || this.parts.socket.writableLength > 0;
  }

  destroy(): void {
    this.parts.ws.terminate();
  }

  closeUnlessAnswering(): void {
    if (this.turn) this.ending = 'draining';
    else this.close(goingAway, 'The server is shutting down.');
  }

  header(name: string): string | undefined {
    return this.parts.header(name);
  }

  send(messages: readonly Buffer[]): boolean {
    const { ws, socket } = this.parts;
    if (ws.readyState !== ws.OPEN) return true;
    socket.cork();
    for (const message of messages) ws.send(message, { binary: false });
    socket.uncork();
    return !socket.writableNeedDrain;
  }

  turnEnded(turn: SocketTurn, error: GatewayError | null): void {
    const { socket, conversations, owner, times } = this.parts;
    if (this.turn !== turn) return;
    this.turn = null;
    this.usedAtMs = performance.now();
    if (socket.writableLength > 0) socket.setTimeout(times.unreadMs);
    if (turn.request && turn.terminalEvent !== null) {
      const conversation = conversationAfter(turn.request, turn.terminalEvent);
      if (conversation) conversations.keep(this, owner, conversation);
    }
    // A key or a place that is refused now stays refused.
    if (error?.status === 401 || error?.status === 451) this.close(unsupported, error.row.code ?? '');
    else if (this.ending === 'draining') this.close(goingAway, 'The server is shutting down.');
    else if (this.ending === 'expired') this.expire();
    // In a turn of its own: until then the response holds its tokens and its money.
    else if (this.waiting.length > 0) setImmediate(() => this.beginNext());
  }

  breakOff(): void {
    this.close(broken, 'The response cannot be completed.');
  }

  /** Called from time to time. */
  sweep(nowMs: number): void {
    const { ws, socket, times } = this.parts;
    if (ws.readyState !== ws.OPEN) return;
    if (nowMs - this.openedAtMs >= times.lifetimeMs) {
      if (this.turn) this.ending ??= 'expired';
      else this.expire();
      return;
    }
    if (!this.turn && nowMs - this.usedAtMs >= times.idleMs) {
      this.close(goingAway, 'The connection was idle.');
      return;
    }
    if (nowMs - this.pingedAtMs < times.pingMs) return;
    // A client that reads slowly gets to the ping late. It has a time limit of its own.
    if (!this.isAlive && socket.writableLength === 0) {
      ws.terminate();
      return;
    }
    this.pingedAtMs = nowMs;
    this.isAlive = false;
    ws.ping();
  }

  private onMessage(bytes: Buffer, isBinary: boolean): void {
    const hold = this.takeArriving();
    this.usedAtMs = performance.now();
    // A connection that is about to be closed takes nothing more. Its close tells the client.
    if (this.parts.ws.readyState !== this.parts.ws.OPEN || this.ending) hold?.release();
    else if (isBinary) {
      hold?.release();
      this.refuse(gatewayError('body_not_json', { reason: 'was sent as a binary message' }));
    } else if (this.waiting.length === waitingMax) {
      hold?.release();
      const what = `${waitingMax} messages wait for the running response already. Send the next one when a response has ended.`;
      this.refuse(gatewayError('request_invalid', { param: 'type', what }));
    } else {
      this.waiting.push({ bytes, hold });
      if (!this.turn) this.beginNext();
    }
  }

  /** A client that does not read what it got is served no further; `drain` goes on. */
  private beginNext(): void {
    const { ws, socket } = this.parts;
    if (this.turn || ws.readyState !== ws.OPEN || socket.writableNeedDrain) return;
    const next = this.waiting.shift();
    if (!next) return;
    next.hold?.release();
    const turn = new SocketTurn(this, continuedMessage(this.takeConversation(next.bytes), next.bytes));
    this.turn = turn;
    this.parts.serve(turn, {
      ...socketDoor,
      openStream: (request, isNative) => {
        turn.request = request;
        return socketDoor.openStream!(request, isNative);
      },
    });
  }

  /** A conversation is given once: where the response that continues it fails, it cannot be continued again. */
  private takeConversation(message: Buffer): ReturnType<Conversations<SocketSession>['of']> {
    const { conversations } = this.parts;
    const known = conversations.of(this);
    if (!known || !message.includes('"previous_response_id"') || !message.includes(known.id)) return null;
    conversations.forget(this);
    return known;
  }

  private countArriving(bytes: number): void {
    this.isAlive = true;
    this.arriving ??= this.openArriving();
    this.arrivingBytes += bytes;
    const refusal = this.arriving.add(bytes);
    if (refusal) this.refuseArriving(refusal);
  }

  private openArriving(): BodyHold {
    const hold = this.parts.bodyMemory.open(this.parts.owner);
    hold.receive({ complete: false }, (error) => this.refuseArriving(error));
    return hold;
  }

  private takeArriving(): BodyHold | null {
    const { arriving } = this;
    this.arriving = null;
    this.arrivingBytes = 0;
    arriving?.received();
    return arriving;
  }

  /** A frame of control and its head have at most 131 bytes. More is the beginning of a message. */
  private forgetControlFrame(): void {
    this.isAlive = true;
    if (this.arrivingBytes <= 131) this.takeArriving()?.release();
  }

  /** There is no room for a message, it does not arrive, or the server drains. Nothing more is read. */
  private refuseArriving(error: GatewayError): void {
    this.takeArriving()?.release();
    if (error.condition === 'draining' && this.turn) return;
    this.refuse(error);
    this.parts.ws.pause();
    this.close(tryLater, error.row.code ?? '');
  }

  private endIfUnread(): void {
    const { ws, socket } = this.parts;
    if (socket.writableLength > unreadBytesMax) ws.terminate();
  }

  private refuse(error: GatewayError): void {
    this.endIfUnread();
    this.send([Buffer.from(socketError(error, {}))]);
  }

  private expire(): void {
    this.refuse(gatewayError('websocket_connection_limit_reached'));
    this.close(goingAway, 'websocket_connection_limit_reached');
  }

  private close(code: number, reason: string): void {
    const { ws } = this.parts;
    if (ws.readyState === ws.OPEN) ws.close(code, reason);
  }

  private onClose(): void {
    this.takeArriving()?.release();
    for (const { hold } of this.waiting.splice(0)) hold?.release();
    this.parts.conversations.forget(this);
    this.turn?.leave();
    this.turn = null;
    this.parts.closed(this);
  }
}
