/** The limits of the HTTP server on connections: how many stay open, for how long, and which ones a server that drains may close. */
import type { Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The share of connections that is closed at once: the search costs more than the closing. */
const share = 1 / 32;

/** Node keeps the response that it is sending here; there is no public access to it. */
type ServerSocket = Socket & { _httpMessage?: ServerResponse | null };

/** A connection as the limits see it, whoever reads it. */
export interface OpenConnection {
  /** False until the head of a request is complete, and when its answer has left. */
  readonly isBusy: boolean;
  destroy(): void;
  /** For a server that drains: closes the connection unless an answer is under way, which then says that the connection ends. */
  closeUnlessAnswering(): void;
}

/** The open connections in the order of their arrival. */
export class OpenConnections {
  private readonly all = new Set<OpenConnection>();

  constructor(private readonly connectionsMax: number) {}

  /**
   * Beyond the limit, idle connections are closed, the oldest first, to make room for new ones, so that a client that opens many and
   * sends nothing keeps nobody out. Where all are busy, the new one is refused.
   */
  add(newest: OpenConnection): void {
    this.all.add(newest);
    if (this.all.size <= this.connectionsMax) return;
    const wanted = Math.max(1, Math.floor(this.connectionsMax * share));
    let closed = 0;
    for (const connection of this.all) {
      if (connection === newest || closed === wanted) break;
      if (connection.isBusy) continue;
      this.close(connection);
      closed++;
    }
    if (closed === 0) this.close(newest);
  }

  delete(connection: OpenConnection): void {
    this.all.delete(connection);
  }

  closeUnlessAnswering(): void {
    for (const connection of this.all) connection.closeUnlessAnswering();
  }

  destroy(): void {
    for (const connection of this.all) connection.destroy();
  }

  private close(connection: OpenConnection): void {
    this.all.delete(connection);
    connection.destroy();
  }
}

/** A listener for `prefinish`, when the whole answer is in the connection's buffer. */
export function watchUnread(this: ServerResponse): void {
  if (this.socket) limitUnread(this.socket);
}

/**
 * Limits the time that a client may stop reading an answer; Node itself would keep the bytes for ever. A write that makes progress
 * restarts the time. False where nothing is left to read.
 */
export function limitUnread(socket: Socket & { server?: Server }, unreadMs?: number): boolean {
  if (socket.writableLength === 0) return false;
  socket.setTimeout(unreadMs ?? socket.server?.keepAliveTimeout ?? keepAliveMs);
  return true;
}

/** Longer than the usual 60 s of a load balancer, so that it never reuses a connection that this server is closing. */
export const keepAliveMs = 75_000;

/** Why these values: docs/decisions/0012. */
export interface ServerLimits {
  readonly options: ServerOptions & { maxHeaderSize: number };
  /** Beyond this number, idle connections make room for new ones. */
  readonly connectionsMax: number;
}

export const serverLimits: ServerLimits = {
  options: {
    maxHeaderSize: 16 * 1024,
    /** Also how long a client may stop reading an answer. */
    keepAliveTimeout: keepAliveMs,
    /** Until the end of the head, from its first byte or else from the opening of the connection. */
    headersTimeout: 20_000,
    /** Until the end of the body: 32 MiB take nearly that long at 1 Mbit/s. */
    requestTimeout: 300_000,
    connectionsCheckingInterval: 5_000,
    insecureHTTPParser: false,
    // Two Authorization headers become one with a comma, which is malformed, instead of the first one winning.
    joinDuplicateHeaders: true,
    // Node's own refusal has no body. `headFault` makes the same check and answers with the error envelope.
    requireHostHeader: false,
    keepAlive: true,
    noDelay: true,
  },
  connectionsMax: 10_000,
};

/**
 * Replaces `closeIdleConnections`, which a server that drains calls. Node counts an answer as finished when it is in the buffer, even
 * if the client has yet to read megabytes, and waits for requests that may never end. Here only answers are waited for.
 */
export function trackConnections(server: Server, connectionsMax: number): OpenConnections {
  const open = new OpenConnections(connectionsMax);
  server.on('connection', (socket: Socket) => {
    const connection = new NodeConnection(socket);
    socket.once('close', () => open.delete(connection));
    open.add(connection);
  });
  server.closeIdleConnections = () => open.closeUnlessAnswering();
  server.closeAllConnections = () => open.destroy();
  return open;
}

/** Connections that have left HTTP for another protocol, by their sockets. */
const upgraded = new WeakMap<Socket, OpenConnection>();

/** From now on the limits ask `connection` about the socket. */
export function markUpgraded(socket: Socket, connection: OpenConnection): void {
  upgraded.set(socket, connection);
}

/** A connection that node:http reads, or has read. */
class NodeConnection implements OpenConnection {
  constructor(private readonly socket: ServerSocket) {}

  get isBusy(): boolean {
    const other = upgraded.get(this.socket);
    if (other) return other.isBusy;
    return Boolean(this.socket._httpMessage) || this.socket.writableLength > 0;
  }

  destroy(): void {
    this.socket.destroy();
  }

  closeUnlessAnswering(): void {
    const { socket } = this;
    const other = upgraded.get(socket);
    if (other) {
      other.closeUnlessAnswering();
      return;
    }
    const { _httpMessage: answer } = socket;
    // Bytes in the buffer belong to an answer.
    if (socket.writableLength > 0) announceClose(socket);
    else if (!answer) closeIdle(socket);
    else if (answer.req.complete || !answer.headersSent) announceClose(socket);
    else endEarlyAnswer(socket, answer);
  }
}

/** How long a client may read an answer that was sent before its request was complete. */
const lingerMs = 500;
const lingering = new WeakSet<Socket>();

/** For a connection without a request, or with a part of a head. One that is closing already has its own timer. */
export function closeIdle(socket: Socket): void {
  if (!socket.writableEnded) socket.destroy();
}

/** The answer was sent before the whole body arrived. The rest of the body is not waited for. */
function endEarlyAnswer(socket: Socket, answer: ServerResponse): void {
  if (lingering.has(socket)) return;
  lingering.add(socket);
  if (!answer.writableEnded) answer.end();
  setTimeout(() => socket.destroy(), lingerMs);
}

/** An answer that has not started announces `connection: close`, so that a load balancer sends the next request elsewhere. */
function announceClose({ _httpMessage: answer }: ServerSocket): void {
  if (answer && !answer.headersSent) answer.shouldKeepAlive = false;
}
