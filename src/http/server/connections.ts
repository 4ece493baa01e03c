/**
 * A bound on open connections. Those on which nothing is under way, the oldest first, make room for new ones, so that whoever
 * opens many and says nothing keeps nobody out; where all are busy, the new one is refused.
 */
import type { Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Of all connections, as many are closed at a time: looking through them costs more than closing them. */
const share = 1 / 32;

/** Node's own, as in `client-error.ts`. */
type ServerSocket = Socket & { _httpMessage?: ServerResponse | null };

/** `open` has the server's connections in the order in which they came; one that is closed here leaves it at once. */
export function capConnections(server: Server, open: Set<Socket>, connectionsMax: number): void {
  const close = (socket: Socket) => {
    open.delete(socket);
    socket.destroy();
  };
  server.on('connection', (newest: Socket) => {
    if (open.size <= connectionsMax) return;
    const wanted = Math.max(1, Math.floor(connectionsMax * share));
    let closed = 0;
    for (const socket of open) {
      if (socket === newest || closed === wanted) break;
      if (isBusy(socket)) continue;
      close(socket);
      closed++;
    }
    if (closed === 0) close(newest);
  });
}

/** A head that has not come to its end is no request yet. */
function isBusy(socket: ServerSocket): boolean {
  return Boolean(socket._httpMessage) || socket.writableLength > 0;
}

// * Callers that ask and do not take the answer: its bytes are kept only while the caller still takes some, and
// for as long as an idle connection is kept. Node itself would keep them without end.

/** For `prefinish`: the whole answer has been handed to its connection. */
export function watchUnread(this: ServerResponse): void {
  if (this.socket) letGoIfUnread(this.socket);
}

export function letGoIfUnread(socket: Socket & { server?: Server }): void {
  if (socket.writableLength === 0) return;
  // A write that makes progress counts as life; when all is written, node sets the time of an idle connection anew.
  socket.setTimeout(socket.server?.keepAliveTimeout ?? keepAliveMs);
}

// How long and how much the HTTP layer lets a caller take (docs/decisions/0012).

/** Longer than the usual 60 s of a balancer, so that it never reuses a connection that we are closing. */
export const keepAliveMs = 75_000;

export interface ServerLimits {
  readonly options: ServerOptions & { maxHeaderSize: number };
  /** Over this many, connections on which nothing is under way make room for new ones. */
  readonly connectionsMax: number;
}

export const serverLimits: ServerLimits = {
  options: {
    maxHeaderSize: 16 * 1024,
    /** Also how long a caller may take nothing of an answer that waits for it. */
    keepAliveTimeout: keepAliveMs,
    /** To the end of the head, from its first byte or, where none comes, from the connection on. */
    headersTimeout: 20_000,
    /** To the end of the body: 32 MiB take nearly that long at 1 Mbit/s. */
    requestTimeout: 300_000,
    connectionsCheckingInterval: 5_000,
    insecureHTTPParser: false,
    // Two Authorization headers become one with a comma, which is malformed, instead of the first one winning.
    joinDuplicateHeaders: true,
    // Node's own refusal has no body; `headFault` makes the same check with the envelope.
    requireHostHeader: false,
    keepAlive: true,
    noDelay: true,
  },
  connectionsMax: 10_000,
};

// * What a server that drains may close at once: everything but answers. Node takes an answer for over when it has been handed on,
// even if the caller has yet to read megabytes of it, and waits for requests that may never come to their end; here it is the
// other way round.

/** Replaces the server's own way, which its `close` uses too. Returns the open connections, in the order in which they came. */
export function closeOnlyIdle(server: Server): Set<Socket> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.closeIdleConnections = () => {
    for (const socket of open) closeUnlessAnswering(socket);
  };
  return open;
}

/** How long the client may take to read an answer that came before its request had ended. */
const lingerMs = 500;
const lingering = new WeakSet<Socket>();

function closeUnlessAnswering(socket: ServerSocket): void {
  const { _httpMessage: answer } = socket;
  // Bytes that are still leaving belong to an answer.
  if (socket.writableLength > 0) sayLast(socket);
  else if (!answer) closeIdle(socket);
  else if (answer.req.complete || !answer.headersSent) sayLast(socket);
  else endEarlyAnswer(socket, answer);
}

/** Nothing is under way, or no more than a part of a head has come. One that is closing already has its own time. */
function closeIdle(socket: Socket): void {
  if (!socket.writableEnded) socket.destroy();
}

/** The request was answered before its body had come: the rest is not waited for. */
function endEarlyAnswer(socket: Socket, answer: ServerResponse): void {
  if (lingering.has(socket)) return;
  lingering.add(socket);
  if (!answer.writableEnded) answer.end();
  setTimeout(() => socket.destroy(), lingerMs);
}

/** An answer that has yet to begin says that its connection ends with it: a balancer then sends the next request elsewhere. */
function sayLast({ _httpMessage: answer }: ServerSocket): void {
  if (answer && !answer.headersSent) answer.shouldKeepAlive = false;
}
