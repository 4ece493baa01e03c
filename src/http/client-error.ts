/** Errors that the HTTP parser itself finds, answered with the envelope where an answer is possible (ruling 18). */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { requestId } from '../base/ids.js';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';
import { socketAnswer } from './raw-answer.js';

/** How long the client may go on sending before the socket is destroyed; it needs that time to read the answer. */
const lingerMs = 1000;
const answered = new WeakSet<Duplex>();

/** Node keeps the response that is being made on a socket here; there is no public way to it. */
type ServerSocket = Duplex & { _httpMessage?: ServerResponse | null };

export function onClientError(error: NodeJS.ErrnoException, socket: ServerSocket): void {
  if (answered.has(socket)) return;
  const current = socket._httpMessage;
  if (error.code === 'ECONNRESET' || !socket.writable || current?.headersSent === true) {
    if (current?.headersSent !== true || !current.req.complete) socket.destroy();
    else current.once('close', () => socket.destroy());
    return;
  }
  answered.add(socket);
  const fault = faultOf(error);
  // The fault is in a pipelined request behind one that is still being answered: the answers stay in order.
  if (current?.req.complete === true) current.once('close', () => answerOn(socket, fault));
  else answerOn(socket, fault);
}

/** `CONNECT`: Node would drop the connection without a word. */
export function onConnect(req: { url?: string | undefined }, socket: Duplex): void {
  answerOn(socket, gatewayError('path_not_found', { method: 'CONNECT', path: (req.url ?? '').slice(0, 200) }));
}

function answerOn(socket: Duplex, fault: GatewayError): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.on('error', () => socket.destroy());
  socket.end(socketAnswer(fault, requestId(Date.now())));
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
}

function faultOf({ code, message }: NodeJS.ErrnoException): GatewayError {
  if (code === 'HPE_HEADER_OVERFLOW') return gatewayError('headers_too_large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return gatewayError('request_timeout');
  const reason = /^Parse Error: (.{1,100})$/.exec(message)?.[1];
  return gatewayError('bad_http', { reason: reason ?? 'it cannot be parsed' });
}
