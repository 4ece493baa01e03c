/**
 * What a server that drains may close as idle. Node takes an answer for over when it has been handed on, even if the caller has
 * yet to read megabytes of it, and never takes a connection for idle on which nothing was asked; here it is the other way round.
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
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    let leaving = false;
    for (const socket of open) {
      if (socket.bytesRead === 0) socket.destroy();
      else {
        leaving ||= socket.writableLength > 0;
        sayLast(socket);
      }
    }
    // Node does not say which connection it would close, so all wait for the answers that are still leaving.
    if (!leaving) closeIdle();
  };
  return open;
}

/** An answer that has yet to begin says that its connection ends with it: a balancer then sends the next request elsewhere. */
function sayLast({ _httpMessage: answer }: ServerSocket): void {
  if (answer && !answer.headersSent) answer.shouldKeepAlive = false;
}
