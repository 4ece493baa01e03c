/**
 * One client connection that is read without node:http while it sends plain requests to the doors, one at a time. With the first bytes
 * that are anything else, the connection goes to node:http for good, with all bytes that were not used (docs/decisions/0037).
 */
import type { Socket } from 'node:net';
import { atEndOfTurn, inLaterTurn, takesTurn } from '../../base/turn.js';
import type { Door } from '../../doors/door.js';
import type { EarlyHold } from '../../limits/body-memory.js';
import { peerOf } from '../../limits/rate-limits.js';
import { adoptSocket } from './adopt-socket.js';
import type { ConnectionOwner, ParserFault, SweptConnection } from './connection-owner.js';
import { closeIdle, limitUnread } from './connections.js';
import { copyOf, KeptBytes, pieceOf } from './kept-bytes.js';
import { endAndLinger } from './malformed-requests.js';
import { HeadParser, headIncomplete, headNotAccepted } from './request-head.js';
import { type CallerConnection, SocketCaller } from './socket-caller.js';

/** All connections are read into one buffer, because what is in it is used or copied before the next read. */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);
/** What a client sends ahead of its answer is kept up to this size. Then it is read no further. */
const earlyBytesMax = 64 * 1024;
const parser = new HeadParser();

const timedOut: ParserFault = { code: 'ERR_HTTP_REQUEST_TIMEOUT', message: 'Request timeout' };
const cutOff: ParserFault = { code: 'HPE_INVALID_EOF_STATE', message: 'Parse Error: Invalid EOF state' };

/**
 * `head`: a part of a head is there. `skipping`: the rest of a refused body is thrown away. `leaving`: the connection goes to node:http
 * as soon as the client has taken its answer. `over`: it is closing, or is with node:http.
 */
type State = 'idle' | 'head' | 'serving' | 'skipping' | 'leaving' | 'over';

export class FastConnection implements CallerConnection, SweptConnection {
  readonly socket: Socket;
  closing = false;
  endAnnounced = false;
  private state: State = 'idle';
  /** When the connection became idle, or the first byte of its request arrived. Monotonic milliseconds. */
  private since = performance.now();
  private wasUsed = false;
  private caller: SocketCaller | null = null;
  private door: Door = parser.door;
  private bodyLeft = 0;
  /** Bytes that wait: the head so far, or what the client has sent ahead of its answer. */
  private kept: KeptBytes | null = null;
  /** The memory that they hold. */
  private early: EarlyHold | null = null;
  /** There was no memory for what the client has sent ahead of its answer, which therefore is the last one. */
  private endsUnread = false;
  private headParser: HeadParser | null = null;

  constructor(
    accepted: Socket,
    private readonly owner: ConnectionOwner,
  ) {
    const callback = (length: number): boolean => {
      this.read(length);
      return true;
    };
    this.socket = adoptSocket(accepted, { buffer: readBuffer, callback }, false);
    this.socket
      .on('drain', () => this.caller?.onDrain?.())
      .on('end', () => this.onEnd())
      .on('timeout', () => this.onTimeout())
      .on('error', () => this.socket.destroy())
      .on('close', () => this.onClose());
  }

  get isBusy(): boolean {
    return this.caller !== null || this.socket.writableLength > 0;
  }

  destroy(): void {
    this.socket.destroy();
  }

  closeUnlessAnswering(): void {
    if (this.caller) this.closing = true;
    else if (this.socket.writableLength > 0 || this.state === 'over') return;
    else if (this.state === 'skipping') this.linger();
    else closeIdle(this.socket);
  }

  /** Ends a connection whose client takes too long to send. One timer calls this for all connections. */
  sweep(now: number): void {
    const { headersTimeout, requestTimeout, keepAliveTimeout } = this.owner.times;
    const ageMs = now - this.since;
    if (this.state === 'idle' && this.wasUsed) {
      // An answer that the client has not read yet has a time limit of its own.
      if (ageMs >= keepAliveTimeout && this.socket.writableLength === 0) this.socket.destroy();
    } else if (this.state === 'idle' || this.state === 'head') {
      if (ageMs >= headersTimeout) this.refuse(timedOut);
    } else if (this.bodyLeft > 0 && ageMs >= requestTimeout) {
      if (this.state === 'serving') this.refuse(timedOut);
      else if (this.state === 'skipping') this.linger();
    }
  }

  answered(unreadMs?: number): void {
    this.caller = null;
    if (this.state !== 'serving') return;
    if (this.socket.writableLength > 0) limitUnread(this.socket, unreadMs);
    this.wasUsed = true;
    if (this.endAnnounced || this.endsUnread) this.end();
    else if (this.bodyLeft > 0) this.state = 'skipping';
    else if (this.kept) this.handOver(this.kept.buffer, this.kept.length);
    else this.becomeIdle();
  }

  abandon(): void {
    if (this.state !== 'over') this.socket.destroy();
  }

  private becomeIdle(): void {
    this.state = 'idle';
    this.since = performance.now();
  }

  private end(): void {
    if (this.bodyLeft > 0 || this.endsUnread) {
      this.linger();
      return;
    }
    this.state = 'over';
    this.forgetKept();
    this.socket.destroySoon();
  }

  private linger(): void {
    this.state = 'over';
    this.forgetKept();
    endAndLinger(this.socket);
  }

  private read(length: number): void {
    if (this.state === 'idle') this.takeRequest(readBuffer, length, parser, parser.parse(readBuffer, length));
    else if (this.state === 'serving') this.takeBody(length);
    else if (this.state === 'head') this.continueHead(length);
    else if (this.state === 'skipping') this.skip(length);
  }

  /** `bodyStart` is what the parser returned for these bytes. */
  private takeRequest(bytes: Buffer, length: number, from: HeadParser, bodyStart: number): void {
    if (bodyStart === headIncomplete) {
      this.startHead(length);
      return;
    }
    const end = bodyStart + from.contentLength;
    // Node:http also answers requests that were sent before the last one has its answer, and refuses new work.
    if (bodyStart === headNotAccepted || length > end || this.owner.isDraining) {
      this.handOver(bytes, length);
      return;
    }
    this.door = from.door;
    const head = bytes.toString('latin1', 0, bodyStart);
    this.bodyLeft = end - length;
    const body = this.bodyLeft === 0 ? copyOf(bytes, length, bodyStart) : pieceOf(bytes, length, bodyStart);
    this.caller = new SocketCaller(this, from, head, body);
    if (this.kept) this.forgetKept();
    if (this.bodyLeft > 0 && this.state === 'idle') this.since = performance.now();
    this.state = 'serving';
    if (this.bodyLeft === 0) atEndOfTurn('requests', this.begin);
    else if (takesTurn()) this.begin();
    else {
      this.caller.waitIn(this.owner.bodyMemory);
      inLaterTurn(this.begin);
    }
  }

  private readonly begin = (): void => {
    const { caller } = this;
    if (!caller || caller.gone) return;
    this.owner.serve(caller, this.door);
    if (caller.identity === null && caller === this.caller) caller.waitIn(this.owner.bodyMemory);
  };

  private startHead(length: number): void {
    if (this.state === 'head') return;
    this.state = 'head';
    this.since = performance.now();
    this.headParser = new HeadParser();
    if (this.keep(0, length)) this.headParser.parse(readBuffer, length);
    else this.socket.destroy();
  }

  private continueHead(length: number): void {
    const known = this.kept!.length;
    if (!this.keep(0, length)) return void this.socket.destroy();
    const { buffer, length: total } = this.kept!;
    const own = this.headParser!;
    this.takeRequest(buffer, total, own, own.parseOn(buffer, total, known));
  }

  private takeBody(length: number): void {
    const used = Math.min(length, this.bodyLeft);
    this.bodyLeft -= used;
    if (used > 0) this.caller?.takeBody(readBuffer.subarray(0, used), this.bodyLeft === 0);
    if (used < length) this.takeAhead(used, length);
  }

  private takeAhead(from: number, to: number): void {
    if (!this.endsUnread && !this.keep(from, to)) {
      this.endsUnread = true;
      this.closing = true;
    }
    if (this.endsUnread || this.kept!.length > earlyBytesMax) this.socket.pause();
  }

  private skip(length: number): void {
    const used = Math.min(length, this.bodyLeft);
    this.bodyLeft -= used;
    if (this.bodyLeft > 0) return;
    this.becomeIdle();
    if (used === length) return;
    readBuffer.copyWithin(0, used, length);
    this.read(length - used);
  }

  /** False where there is no memory for the bytes. Then nothing is kept. */
  private keep(from: number, to: number): boolean {
    this.early ??= this.owner.bodyMemory.openEarly(peerOf(this.socket.remoteAddress));
    if (this.early.resize(KeptBytes.sizeWith(this.kept, to - from)) !== null) {
      this.forgetKept();
      return false;
    }
    if (this.kept) this.kept.add(readBuffer, from, to);
    else this.kept = new KeptBytes(readBuffer, from, to);
    return true;
  }

  private forgetKept(): void {
    this.kept = this.headParser = null;
    this.early?.release();
    this.early = null;
  }

  private handOver(bytes: Buffer, length: number): void {
    if (this.socket.writableLength > 0) this.handOverLater(length, (go) => void this.socket.write('', go));
    else if (takesTurn()) this.handOverNow(bytes, length);
    else this.handOverLater(length, inLaterTurn);
  }

  private handOverNow(bytes: Buffer, length: number): void {
    const unused = bytes === readBuffer ? copyOf(bytes, length) : bytes.subarray(0, length);
    this.state = 'over';
    this.forgetKept();
    // Node's parser reads the connection itself. Should it stop, the bytes reach the stream this way.
    const callback = (read: number): boolean => socket.push(copyOf(readBuffer, read));
    const socket: Socket = adoptSocket(this.socket, { buffer: readBuffer, callback }, true);
    socket.unshift(unused);
    this.owner.handOver(this, socket);
    socket.resume();
  }

  /** When `wait` calls back: another object cannot take the connection over while this one still writes to it. */
  private handOverLater(length: number, wait: (go: () => void) => void): void {
    if (!this.kept && !this.keep(0, length)) return void this.linger();
    this.state = 'leaving';
    this.socket.pause();
    wait(() => {
      if (this.state === 'leaving' && !this.socket.destroyed) this.handOverNow(this.kept!.buffer, this.kept!.length);
    });
  }

  private refuse(fault: ParserFault): void {
    const { caller } = this;
    this.caller = null;
    this.state = 'over';
    this.forgetKept();
    this.owner.refuse(this.socket, fault);
    caller?.leave();
  }

  /** The client has ended its side: it has left, and gets no answer that has not begun. Its request ends when the connection is closed. */
  private onEnd(): void {
    if (this.state === 'head' || (this.state === 'serving' && this.bodyLeft > 0)) this.refuse(cutOff);
    else if (this.state === 'skipping') this.linger();
    else if (this.state !== 'over') {
      this.state = 'over';
      this.socket.end();
      limitUnread(this.socket);
    }
  }

  private onTimeout(): void {
    // Reset: a close would leave the bytes to the system, which would wait for the client in turn.
    if (this.socket.writableLength > 0) this.socket.resetAndDestroy();
    else if (this.state === 'over') this.socket.destroy();
    else this.socket.setTimeout(0);
  }

  private onClose(): void {
    this.state = 'over';
    this.forgetKept();
    this.caller?.leave();
    this.caller = null;
    this.owner.closed(this);
  }
}
