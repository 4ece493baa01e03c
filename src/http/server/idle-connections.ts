/**
 * What a server that drains may close at once: everything but answers. Node takes an answer for over when it has been handed on,
 * even if the caller has yet to read megabytes of it, and waits for requests that may never come to their end; here it is the
 * other way round.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Node's own, as in `client-error.ts`. */
type ServerSocket = Socket & { _httpMessage?: ServerResponse | null };

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
