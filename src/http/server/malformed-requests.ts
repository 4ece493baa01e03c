/** Errors that the HTTP parser itself finds, answered with the envelope where an answer is possible. */
import { type IncomingMessage, METHODS, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { requestId } from '../../base/ids.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { letGoIfUnread } from './connections.js';
import { socketAnswer } from './raw-answer.js';

/** How long the client may go on sending before the socket is destroyed; it needs that time to read the answer. */
const lingerMs = 1000;
const broken = new WeakSet<Duplex>();

/** Node keeps the response whose turn it is, and the request that is being read, here; there is no public way to them. */
type ServerSocket = Duplex & {
  _httpMessage?: ServerResponse | null;
  parser?: { incoming?: IncomingMessage | null } | null;
};

export interface AnswerOptions {
  /** Hears of every error that was answered. */
  readonly told: (fault: GatewayError) => void;
  /** Further headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;
}

export function onClientError(
  error: NodeJS.ErrnoException,
  socket: ServerSocket,
  options: AnswerOptions = { told: () => {}, headers: {} },
): void {
  if (broken.has(socket)) return;
  broken.add(socket);
  if (error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const last = socket.parser?.incoming;
  answerInTurn(socket, last?.complete === false ? last : null, error, options);
}

/** `CONNECT`: Node would drop the connection without a word. */
export function onConnect(
  req: { url?: string | undefined },
  socket: Duplex,
  headers: AnswerOptions['headers'] = {},
): void {
  answerOn(socket, gatewayError('path_not_found', { method: 'CONNECT', path: (req.url ?? '').slice(0, 200) }), headers);
}

/**
 * Answers stay in order, one to a request: those to the requests before the fault leave first. `body` is the request in whose
 * body the fault is, null where it is in a head; if that request has its answer already, a second one would be taken for the answer
 * to another.
 */
function answerInTurn(
  socket: ServerSocket,
  body: IncomingMessage | null,
  error: NodeJS.ErrnoException,
  options: AnswerOptions,
): void {
  const current = socket._httpMessage;
  if (current && current.req !== body) {
    current.once('close', () => answerInTurn(socket, body, error, options));
    return;
  }
  const unanswered = body === null ? error.code !== 'HPE_CLOSED_CONNECTION' : current?.headersSent === false;
  if (!unanswered || !socket.writable) {
    endAndLinger(socket);
    return;
  }
  const fault = faultOf(error);
  answerOn(socket, fault, options.headers);
  options.told(fault);
}

function answerOn(socket: Duplex, fault: GatewayError, headers: AnswerOptions['headers']): void {
  socket.on('error', () => socket.destroy());
  socket.write(socketAnswer(fault, requestId(Date.now()), headers));
  endAndLinger(socket);
}

/** A close while the client is sending would be a reset, and the client would lose the answer. */
function endAndLinger(socket: Duplex): void {
  const linger = () => {
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    timer.unref();
    socket.once('close', () => clearTimeout(timer));
  };
  if (socket.writable) socket.end();
  if (socket.writableFinished) linger();
  else socket.once('finish', linger);
  letGoIfUnread(socket as Socket);
  socket.resume();
}

function faultOf({ code, message }: NodeJS.ErrnoException): GatewayError {
  if (code === 'HPE_HEADER_OVERFLOW') return gatewayError('headers_too_large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return gatewayError('request_timeout');
  const reason = /^Parse Error: (.{1,100})$/.exec(message)?.[1];
  return gatewayError('bad_http', { reason: reason ?? 'it cannot be parsed' });
}

// What node's parser lets pass in a request's head, but RFC 9112 does not, or what two readers could read in two ways.

const methods = new Set(METHODS);
/** A name or address and a port, by their characters alone; nothing here depends on it. */
const hostValue = /^[\w.:[\]~!$&'()*+;=%-]*$/;

/** The reason of the 400; undefined where the head is sound. One pass over the headers, since every request pays for it. */
export function headFault(req: IncomingMessage): string | undefined {
  const { rawHeaders, httpVersionMajor, httpVersionMinor } = req;
  if (httpVersionMajor !== 1) return 'only HTTP/1.0 and HTTP/1.1 are spoken here';
  // Methods of RTSP, which the parser knows too.
  if (!methods.has(req.method ?? '')) return 'the method is none of HTTP';
  let hosts = 0;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === 'host') {
      if (++hosts > 1 || !hostValue.test(rawHeaders[i + 1]!)) return 'the Host header is not valid or sent twice';
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      // A body in another coding would be read as what it is not; HTTP/1.0 does not know the header at all.
      if (httpVersionMinor === 0 || rawHeaders[i + 1]!.toLowerCase() !== 'chunked') {
        return 'the only transfer coding is chunked, in HTTP/1.1';
      }
    }
  }
  return hosts === 0 && httpVersionMinor === 1 ? 'the Host header is missing' : undefined;
}
