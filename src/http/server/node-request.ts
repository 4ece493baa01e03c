/** A request that node:http has read: counts the part of its body that waits for a reader, and may leave HTTP for a WebSocket. */
import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { doorAt } from '../../doors/registry.js';
import { socketDoor } from '../../doors/responses/socket-door.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import type { BodyMemory, EarlyHold } from '../../limits/body-memory.js';
import { peerOf } from '../../limits/rate-limits.js';
import { rawHeader } from './headers.js';

/** How long a client has to read its answer where its body is read no further. */
const lingerMs = 1000;

type EarlyMemory = Pick<BodyMemory, 'openEarly'>;

/** The class of requests for a server whose bodies count in this memory. */
export function requestClass(memory: EarlyMemory): typeof IncomingMessage {
  return class extends NodeRequest {
    constructor(socket: Socket) {
      super(socket, memory);
    }
  };
}

/** Why the body of a request is not there: it had no memory while it waited for the request's admission. */
export function bodyRefusalOf(req: IncomingMessage): GatewayError | null {
  return req instanceof NodeRequest ? req.bodyRefusal : null;
}

/**
 * Node gives a server that listens for upgrades every request that asks for any, and would have no answer for them: Java's client asks
 * for `h2c` with each of its requests, for example. So Node is told of the ones for a WebSocket at one path only; any other is served as
 * if it had not asked.
 */
class NodeRequest extends IncomingMessage {
  bodyRefusal: GatewayError | null = null;
  private asked: unknown;
  private early: EarlyHold | null = null;
  /** Listens for the end of the connection while there is a hold. */
  private onClose: (() => void) | null = null;

  constructor(
    socket: Socket,
    private readonly memory: EarlyMemory,
  ) {
    super(socket);
  }

  /** Node sets it from the head, and looks at it when the head is complete. */
  get upgrade(): boolean {
    return Boolean(this.asked) && (this.method === 'CONNECT' || isForSocket(this));
  }

  set upgrade(asked: unknown) {
    this.asked = asked;
  }

  /** Node calls this with each piece of the body, and reads the connection no further where it returns false. */
  override push(chunk: Buffer | null): boolean {
    if (chunk === null || this.readableFlowing === true) return super.push(chunk);
    if (this.bodyRefusal || !this.keeps(this.readableLength + chunk.length)) return false;
    return super.push(chunk);
  }

  override read(size?: number): unknown {
    const chunk: unknown = super.read(size);
    if (this.early) this.keeps(this.readableLength);
    return chunk;
  }

  private keeps(bytes: number): boolean {
    if (bytes === 0) {
      this.releaseEarly();
      return true;
    }
    const early = this.early ?? this.openEarly();
    this.bodyRefusal = early.resize(bytes);
    if (this.bodyRefusal) setTimeout(() => this.socket.destroy(), lingerMs).unref();
    return this.bodyRefusal === null;
  }

  private openEarly(): EarlyHold {
    this.early = this.memory.openEarly(peerOf(this.socket.remoteAddress));
    this.onClose = () => this.releaseEarly();
    this.socket.once('close', this.onClose);
    return this.early;
  }

  private releaseEarly(): void {
    if (!this.early) return;
    this.early.release();
    this.early = null;
    this.socket.off('close', this.onClose!);
  }
}

function isForSocket(req: IncomingMessage): boolean {
  if (req.method !== 'GET' || doorAt(req.url)?.path !== socketDoor.path) return false;
  return rawHeader(req, 'upgrade')?.toLowerCase() === 'websocket';
}
