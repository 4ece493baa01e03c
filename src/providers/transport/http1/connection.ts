/** A connection to an origin with one request at a time. All connections read into one shared buffer. */

import { connect as connectPlain, type Socket, setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { markSending, markSent } from '../../../base/large-memory.js';
import { atEndOfTurn } from '../../../base/turn.js';
import type { OutgoingBody } from '../../../wire/outgoing-body.js';
import type { UpstreamHandler } from '../transport.js';
import type { UpstreamProxy } from '../upstream-proxy.js';
import { largeReadBytes, ReadTurns } from './read-turns.js';
import { ResponseParser } from './response-parser.js';
import type { TlsSessions } from './tls-sessions.js';
import { openTunnel, proxyError, tcpKeepAliveMs } from './tunnel.js';

export interface UpstreamOrigin {
  secure: boolean;
  host: string;
  port: number;
  /** The proxy in between. A plain upstream is asked through the proxy itself, one with TLS through a tunnel. */
  proxy?: UpstreamProxy | null;
}

/** A request and the handler of its response. */
export interface SentRequest extends UpstreamHandler {
  readonly head: string;
  readonly body: OutgoingBody;
  /** The request is over and the connection can serve another. */
  onFree(): void;
}

/**
 * Each read is processed completely before the next one, so all connections can share one buffer. A stream with a slow client
 * keeps the data of one read, so a larger buffer costs more memory per slow client.
 */
const readBuffer = Buffer.allocUnsafeSlow(16 * 1024);
const readTurns = new ReadTurns();
/** How much earlier than the server says that it closes idle connections this side stops using one. */
const hintMarginMs = 1_000;
/** Node's default of 250 ms would give up on an address that is only far away. */
setDefaultAutoSelectFamilyAttemptTimeout(2_000);

export class Connection {
  /** A request has been answered on this socket before. */
  reused = false;
  /** The kernel has not taken a byte of the current request, on a socket that was already open: it is certainly not sent. */
  unsent = false;
  openedAtMs = 0;
  idleSinceMs = 0;
  /** From the hint of the last answer, if it had one. */
  idleMsMax = Number.POSITIVE_INFINITY;
  /** Before the next request is written, the event loop checks once more whether the server has closed the connection. */
  checksFirst = false;
  /** The server closed the connection while it was idle, or before it answered. */
  onClosedByServer: () => void = () => {};
  /** The socket to the upstream, or to the proxy until its tunnel is open. */
  socket: Socket;
  private request: SentRequest | null = null;
  private awaitsSend = false;
  /** No tunnel yet: what is written goes out once it is open. */
  private awaitsTunnel = false;
  private answered = false;
  private closing = false;
  private readonly parser: ResponseParser;
  private readonly resumeNow = (): void => {
    this.socket.resume();
  };
  private readonly resume = (): void => readTurns.resume(this.resumeNow);

  constructor(
    private readonly origin: UpstreamOrigin,
    private readonly sessions: TlsSessions,
  ) {
    this.parser = new ResponseParser({
      onHead: (status, headers) => {
        this.answered = true;
        this.request?.onHeaders(status, headers, this.resume);
      },
      onBody: (view) => this.request?.onData(view) ?? true,
    });
    if (origin.secure && origin.proxy) {
      this.awaitsTunnel = true;
      this.socket = this.openThrough(origin.proxy);
    } else {
      this.socket = this.openDirect(origin.proxy ?? origin);
      this.follow();
    }
  }

  private follow(): void {
    this.socket.setNoDelay(true).setKeepAlive(true, tcpKeepAliveMs);
    this.socket.on('end', () => this.handleEnd());
    this.socket.on('error', (error) => (this.request ? this.fail(error) : this.handleEnd()));
    this.socket.on('close', () => this.handleEnd());
  }

  get alive(): boolean {
    return !this.socket.destroyed && !this.socket.errored && !this.socket.readableEnded;
  }

  /** Sends at the end of this turn. */
  send(request: SentRequest): void {
    this.request = request;
    this.unsent = this.reused;
    this.awaitsSend = true;
    this.answered = false;
    this.parser.reset();
    atEndOfTurn('sends', () => {
      // An immediate inside an immediate runs after the sockets have been read again, so a close that has arrived is known.
      if (this.checksFirst) setImmediate(() => this.write(request));
      else this.write(request);
    });
  }

  private write(request: SentRequest): void {
    if (this.request !== request) return;
    this.awaitsSend = false;
    if (this.awaitsTunnel) return;
    const { socket } = this;
    const { head, body } = request;
    if (typeof body === 'string') {
      socket.write(head + body, 'latin1');
    } else {
      socket.cork();
      socket.write(head, 'latin1');
      if (Buffer.isBuffer(body)) socket.write(body);
      else this.writePieces(body);
      socket.uncork();
    }
    // The kernel has taken it, or has refused it immediately.
    this.unsent &&= Boolean(socket.errored);
  }

  /** The pieces are those of the request, whose memory is not given back before they are sent. */
  private writePieces(pieces: readonly Buffer[]): void {
    for (const piece of pieces) {
      markSending(piece);
      this.socket.write(piece);
    }
  }

  /** Closes the connection without calling any handler. */
  destroy(): void {
    this.request = null;
    this.close();
  }

  private openDirect({ secure, host, port }: UpstreamOrigin): Socket {
    if (secure) return this.openTls({ host, port });
    const callback = (length: number): boolean => this.takeInTurn(readBuffer.subarray(0, length));
    return connectPlain({ host, port, onread: { buffer: readBuffer, callback } });
  }

  private openThrough(proxy: UpstreamProxy): Socket {
    return openTunnel(proxy, this.origin, this.sessions, {
      onOpen: (socket) => {
        this.socket = this.openTls(this.origin, socket);
        this.follow();
        this.awaitsTunnel = false;
        // Otherwise the request is still to come at the end of this turn, and is written then.
        if (this.request && !this.awaitsSend) this.write(this.request);
      },
      onError: (error) => this.fail(error),
    });
  }

  /** `tunnel` is a socket on which the upstream is already reached. */
  private openTls(server: { host: string; port: number }, tunnel?: Socket): Socket {
    const socket = this.sessions.open(server, tunnel);
    socket.on('data', (bytes: Buffer) => {
      if (!this.takeInTurn(bytes)) socket.pause();
    });
    return socket;
  }

  /** False where the socket must pause: its reader is behind, or this turn of the event loop has read enough. */
  private takeInTurn(bytes: Buffer): boolean {
    const isLarge = bytes.length >= largeReadBytes;
    return this.take(bytes) && (!isLarge || readTurns.admits(bytes.length, this.resumeNow));
  }

  private take(bytes: Buffer): boolean {
    if (!this.request) {
      // Bytes without a request: request and response no longer match.
      this.destroy();
      return true;
    }
    if (this.awaitsSend) {
      // A response before the request, such as the 408 of a server that closes idle connections.
      this.fail(Object.assign(new Error('it answered before the request was sent'), { code: 'ECONNRESET' }));
      return true;
    }
    try {
      const flowing = this.parser.take(bytes);
      if (!this.parser.done) return flowing;
      this.complete();
    } catch (error) {
      // An error of the upstream or of the handler ends this request only.
      this.fail(error as Error);
    }
    return true;
  }

  private complete(): void {
    const { request, parser } = this;
    this.request = null;
    if (!request) return;
    const hint = parser.keepAliveMs;
    this.idleMsMax = hint === null ? Number.POSITIVE_INFINITY : hint - hintMarginMs;
    const { isSent } = this;
    if (isSent && Array.isArray(request.body)) request.body.forEach(markSent);
    if (!parser.reusable) this.close();
    // TLS reports a write one turn later, so an answer that came meanwhile is read first.
    else if (!isSent) setImmediate(() => this.free(request));
    else this.free(request);
    request.onEnd();
  }

  private free(request: SentRequest): void {
    if (this.alive && this.isSent) {
      this.reused = true;
      request.onFree();
    } else {
      // Answered before the whole request was sent: the rest may never be read and would block the next request.
      this.close();
    }
  }

  private get isSent(): boolean {
    return this.socket.writableLength === 0;
  }

  private close(): void {
    this.closing = true;
    this.socket.destroy();
  }

  private handleEnd(): void {
    if (!this.request) this.reportClose();
    else if (this.parser.closed()) this.complete();
    else this.fail(Object.assign(new Error('it closed the connection'), { code: 'ECONNRESET' }));
  }

  private fail(error: Error): void {
    const { request } = this;
    const { proxy, secure } = this.origin;
    this.request = null;
    if (this.reused && !this.answered) this.reportClose();
    this.close();
    request?.onError(proxy && !secure && !this.answered ? proxyError(proxy, error) : error);
  }

  /** Reports a close once, and only where this side did not close. */
  private reportClose(): void {
    if (this.closing) return;
    this.closing = true;
    this.onClosedByServer();
  }
}
