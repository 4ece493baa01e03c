/**
 * Requests that ask for another protocol. Node takes one out of HTTP at the end of its head, while earlier requests of its connection
 * may still wait for their answers. Here it waits for them. Then a WebSocket handshake goes to its handler, and any other request back to
 * HTTP as if it had not asked.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { doorAt } from '../../doors/registry.js';
import { socketDoor } from '../../doors/responses/socket-door.js';
import { rawHeader } from './headers.js';

/** Node keeps the response that it is sending here; there is no public access to it. */
type ServerSocket = Socket & { _httpMessage?: ServerResponse | null };

/** What a client sends ahead of its answer is kept up to this size. Then it is read no further. */
const earlyBytesMax = 64 * 1024;

/** Takes a WebSocket handshake, with the bytes behind its head. */
type HandshakeHandler = (req: IncomingMessage, socket: Socket, behind: Buffer) => void;

/**
 * Node gives a server that listens for upgrades every request that asks for any, and clients ask without expecting it: Java's client asks
 * for `h2c`, for example. Without a listener Node would serve them, and lose the requests behind them.
 */
export function serveUpgrades(server: Server, toSocket: HandshakeHandler | undefined): void {
  const [toHttp] = server.listeners('connection') as ((this: Server, socket: Socket) => void)[];
  server.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) =>
    afterEarlierAnswers(socket, head, (behind) => {
      if (toSocket && isHandshake(req)) {
        toSocket(req, socket, behind);
        return;
      }
      // The timeout of an idle connection, which Node's new state of the connection does not know of.
      socket.setTimeout(0);
      toHttp!.call(server, socket);
      socket.unshift(Buffer.concat([Buffer.from(headWithoutUpgrade(req), 'latin1'), behind]));
      socket.resume();
    }),
  );
}

/**
 * Calls `next` when the earlier requests of the connection have their answers, with all bytes behind the head so far. It is not called
 * where the client leaves before, or where one of the answers ends the connection. Node has left the connection, so what it does for
 * an answer that is being sent is done here.
 */
export function afterEarlierAnswers(socket: ServerSocket, head: Buffer, next: (behind: Buffer) => void): void {
  if (!socket._httpMessage) {
    next(head);
    return;
  }
  const pieces = [head];
  let bytes = head.length;
  const listeners = {
    data: (chunk: Buffer) => {
      pieces.push(chunk);
      bytes += chunk.length;
      if (bytes > earlyBytesMax) socket.pause();
    },
    drain: () => {
      const { _httpMessage: answer } = socket;
      if (answer?.writableNeedDrain) answer.emit('drain');
    },
    end: () => socket.end(),
    timeout: () => socket.destroy(),
    error: () => socket.destroy(),
  };
  for (const [event, listener] of Object.entries(listeners)) socket.on(event, listener);
  const wait = (): void => {
    const { _httpMessage: answer } = socket;
    if (answer) {
      answer.once('close', wait);
      return;
    }
    if (!socket.writable || socket.readableEnded) return;
    for (const [event, listener] of Object.entries(listeners)) socket.off(event, listener);
    socket.pause();
    next(Buffer.concat(pieces));
  };
  wait();
}

/** HTTP/1.0 has no upgrades: what asks for one there did not mean it (RFC 9110, 7.8). */
function isHandshake(req: IncomingMessage): boolean {
  if (req.method !== 'GET' || req.httpVersionMinor === 0 || doorAt(req.url)?.path !== socketDoor.path) return false;
  return rawHeader(req, 'upgrade')?.toLowerCase() === 'websocket';
}

/** The head in latin1, as Node's parser reads it. */
function headWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.toLowerCase() !== 'upgrade') head += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`;
  }
  return `${head}\r\n`;
}
