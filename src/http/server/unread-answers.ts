/**
 * Callers that ask and do not take the answer (failure case B12): its bytes are kept only while the caller still takes some, and
 * for as long as an idle connection is kept. Node itself would keep them without end.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { keepAliveMs } from './server-limits.js';

/** For `prefinish`: the whole answer has been handed to its connection. */
export function watchUnread(this: ServerResponse): void {
  if (this.socket) letGoIfUnread(this.socket);
}

export function letGoIfUnread(socket: Socket & { server?: Server }): void {
  if (socket.writableLength === 0) return;
  // A write that makes progress counts as life; when all is written, node sets the time of an idle connection anew.
  socket.setTimeout(socket.server?.keepAliveTimeout ?? keepAliveMs);
}
