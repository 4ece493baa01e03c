/**
 * One Responses WebSocket: takes its messages, runs them one after the other through the pipeline, and remembers the last response. It is
 * an open connection like any other for the limits and for a server that drains.
 */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { largeTextBytes } from '../../base/large-memory.js';
import { collectSoon } from '../../base/v8-settings.js';
import type { Identity } from '../../domain/account.js';
import type { Door } from '../../doors/door.js';
import {
  continuedMessage,
  continuedSocketDoor,
  conversationAfter,
  socketDoor,
} from '../../doors/responses/socket-door.js';
import { socketError } from '../../doors/responses/socket-error.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import type { BodyHold, BodyMemory } from '../../limits/body-memory.js';
import type { Origin } from '../../territory/territories.js';
import type { OpenConnection } from '../server/connections.js';
import { ArrivingMessage } from './arriving-message.js';
import type { Conversations } from './conversations.js';
import { type FrameOwner, FrameReader, type FrameTurns, freeFramesPerMinute } from './frame-reader.js';
import { Pongs } from './pongs.js';
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

/** Close codes of RFC 6455. */
const goingAway = 1001;
const notText = 1003;
const unsupported = 1008;
const broken = 1011;
const tryLater = 1013;

interface SessionParts {
  readonly ws: WebSocket;
  readonly socket: Socket;
  readonly origin: Origin;
  readonly authorization: string | undefined;
  header(name: string): string | undefined;
  /** The key that opened the connection. */
  readonly identity: Identity;
  readonly bodyMemory: Pick<BodyMemory, 'open'>;
  readonly conversations: Conversations<SocketSession>;
  readonly turns: FrameTurns;
  readonly times: SocketTimes;
  /** Runs a message through the pipeline. */
  serve(turn: SocketTurn, door: Door): void;
  /** Counts frames as requests of the address and of the key: the error where one of them has none left. Never fails. */
  countFrames(frames: number, address: string | undefined, identity: Identity): Promise<GatewayError | null>;
  closed(session: SocketSession): void;
}

interface WaitingMessage {
  readonly bytes: Buffer;
  readonly hold: BodyHold | null;
}

export class SocketSession implements TurnConnection, OpenConnection, FrameOwner {
  readonly origin: Origin;
  readonly authorization: string | undefined;
  private turn: SocketTurn | null = null;
  private readonly waiting: WaitingMessage[] = [];
  private readonly arriving: ArrivingMessage;
  private readonly frames: FrameReader;
  private identity: Identity;
  /** The next message is begun in a turn of its own, or when the client has read the last answer. */
  private nextIsPlanned = false;
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
    this.identity = parts.identity;
    const owner = parts.identity.account.id;
    this.arriving = new ArrivingMessage(parts.bodyMemory, owner, (error) => this.refuseArriving(error));
    this.frames = new FrameReader(socket, this, parts.turns);
    const pongs = new Pongs(ws);
    socket.on('drain', () => this.turn?.onDrain?.());
    // Node's own listener closes the connection, also where the client has read everything.
    socket.removeAllListeners('timeout').on('timeout', () => {
      // Reset: a close would leave the bytes to the system, which would wait for the client in turn.
      if (socket.writableLength > 0) socket.resetAndDestroy();
      else socket.setTimeout(0);
    });
    ws.on('message', (data) => this.onMessage(data as Buffer))
      .on('ping', (data) => pongs.answer(data))
      // What it did wrong decides the code that the connection is closed with.
      .on('error', () => {})
      .on('close', () => this.onClose());
  }

  get isOpen(): boolean {
    return this.parts.ws.readyState === this.parts.ws.OPEN;
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
    if (!this.isOpen) return true;
    socket.cork();
    for (const message of messages) ws.send(message, { binary: false });
    socket.uncork();
    return !socket.writableNeedDrain;
  }

  turnEnded(turn: SocketTurn, error: GatewayError | null): void {
    const { socket, conversations, times } = this.parts;
    if (this.turn !== turn) return;
    this.turn = null;
    if (turn.identity) this.identity = turn.identity;
    this.usedAtMs = performance.now();
    if (socket.writableLength > 0) socket.setTimeout(times.unreadMs);
    if (turn.request && turn.terminalEvent !== null) {
      const conversation = conversationAfter(turn.request, turn.terminalEvent);
      if (conversation) conversations.keep(this, this.parts.identity.account.id, conversation);
    }
    // The body is kept for the conversation, so nobody else frees it.
    if ((turn.request?.native?.body.length ?? 0) >= largeTextBytes) collectSoon();
    // A key or a place that is refused now stays refused.
    if (error?.status === 401 || error?.status === 451) this.close(unsupported, error.row.code ?? '');
    else if (this.ending === 'draining') this.close(goingAway, 'The server is shutting down.');
    else if (this.ending === 'expired') this.expire();
    // In a turn of its own: until then the response holds its tokens and its money.
    else if (this.waiting.length > 0) this.planNext(setImmediate);
  }

  breakOff(): void {
    this.close(broken, 'The response cannot be completed.');
  }

  /** Called from time to time. */
  sweep(nowMs: number): void {
    const { ws, socket, times } = this.parts;
    this.frames.sweep(nowMs);
    if (!this.isOpen) return;
    if (nowMs - this.openedAtMs >= times.lifetimeMs) {
      if (this.turn) this.ending ??= 'expired';
      else this.expire();
      return;
    }
    if (!this.turn && nowMs - this.usedAtMs >= times.idleMs) {
      this.close(goingAway, 'The connection was idle.');
      return;
    }
    // A client that reads slowly would get to the ping late. It has a time limit of its own.
    if (nowMs - this.pingedAtMs < times.pingMs || socket.writableLength > 0) return;
    if (!this.isAlive) {
      ws.terminate();
      return;
    }
    this.pingedAtMs = nowMs;
    this.isAlive = false;
    ws.ping();
  }

  bytesCame(messageBytes: number): void {
    this.isAlive = true;
    if (messageBytes > 0) this.arriving.count(messageBytes);
  }

  binaryCame(): void {
    this.close(notText, 'A binary message came. Messages are texts of JSON.');
  }

  framesHandled(isInMessage: boolean): void {
    // Its first bytes came together with the end of another message.
    if (isInMessage && !this.arriving.hasBegun && this.isOpen) this.arriving.count(0);
    if (!this.nextIsPlanned) this.beginNext();
  }

  async countAsRequests(frames: number): Promise<void> {
    const refusal = await this.parts.countFrames(frames, this.origin.address, this.identity);
    if (!refusal) return;
    const whose = refusal.condition === 'ip_rate_limited' ? 'address' : 'key';
    this.close(
      unsupported,
      `Frames beyond ${freeFramesPerMinute} a minute count as requests, and the ${whose} has none left.`,
    );
  }

  private onMessage(bytes: Buffer): void {
    const hold = this.arriving.take();
    this.usedAtMs = performance.now();
    if (this.isOpen && this.waiting.length < waitingMax + (this.turn ? 0 : 1)) {
      this.waiting.push({ bytes, hold });
      return;
    }
    hold?.release();
    this.close(unsupported, `${waitingMax} messages wait already. Send the next one when a response has ended.`);
  }

  /** A client that has not read the last answer is served no further: it would fill the memory with answers. */
  private beginNext(): void {
    const { socket } = this.parts;
    if (this.turn || !this.isOpen || this.waiting.length === 0) return;
    if (socket.writableLength > 0) {
      this.planNext((begin) => socket.write('', begin));
      return;
    }
    const next = this.waiting.shift()!;
    next.hold?.release();
    const previous = this.takeConversation(next.bytes);
    const turn = new SocketTurn(this, previous ? continuedMessage(previous, next.bytes) : next.bytes);
    this.turn = turn;
    this.parts.serve(turn, {
      ...(previous ? continuedSocketDoor : socketDoor),
      openStream: (request, isNative) => {
        turn.request = request;
        return socketDoor.openStream!(request, isNative);
      },
    });
  }

  private planNext(later: (begin: () => void) => void): void {
    if (this.nextIsPlanned) return;
    this.nextIsPlanned = true;
    later(() => {
      this.nextIsPlanned = false;
      this.beginNext();
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

  /** There is no room for a message, it does not arrive, or the server drains. Nothing more is read. */
  private refuseArriving(error: GatewayError): void {
    if (error.condition === 'draining' && this.turn) return;
    this.refuse(error);
    this.close(tryLater, error.row.code ?? '');
    this.frames.stop();
  }

  private refuse(error: GatewayError): void {
    this.send([Buffer.from(socketError(error, {}))]);
  }

  private expire(): void {
    this.refuse(gatewayError('websocket_connection_limit_reached'));
    this.close(goingAway, 'websocket_connection_limit_reached');
  }

  private close(code: number, reason: string): void {
    if (this.isOpen) this.parts.ws.close(code, reason);
  }

  private onClose(): void {
    this.arriving.take()?.release();
    for (const { hold } of this.waiting.splice(0)) hold?.release();
    this.parts.conversations.forget(this);
    this.turn?.leave();
    this.turn = null;
    this.parts.closed(this);
  }
}
