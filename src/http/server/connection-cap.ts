/**
 * A bound on open connections. Those on which nothing is under way, the oldest first, make room for new ones, so that whoever
 * opens many and says nothing keeps nobody out; where all are busy, the new one is refused.
 */
import type { Server, ServerResponse } from 'node:http';
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
