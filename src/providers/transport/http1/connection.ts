/** One connection to an origin, one exchange at a time, on a bare socket: reads land in one buffer that all connections share. */
import { connect as connectPlain, type Socket, setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { atEndOfTurn } from '../../../base/turn.js';
import type { UpstreamHandler } from '../transport.js';
import { largeReadBytes, ReadTurns } from './read-turns.js';
import { ResponseParser } from './response-parser.js';

export interface Origin {
  secure: boolean;
  host: string;
  port: number;
}

/** One request and whoever takes its answer. */
export interface Exchange extends UpstreamHandler {
  readonly head: string;
  readonly body: string | Buffer;
  /** The exchange is over and the connection can serve another. */
  onFree(): void;
}

/**
 * A read is handled to its end before the next one begins, so one buffer serves them all. A stream whose caller is slow holds what
 * became of one read, so a larger buffer makes that larger.
 */
const readBuffer = Buffer.allocUnsafeSlow(16 * 1024);
const readTurns = new ReadTurns();
const tcpKeepAliveMs = 30_000;
/** Without a hint of the server idle sockets are closed before a usual server would (5 s): keep-alive races stay rare. */
const idleMsDefault = 4_000;
const idleMsMax = 60_000;
const hintMarginMs = 1_000;
/** Node's own 250 ms would give up an address that is merely far away. */
setDefaultAutoSelectFamilyAttemptTimeout(2_000);

export class Connection {
  /** A request has been answered on this socket before. */
  reused = false;
  /** Not a byte of the present request has been taken by the kernel, on a socket that was open before: it is provably unsent. */
  unsent = false;
  idleSinceMs = 0;
  idleMsMax = idleMsDefault;
  /** Before the next request is written, the event loop looks once more whether the server has closed the connection. */
  looksFirst = false;
  /** The server closed the connection while it was kept, or before it answered anything on it. */
  onClosedByServer: () => void = () => {};
  readonly socket: Socket;
  private exchange: Exchange | null = null;
  private awaitsSend = false;
  private answered = false;
  private closing = false;
  private readonly parser: ResponseParser;
  private readonly resumeNow = (): void => {
    this.socket.resume();
  };
  private readonly resume = (): void => readTurns.resume(this.resumeNow);

  constructor(origin: Origin) {
    this.parser = new ResponseParser({
      onHead: (status, headers) => {
        this.answered = true;
        this.exchange?.onHeaders(status, headers, this.resume);
      },
      onBody: (view) => this.exchange?.onData(view) ?? true,
    });
    this.socket = origin.secure ? this.openTls(origin) : this.openPlain(origin);
    this.socket.setNoDelay(true).setKeepAlive(true, tcpKeepAliveMs);
    this.socket.on('end', () => this.ended());
    this.socket.on('error', (error) => (this.exchange ? this.failed(error) : this.ended()));
    this.socket.on('close', () => this.ended());
  }

  get alive(): boolean {
    return !this.socket.destroyed && !this.socket.errored && !this.socket.readableEnded;
  }

  /** Sends at the end of this turn. */
  send(exchange: Exchange): void {
    this.exchange = exchange;
    this.unsent = this.reused;
    this.awaitsSend = true;
    this.answered = false;
    this.parser.reset();
    atEndOfTurn('sends', () => {
      // An immediate of an immediate runs after the sockets have been read again: a close that has arrived is then known.
      if (this.looksFirst) setImmediate(() => this.write(exchange));
      else this.write(exchange);
    });
  }

  private write(exchange: Exchange): void {
    if (this.exchange !== exchange) return;
    const { socket } = this;
    const { head, body } = exchange;
    this.awaitsSend = false;
    if (typeof body === 'string') {
      socket.write(head + body, 'latin1');
    } else {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(body);
      socket.uncork();
    }
    // The kernel has taken it, or has refused it on the spot.
    this.unsent &&= Boolean(socket.errored);
  }

  /** Ends the connection whatever it is doing; nobody is told. */
  destroy(): void {
    this.exchange = null;
    this.closing = true;
    this.socket.destroy();
  }

  private openPlain({ host, port }: Origin): Socket {
    const callback = (length: number): boolean => this.takeInTurn(readBuffer.subarray(0, length));
    return connectPlain({ host, port, onread: { buffer: readBuffer, callback } });
  }

  private openTls({ host, port }: Origin): Socket {
    const socket = connectTls({
      host,
      port,
      servername: isAddress(host) ? '' : host,
      ALPNProtocols: ['http/1.1'],
    });
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
    if (!this.exchange) {
      // Nothing was asked: whatever this is, the connection is not in step.
      this.destroy();
      return true;
    }
    if (this.awaitsSend) {
      // An answer to nothing, such as a farewell of a server that closes idle connections.
      this.failed(Object.assign(new Error('it spoke before it was asked'), { code: 'ECONNRESET' }));
      return true;
    }
    try {
      const flowing = this.parser.take(bytes);
      if (!this.parser.done) return flowing;
      this.complete();
    } catch (error) {
      // A fault of the upstream, or of whoever takes its answer: either way it ends this exchange and no other.
      this.failed(error as Error);
    }
    return true;
  }

  private complete(): void {
    const { exchange, parser } = this;
    this.exchange = null;
    if (!exchange) return;
    // Answered before the whole request was sent: what is left of it may never be read, and would block the next one.
    if (parser.reusable && this.alive && this.socket.writableLength === 0) {
      this.reused = true;
      const hint = parser.keepAliveMs;
      this.idleMsMax = hint === null ? idleMsDefault : Math.min(Math.max(hint - hintMarginMs, 0), idleMsMax);
      exchange.onFree();
    } else {
      this.closing = true;
      this.socket.destroy();
    }
    exchange.onEnd();
  }

  private ended(): void {
    if (!this.exchange) this.closed();
    else if (this.parser.closed()) this.complete();
    else this.failed(Object.assign(new Error('it closed the connection'), { code: 'ECONNRESET' }));
  }

  private failed(error: Error): void {
    const { exchange } = this;
    this.exchange = null;
    if (this.reused && !this.answered) this.closed();
    this.closing = true;
    this.socket.destroy();
    exchange?.onError(error);
  }

  /** Reported once, and only where it was not this side that closed. */
  private closed(): void {
    if (this.closing) return;
    this.closing = true;
    this.onClosedByServer();
  }
}

function isAddress(host: string): boolean {
  return /^[\d.]+$|:/.test(host);
}
