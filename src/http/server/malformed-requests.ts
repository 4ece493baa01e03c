/** Answers requests that are not valid HTTP: errors of Node's parser, and faults in a head that the parser accepts. */
import { type IncomingMessage, METHODS, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { requestId } from '../../base/ids.js';
import { inLaterTurn, takesTurn } from '../../base/turn.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { limitUnread } from './connections.js';
import { socketAnswer } from './raw-answer.js';

/** How long the client may continue to send before the socket is destroyed. It needs that time to read the answer. */
const lingerMs = 1000;
const broken = new WeakSet<Duplex>();

/** Node keeps the response that it is sending and the request that it is reading here; there is no public access to them. */
type ServerSocket = Duplex & {
  _httpMessage?: ServerResponse | null;
  parser?: { incoming?: IncomingMessage | null } | null;
};

type Fault = Pick<NodeJS.ErrnoException, 'code' | 'message'>;

export interface AnswerOptions {
  /** Called with every error that was answered. */
  readonly onAnswer: (fault: GatewayError) => void;
  /** Additional headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;
}

export function onClientError(
  error: NodeJS.ErrnoException,
  socket: ServerSocket,
  options: AnswerOptions = { onAnswer: () => {}, headers: {} },
): void {
  if (broken.has(socket)) return;
  broken.add(socket);
  if (error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const last = socket.parser?.incoming;
  const body = last?.complete === false ? last : null;
  // Node's error has all bytes that were read with the fault, and may wait for long.
  const { code, message } = error;
  const fault = { code, message };
  // Thousands of clients may leave at once, or be late at once.
  if (inBursts.has(code) && !takesTurn()) inLaterTurn(() => answerInTurn(socket, body, fault, options));
  else answerInTurn(socket, body, fault, options);
}

const inBursts: ReadonlySet<string | undefined> = new Set(['HPE_INVALID_EOF_STATE', 'ERR_HTTP_REQUEST_TIMEOUT']);

/** Answers `CONNECT`, for which Node would close the connection without an answer. */
export function onConnect(
  req: { url?: string | undefined },
  socket: Duplex,
  headers: AnswerOptions['headers'] = {},
): void {
  answerOn(socket, gatewayError('path_not_found', { method: 'CONNECT', path: (req.url ?? '').slice(0, 200) }), headers);
}

/**
 * Keeps answers in order, one for each request: the answers to the requests before the fault are sent first. `body` is the request
 * with the fault in its body, null where the fault is in a head. A request that has its answer gets no second one, which the client
 * would take for the answer to its next request.
 */
function answerInTurn(socket: ServerSocket, body: IncomingMessage | null, error: Fault, options: AnswerOptions): void {
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
  options.onAnswer(fault);
}

function answerOn(socket: Duplex, fault: GatewayError, headers: AnswerOptions['headers']): void {
  socket.on('error', () => socket.destroy());
  socket.write(socketAnswer(fault, requestId(Date.now()), headers));
  endAndLinger(socket);
}

/** Closing while the client sends would reset the connection, and the client would lose the answer. */
export function endAndLinger(socket: Duplex): void {
  const linger = () => {
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    timer.unref();
    socket.once('close', () => clearTimeout(timer));
  };
  if (socket.writable) socket.end();
  if (socket.writableFinished) linger();
  else socket.once('finish', linger);
  limitUnread(socket as Socket);
  socket.resume();
}

function faultOf({ code, message }: Fault): GatewayError {
  if (code === 'HPE_HEADER_OVERFLOW') return gatewayError('headers_too_large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return gatewayError('request_timeout');
  const reason = /^Parse Error: (.{1,100})$/.exec(message)?.[1];
  return gatewayError('bad_http', { reason: reason ?? 'it cannot be parsed' });
}

const methods = new Set(METHODS);
/** Checks only the characters of a host and port. Nothing depends on the value. */
const hostValue = /^[\w.:[\]~!$&'()*+;=%-]*$/;

/**
 * The reason for a 400, or undefined. Finds what Node's parser accepts and RFC 9112 forbids, and what two servers could read in two
 * ways. One pass over the headers, because every request pays for it.
 */
export function headFault(req: IncomingMessage): string | undefined {
  const { rawHeaders, httpVersionMajor, httpVersionMinor } = req;
  if (httpVersionMajor !== 1) return 'only HTTP/1.0 and HTTP/1.1 are spoken here';
  // The parser also knows the methods of RTSP.
  if (!methods.has(req.method ?? '')) return 'the method is none of HTTP';
  let hosts = 0;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === 'host') {
      if (++hosts > 1 || !hostValue.test(rawHeaders[i + 1]!)) return 'the Host header is not valid or sent twice';
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      // A body in another coding would be misread. HTTP/1.0 does not know the header.
      if (httpVersionMinor === 0 || rawHeaders[i + 1]!.toLowerCase() !== 'chunked') {
        return 'the only transfer coding is chunked, in HTTP/1.1';
      }
    }
  }
  return hosts === 0 && httpVersionMinor === 1 ? 'the Host header is missing' : undefined;
}
