/** One message of a Responses WebSocket and its response, as the pipeline sees it: a caller whose stream is sent event by event. */
import { isUtf8 } from 'node:buffer';
import type { MaybePromise } from '../../base/turn.js';
import type { Identity } from '../../domain/account.js';
import { socketError } from '../../doors/responses/socket-error.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import type { BodyHold } from '../../limits/body-memory.js';
import { bodyBytesMax, bodyTooLarge } from '../../pipeline/admit.js';
import { type AnswerBody, AnswerBytes, CallerGone } from '../../pipeline/caller.js';
import type { Origin } from '../../territory/territories.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import type { ChatCaller } from '../server/chat-caller.js';
import { plainBodyBytesMax } from '../server/request-head.js';

/** The connection that a message came on. */
export interface TurnConnection {
  readonly origin: Origin;
  readonly authorization: string | undefined;
  /** A header of the handshake. */
  header(name: string): string | undefined;
  /** Sends text messages. False = slow, `onDrain` is called later. */
  send(messages: readonly Buffer[]): boolean;
  /** The response is over. `error` is what it was refused with. */
  turnEnded(turn: SocketTurn, error: GatewayError | null): void;
  /** Closes the connection in the middle of a response. */
  breakOff(): void;
}

/** The event that ends a response, with its name. */
const terminalEvents: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete']);

export class SocketTurn implements ChatCaller {
  identity: Identity | null = null;
  gone = false;
  onGone: (() => void) | null = null;
  onDrain: (() => void) | null = null;
  readonly contentType = 'application/json';
  readonly contentLength: number;
  /** What was read from the message, once a route was asked. */
  request: ChatRequest | null = null;
  /** The last event in latin1; null while the response has not ended with one. */
  terminalEvent: string | null = null;
  private hold: BodyHold | null = null;
  private begun = false;
  private over = false;

  constructor(
    private readonly connection: TurnConnection,
    private body: Buffer | null,
  ) {
    this.contentLength = body!.length;
  }

  get origin(): Origin {
    return this.connection.origin;
  }

  get authorization(): string | undefined {
    return this.connection.authorization;
  }

  header(name: string): string | undefined {
    return this.connection.header(name);
  }

  /** A large one is read in another thread, which takes it over. */
  bodyAtHand(): Buffer | null {
    return this.body!.length <= plainBodyBytesMax ? this.body : null;
  }

  readBody(hold: BodyHold): MaybePromise<Buffer> {
    if (this.gone) return Promise.reject(new CallerGone());
    const body = this.body!;
    this.body = null;
    this.hold = hold;
    // With the conversation before it, a message may be longer than a client could send.
    if (body.length > bodyBytesMax) throw bodyTooLarge(`${body.length} bytes with the conversation that it continues`);
    const refusal = hold.add(body.length);
    if (refusal) throw refusal;
    return body;
  }

  releaseBody(): void {
    this.hold?.release();
  }

  /** Requests of a socket ask for a stream, so this is not called. */
  answer(_: readonly string[], body: AnswerBody): void {
    this.connection.send([body instanceof AnswerBytes ? body.body : Buffer.concat(body)]);
    this.end(null);
  }

  openStream(): void {
    this.begun = true;
  }

  write(text: string): boolean {
    return this.gone || this.connection.send(this.messagesIn(text));
  }

  endStream(text: string): void {
    if (this.gone) return;
    this.write(text);
    this.end(null);
  }

  refuse(error: GatewayError, requestId: string, headers: Readonly<Record<string, string>>): void {
    if (this.gone || this.over) return;
    if (this.begun) {
      this.connection.breakOff();
      return;
    }
    this.connection.send([Buffer.from(socketError(error, { ...headers, 'x-request-id': requestId }))]);
    this.end(error);
  }

  abandon(): void {
    this.end(null);
  }

  /** The connection is closed. */
  leave(): void {
    if (this.gone || this.over) return;
    this.gone = true;
    this.onGone?.();
  }

  private end(error: GatewayError | null): void {
    if (this.over) return;
    this.over = true;
    this.connection.turnEnded(this, error);
  }

  /** The data of each event of a stream. The framing of the stream is not sent. */
  private messagesIn(text: string): Buffer[] {
    const messages: Buffer[] = [];
    for (let at = 0; at < text.length; ) {
      const next = text.indexOf('\n\n', at);
      const end = next === -1 ? text.length : next;
      const dataAt = text.indexOf('\ndata: ', at);
      if (dataAt !== -1 && dataAt < end) {
        const data = text.slice(dataAt + '\ndata: '.length, end);
        if (terminalEvents.has(text.slice(at + 'event: '.length, dataAt))) this.terminalEvent = data;
        messages.push(validUtf8(Buffer.from(data, 'latin1')));
      }
      at = end + 2;
    }
    return messages;
  }
}

/** A client must close a connection on which text is not UTF-8, and an upstream may have sent anything. */
function validUtf8(bytes: Buffer): Buffer {
  return isUtf8(bytes) ? bytes : Buffer.from(bytes.toString('utf8'));
}
