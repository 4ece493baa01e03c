/**
 * A caller on node:http. Requests come through node's parser; answers go to the socket in one write each, head and body together,
 * frames in chunks that are written here. Where that is not possible (HTTP/1.0, a connection that is to be closed, a pipelined
 * request behind another) node writes the answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { atEndOfTurn } from '../../base/turn.js';
import type { Identity } from '../../domain/account.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import type { BodyHold } from '../../limits/body-memory.js';
import { bodyBytesMax } from '../../pipeline/admit.js';
import { type AnswerBody, AnswerBytes, bytesIn, CallerGone } from '../../pipeline/caller.js';
import type { Origin } from '../../territory/territories.js';
import { receiveBody } from './body.js';
import type { ChatCaller } from './chat-caller.js';
import { limitUnread } from './connections.js';
import { apiHeads, chunkOf, headStarts, rawHeader, sameOriginHeads, streamHead, writeAnswer } from './headers.js';
import { answerAndDrain, answerError } from './raw-answer.js';
import { plainBodyBytesMax } from './request-head.js';

/** What node keeps of the head: set, so that it knows that we have sent one. */
interface SentHead {
  _header: string | null;
  _headerSent: boolean;
}

interface CallerOptions {
  readonly origin: Origin;
  /** The client waits for `100 Continue` before it sends its body. */
  readonly awaitsContinue: boolean;
  /** How long a caller may take nothing of an answer that waits for it. */
  readonly unreadMs: number;
  /** Of a session of the dashboard, whose answers node writes itself, for one origin alone. */
  readonly session?: Identity | null;
}

export class NodeCaller implements ChatCaller {
  identity: Identity | null;
  gone = false;
  onGone: (() => void) | null = null;
  onDrain: (() => void) | null = null;
  /** Set where the service is reached over https. */
  overHttps = false;
  /** The head of a stream, until it leaves together with the first frames. */
  private unsentHead = '';
  /** Set while we write to the socket ourselves. */
  private socket: Socket | null = null;
  private waitsForDrain = false;
  private hold: BodyHold | null = null;
  private endReading: ((error: Error) => void) | null = null;

  readonly origin: Origin;
  private awaitsContinue: boolean;
  private readonly unreadMs: number;
  private readonly session: Identity | null;

  constructor(
    private readonly req: IncomingMessage,
    private readonly res: ServerResponse,
    { origin, awaitsContinue, unreadMs, session = null }: CallerOptions,
  ) {
    this.origin = origin;
    this.awaitsContinue = awaitsContinue;
    this.unreadMs = unreadMs;
    this.session = session;
    this.identity = session;
    res.on('close', () => {
      if (!res.writableFinished) this.left();
    });
    if (res.socket === null) this.watchConnection(req.socket);
  }

  get authorization(): string | undefined {
    return rawHeader(this.req, 'authorization');
  }

  get contentType(): string | undefined {
    return rawHeader(this.req, 'content-type');
  }

  get contentLength(): number | null {
    const header = rawHeader(this.req, 'content-length');
    return header === undefined ? null : Number(header);
  }

  private get heads() {
    return this.session ? sameOriginHeads : apiHeads;
  }

  private get fromBrowser(): boolean {
    return rawHeader(this.req, 'origin') !== undefined;
  }

  header(name: string): string | undefined {
    return rawHeader(this.req, name);
  }

  bodyAtHand(): null {
    return null;
  }

  readBody(hold: BodyHold): Promise<Buffer> {
    const { req } = this;
    // It will not close a second time.
    if (this.gone) return Promise.reject(new CallerGone());
    if (this.awaitsContinue) {
      this.awaitsContinue = false;
      this.res.writeContinue();
    }
    this.hold = hold;
    return new Promise((resolve, failed) => {
      const done = (body: Buffer | null): void => {
        this.endReading = null;
        atEndOfTurn('requests', () => resolve(body!));
      };
      this.endReading = receiveBody({ req, hold, keptBytesMax: bodyBytesMax, done, failed });
    });
  }

  releaseBody(): void {
    this.hold?.release();
  }

  answer(headers: readonly string[], body: AnswerBody): void {
    if (this.gone) return;
    const socket = body instanceof AnswerBytes ? this.ownSocket() : null;
    if (socket) {
      writeAnswer(socket, body, headStarts(this.overHttps), { headers, fromBrowser: this.fromBrowser });
      this.markSent();
    } else {
      const pieces = body instanceof AnswerBytes ? [body.body] : body;
      this.res.writeHead(200, [...this.heads.json, 'content-length', String(bytesIn(pieces)), ...headers]);
      for (const piece of pieces) this.res.write(piece);
    }
    this.res.end();
    this.dropIfUnread();
  }

  openStream(headers: readonly string[]): void {
    this.socket = this.ownSocket();
    if (this.socket) this.unsentHead = streamHead(headStarts(this.overHttps), headers, this.fromBrowser);
    else this.res.writeHead(200, [...this.heads.stream, ...headers]);
  }

  write(text: string): boolean {
    if (this.gone) return true;
    const target = this.socket ?? this.res;
    const flowing = this.socket ? this.socket.write(this.framed(text), 'latin1') : this.res.write(text, 'latin1');
    if (!flowing && !this.waitsForDrain) {
      this.waitsForDrain = true;
      target.once('drain', () => {
        this.waitsForDrain = false;
        this.onDrain?.();
      });
    }
    return flowing;
  }

  endStream(text: string): void {
    if (this.gone) return;
    if (this.socket) {
      this.socket.write(`${this.framed(text)}0\r\n\r\n`, 'latin1');
      this.res.end();
    } else {
      this.res.end(text, 'latin1');
    }
    this.dropIfUnread();
  }

  refuse(error: GatewayError, requestId: string, headers: Readonly<Record<string, string>>): void {
    const { req, res } = this;
    if (res.headersSent || res.destroyed) res.destroy();
    else if (bodyIsLeft(req)) answerAndDrain(req, res, error, requestId, headers);
    else answerError(req, res, error, requestId, headers);
  }

  abandon(): void {
    if (!this.res.headersSent) this.res.destroy();
  }

  /** Bytes that the caller does not take are kept only while it still takes some. */
  private dropIfUnread(): void {
    const { socket } = this.req;
    if (!limitUnread(socket, this.unreadMs)) return;
    // Node takes the answer for finished and sets the timeout of an idle connection, which this one is not.
    this.res.once('finish', () => void socket.setTimeout(this.unreadMs));
    // Reset: a close would leave the bytes to the system, which would wait for the caller in turn.
    socket.prependOnceListener('timeout', () => socket.writableLength > 0 && socket.resetAndDestroy());
  }

  /** The socket, where this answer is the one whose turn it is and the connection is to be kept. */
  private ownSocket(): Socket | null {
    const { req, res } = this;
    if (this.session) return null;
    return req.httpVersionMinor === 1 && res.shouldKeepAlive && !res.headersSent ? res.socket : null;
  }

  private left(): void {
    if (this.gone) return;
    this.gone = true;
    this.endReading?.(new CallerGone());
    this.onGone?.();
  }

  /** Node reports a closed connection only to the current response, so pipelined responses check it themselves. */
  private watchConnection(connection: Socket): void {
    const left = () => this.left();
    connection.setMaxListeners(0).once('close', left);
    this.res.once('close', () => connection.off('close', left));
  }

  private markSent(): void {
    const sent = this.res as unknown as SentHead;
    sent._header = 'sent';
    sent._headerSent = true;
  }

  private framed(text: string): string {
    const chunk = chunkOf(text);
    if (this.unsentHead === '') return chunk;
    const head = this.unsentHead;
    this.unsentHead = '';
    this.markSent();
    return head + chunk;
  }
}

/** A short unread body is left to node, which throws it away and keeps the connection. */
function bodyIsLeft(req: IncomingMessage): boolean {
  if (req.complete) return false;
  const length = req.headers['content-length'];
  return length === undefined ? req.headers['transfer-encoding'] !== undefined : Number(length) > plainBodyBytesMax;
}
