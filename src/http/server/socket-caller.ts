/** A caller whose request was read from its socket without node:http. Every answer, and every piece of a stream, is one write. */
import type { Socket } from 'node:net';
import { joinedHeader } from '../../base/raw-header.js';
import { atEndOfTurn, type MaybePromise } from '../../base/turn.js';
import type { Identity } from '../../domain/account.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import type { BodyHold, BodyMemory } from '../../limits/body-memory.js';
import { type AnswerBody, CallerGone } from '../../pipeline/caller.js';
import type { Origin } from '../../territory/territories.js';
import { unknownTerritory } from '../../territory/territory.js';
import type { ChatCaller, RequestSource } from './chat-caller.js';
import {
  chunkOf,
  connectionHeaders,
  type HeadStarts,
  headStarts,
  httpsOnlyHeader,
  streamHead,
  writeAnswer,
} from './headers.js';
import { pieceOf } from './kept-bytes.js';
import { errorText } from './raw-answer.js';
import { type HeadParser, hasLine, rawHeadersOf } from './request-head.js';

/** The connection that a request came on. */
export interface CallerConnection {
  readonly socket: Socket;
  /** An answer that has not begun is to be the last one. */
  closing: boolean;
  /** Set by the answer: it says that the connection ends with it. */
  endAnnounced: boolean;
  /** The whole answer is written. `unreadMs` is how long the client may leave it unread. */
  answered(unreadMs?: number): void;
  /** Closes the connection unless it is closing already. */
  abandon(): void;
}

type WaitingBodies = Pick<BodyMemory, 'takeWaiting' | 'giveWaiting' | 'waitingRefusal'>;

const nowhere: Origin = { address: '', territory: unknownTerritory };

export class SocketCaller implements ChatCaller, RequestSource {
  identity: Identity | null = null;
  gone = false;
  onGone: (() => void) | null = null;
  onDrain: (() => void) | null = null;
  /** These three are set by the handler before the pipeline starts. */
  origin = nowhere;
  overHttps = false;
  unreadMs = 0;

  readonly contentLength: number;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  /** Whether the whole body has arrived. */
  complete: boolean;
  private readonly fromBrowser: boolean;
  private headers: string[] | null = null;
  /** What has arrived of the body after its first part. */
  private morePieces: Buffer[] = [];
  private hold: BodyHold | null = null;
  /** Set while the request waits for its admission, and what its body holds meanwhile. */
  private waitingIn: WaitingBodies | null = null;
  private waitingBytes = 0;
  /** There was no memory for the body while the request waited. */
  private refusal: GatewayError | null = null;
  /** Set while the pipeline waits for the body. */
  private reading: { done(body: Buffer): void; failed(error: Error): void } | null = null;
  /** The head of a stream, until it leaves together with the first frames. */
  private unsentHead = '';
  private begun = false;

  /** `head` is the text of the head that `parser` accepted last, `body` what has arrived of the body with it. */
  constructor(
    private readonly connection: CallerConnection,
    parser: HeadParser,
    private readonly head: string,
    private firstPiece: Buffer | null,
  ) {
    const { authorizationStart, contentTypeStart, contentLength } = parser;
    this.contentLength = contentLength;
    this.authorization = authorizationStart === 0 ? undefined : head.slice(authorizationStart, parser.authorizationEnd);
    this.contentType = contentTypeStart === 0 ? undefined : head.slice(contentTypeStart, parser.contentTypeEnd);
    this.fromBrowser = parser.fromBrowser;
    this.complete = firstPiece!.length === contentLength;
  }

  get socket(): Socket {
    return this.connection.socket;
  }

  get rawHeaders(): readonly string[] {
    this.headers ??= rawHeadersOf(this.head);
    return this.headers;
  }

  /** Most requests lack what is asked for, and looking for the name is cheaper than a list of all headers. */
  header(name: string): string | undefined {
    return hasLine(this.head, name) ? joinedHeader(this.rawHeaders, name) : undefined;
  }

  bodyAtHand(): Buffer | null {
    return this.complete && this.morePieces.length === 0 ? this.firstPiece : null;
  }

  /** The request is not admitted in the turn in which it came. What has arrived of its body counts until it is. */
  waitIn(memory: WaitingBodies): void {
    if (this.hold || this.waitingIn || this.refusal) return;
    this.waitingIn = memory;
    this.takeWaiting(this.firstPiece!.length);
  }

  private takeWaiting(bytes: number): void {
    const taken = this.waitingIn!.takeWaiting(bytes);
    this.waitingBytes += taken;
    if (taken > 0) return;
    this.refusal = this.waitingIn!.waitingRefusal();
    this.forgetBody();
    this.endWaiting();
  }

  private endWaiting(): void {
    if (this.waitingBytes > 0) this.waitingIn!.giveWaiting(this.waitingBytes);
    this.waitingBytes = 0;
    this.waitingIn = null;
  }

  readBody(hold: BodyHold): MaybePromise<Buffer> {
    // It will not leave a second time.
    if (this.gone) return Promise.reject(new CallerGone());
    if (this.waitingIn) this.endWaiting();
    if (this.refusal) throw this.refusal;
    this.hold = hold;
    if (this.complete) {
      const body = this.body();
      const refusal = hold.add(body.length);
      if (refusal) throw refusal;
      return body;
    }
    return new Promise((resolve, reject) => {
      const done = (body: Buffer): void => atEndOfTurn('requests', () => resolve(body));
      this.reading = { done, failed: reject };
      const arrived = this.morePieces.reduce((bytes, piece) => bytes + piece.length, this.firstPiece!.length);
      const refusal = hold.add(arrived);
      if (refusal) this.endReading(refusal);
      else hold.receive(this, (error) => this.endReading(error));
    });
  }

  /** More of the body has arrived. The bytes are free again after the call. */
  takeBody(bytes: Buffer, isLast: boolean): void {
    this.complete = isLast;
    if (this.refusal) return;
    this.morePieces.push(pieceOf(bytes, bytes.length));
    const { reading, hold } = this;
    if (!reading) {
      if (this.waitingIn) this.takeWaiting(bytes.length);
      return;
    }
    const refusal = hold!.add(bytes.length);
    if (refusal) this.endReading(refusal);
    else if (isLast) {
      this.reading = null;
      hold!.received();
      reading.done(this.body());
    }
  }

  private body(): Buffer {
    const first = this.firstPiece!;
    const body = this.morePieces.length === 0 ? first : Buffer.concat([first, ...this.morePieces], this.contentLength);
    this.forgetBody();
    return body;
  }

  private forgetBody(): void {
    this.firstPiece = null;
    if (this.morePieces.length > 0) this.morePieces = [];
  }

  private endReading(error: Error): void {
    const { reading } = this;
    if (!reading) return;
    this.reading = null;
    // Released at once: the rest of a refused body may still take long to come.
    this.forgetBody();
    this.hold!.release();
    reading.failed(error);
  }

  releaseBody(): void {
    this.hold?.release();
  }

  answer(headers: readonly string[], body: AnswerBody): void {
    if (this.gone) return;
    this.begun = true;
    writeAnswer(this.socket, body, this.startHead(), { headers, fromBrowser: this.fromBrowser });
    this.connection.answered(this.unreadMs);
  }

  openStream(headers: readonly string[]): void {
    this.unsentHead = streamHead(this.startHead(), headers, this.fromBrowser);
  }

  write(text: string): boolean {
    return this.gone || this.socket.write(this.framed(text), 'latin1');
  }

  endStream(text: string): void {
    if (this.gone) return;
    this.socket.write(`${this.framed(text)}0\r\n\r\n`, 'latin1');
    this.connection.answered(this.unreadMs);
  }

  refuse(error: GatewayError, requestId: string, headers: Readonly<Record<string, string>>): void {
    const { connection } = this;
    if (this.waitingIn) this.endWaiting();
    if (this.begun || this.gone) {
      connection.abandon();
      return;
    }
    this.begun = true;
    if (error.extras.headers?.connection === 'close') connection.closing = true;
    connection.endAnnounced = connection.closing;
    const about = connectionHeaders[connection.closing ? 'closed' : 'kept'];
    const extraHeaders = { ...(this.overHttps && httpsOnlyHeader), ...headers, ...about };
    this.socket.write(errorText(error, requestId, '/v1/', extraHeaders));
    connection.answered();
  }

  abandon(): void {
    if (!this.begun) this.connection.abandon();
  }

  /** The connection is closed, or the client has ended its side, before the answer was complete. */
  leave(): void {
    if (this.gone) return;
    this.gone = true;
    if (this.waitingIn) this.endWaiting();
    this.endReading(new CallerGone());
    this.onGone?.();
  }

  private startHead(): HeadStarts {
    const { connection } = this;
    connection.endAnnounced = connection.closing;
    return headStarts(this.overHttps, connection.closing ? 'closed' : 'kept');
  }

  private framed(text: string): string {
    const chunk = chunkOf(text);
    if (this.unsentHead === '') return chunk;
    const head = this.unsentHead;
    this.unsentHead = '';
    this.begun = true;
    return head + chunk;
  }
}
