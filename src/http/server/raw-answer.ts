/** Sends error answers without Fastify, on a bare response or socket: always the envelope with `x-request-id`. */
import { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Readable } from 'node:stream';
import { envelopeOf, headersOf } from '../../errors/envelope.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import { watchUnread } from './connections.js';
import { apiHeaders, connectionHeaders, httpDate, isApiPath, securityHeaders } from './headers.js';
import { bodyRefusalOf } from './node-request.js';

const tickMs = 4;
/** A body gives 64 to 128 KiB each time, so all of them together give about 200 MB a second. */
const bodiesPerTick = 8;

/**
 * Reads and discards refused bodies, a few at a time. Node would read megabytes from each connection in a row, and many large uploads
 * without a key would delay all other requests.
 */
class PacedDrains {
  private readonly waiting = new Set<Readable>();
  private timer: NodeJS.Timeout | null = null;

  /** Pauses the body until the next tick that has room for it. */
  wait(body: Readable): void {
    body.pause();
    this.waiting.add(body);
    this.timer ??= setTimeout(() => this.tick(), tickMs);
  }

  delete(body: Readable): void {
    this.waiting.delete(body);
  }

  private tick(): void {
    this.timer = null;
    let left = bodiesPerTick;
    for (const body of this.waiting) {
      if (left-- === 0) break;
      this.waiting.delete(body);
      body.resume();
    }
    if (this.waiting.size > 0) this.timer ??= setTimeout(() => this.tick(), tickMs);
  }
}

/** How much of a refused body is read before the connection is closed, so that the client can read the answer. */
const drainBytesMax = 512 * 1024 * 1024;
const drainMsMax = 30_000;
const drains = new PacedDrains();

function errorBody(error: GatewayError): string {
  return error.body ?? JSON.stringify(envelopeOf(error));
}

function headOf(error: GatewayError, requestId: string, body: string, path: string): OutgoingHttpHeaders {
  return {
    ...(isApiPath(path) ? apiHeaders : securityHeaders),
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    ...headersOf(error),
  };
}

/** Sends an error on a response that has not started. */
export function answerError(
  req: IncomingMessage,
  res: ServerResponse,
  error: GatewayError,
  requestId: string,
  extraHeaders: OutgoingHttpHeaders = {},
): void {
  const body = errorBody(error);
  res.once('prefinish', watchUnread);
  res.writeHead(error.status, { ...headOf(error, requestId, body, req.url ?? ''), ...extraHeaders });
  res.end(body);
}

/**
 * Sends an error while the client is still sending: the whole answer at once, then a bounded amount of the body is discarded, and
 * only then the connection is closed. Closing at once would reset it, and the client would lose the answer.
 */
export function answerAndDrain(
  req: IncomingMessage,
  res: ServerResponse,
  error: GatewayError,
  requestId: string,
  extraHeaders: OutgoingHttpHeaders = {},
): void {
  const body = errorBody(error);
  const head = { ...headOf(error, requestId, body, req.url ?? ''), ...extraHeaders, connection: 'close' };
  res.writeHead(error.status, head);
  // The answer to HEAD has no body, so the head must be flushed.
  if (req.method === 'HEAD') res.flushHeaders();
  else res.write(body);
  let drained = 0;
  const close = () => {
    clearTimeout(timer);
    drains.delete(req);
    req.off('data', count).off('end', close).off('close', close);
    if (!res.writableEnded) res.end();
  };
  const count = (chunk: Buffer) => {
    drained += chunk.length;
    if (drained > drainBytesMax) close();
    else drains.wait(req);
  };
  const timer = setTimeout(close, drainMsMax);
  timer.unref();
  req.on('data', count).on('end', close).on('close', close);
  // The rest of a body without memory is not read.
  if (bodyRefusalOf(req) || (req.complete && req.readableEnded)) close();
  else req.resume();
}

/** The same answer as text, for a socket without a complete request. */
export function socketAnswer(
  error: GatewayError,
  requestId: string,
  extraHeaders: Readonly<Record<string, string>> = {},
): string {
  return errorText(error, requestId, '', { ...extraHeaders, ...connectionHeaders.closed });
}

/** The same answer as text. `path` decides who may read it; `extraHeaders` include those about the connection. */
export function errorText(
  error: GatewayError,
  requestId: string,
  path: string,
  extraHeaders: Readonly<Record<string, string>>,
): string {
  const body = errorBody(error);
  const head = { ...headOf(error, requestId, body, path), ...extraHeaders, date: httpDate() };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${String(value)}`);
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? 'Error'}\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}
