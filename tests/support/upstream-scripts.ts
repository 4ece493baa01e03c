/** What a scripted upstream can do with a request: answer correctly or wrongly, be slow, cut the connection, or stay silent. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Exchange, Script } from './scripted-upstream.js';

export type Headers = Record<string, string>;
export type Bytes = string | Uint8Array;

const reasons: Record<number, string> = {
  200: 'OK',
  400: 'Bad Request',
  429: 'Too Many Requests',
  500: 'Server Error',
};

function head(status: number, headers: Headers): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${reasons[status] ?? 'Status'}\r\n${lines.join('')}\r\n`;
}

async function whole(exchange: Exchange, status: number, headers: Headers, body: Bytes): Promise<void> {
  const bytes = Buffer.from(body as string);
  const first = head(status, { 'content-length': String(bytes.length), ...headers });
  await exchange.write(Buffer.concat([Buffer.from(first, 'latin1'), bytes]));
  exchange.done();
}

export interface AnswerOptions {
  status?: number;
  headers?: Headers;
  /** Silence before the first byte. */
  delayMs?: number;
}

function bodyText(body: unknown): Bytes {
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
}

/** One JSON body; a string or bytes are sent as they are. */
export function json(body: unknown, { status = 200, headers = {}, delayMs = 0 }: AnswerOptions = {}): Script {
  return async (exchange) => {
    if (delayMs > 0) await exchange.sleep(delayMs);
    await whole(exchange, status, { 'content-type': 'application/json', ...headers }, bodyText(body));
  };
}

export interface SseOptions extends AnswerOptions {
  /** Silence between two frames. */
  gapMs?: number;
  /** Cut the line after this many frames. */
  cutAfter?: number;
  /** How: a clean FIN in the middle of the chunked body (default), or a RST. */
  cutWith?: 'fin' | 'reset';
  /** Fall silent for ever after this many frames. */
  hangAfter?: number;
  /** Leave `data: [DONE]` out. */
  noDone?: boolean;
  /** Keep the response open after the last frame. */
  keepOpen?: boolean;
}

/** A string is sent as it stands (its own `data:` and blank line); anything else becomes `data: <json>`. */
export function frameText(frame: unknown): string {
  return typeof frame === 'string' ? frame : `data: ${JSON.stringify(frame)}\n\n`;
}

/** An event stream in chunked coding, one HTTP chunk and one write a frame. */
export function sse(frames: readonly unknown[], options: SseOptions = {}): Script {
  const { status = 200, headers = {}, delayMs = 0, gapMs = 0, cutAfter, cutWith = 'fin', hangAfter } = options;
  const texts = frames.map(frameText);
  if (!options.noDone) texts.push('data: [DONE]\n\n');
  return async (exchange) => {
    if (delayMs > 0) await exchange.sleep(delayMs);
    await exchange.write(
      head(status, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked', ...headers }),
    );
    for (const [index, text] of texts.entries()) {
      if (index === cutAfter) return exchange.close(cutWith);
      if (index === hangAfter) return exchange.closed;
      if (gapMs > 0 && index > 0) await exchange.sleep(gapMs);
      await exchange.writeChunk(text);
    }
    if (cutAfter !== undefined) return exchange.close(cutWith);
    if (options.keepOpen || hangAfter !== undefined) return exchange.closed;
    await exchange.write('0\r\n\r\n');
    exchange.done();
  };
}

/** Bytes on the wire, head included. A number is a pause in milliseconds; `end` says what happens to the connection. */
export function rawBytes(
  pieces: readonly (Bytes | number)[],
  { end = 'close' }: { end?: 'close' | 'keep' | 'reset' | 'hang' } = {},
): Script {
  return async (exchange) => {
    for (const piece of pieces) {
      if (typeof piece === 'number') await exchange.sleep(piece);
      else await exchange.write(piece);
    }
    if (end === 'hang') return exchange.closed;
    if (end === 'keep') return exchange.done();
    return exchange.close(end === 'reset' ? 'reset' : 'fin');
  };
}

/** Takes the request and never answers. */
export function hang(): Script {
  return (exchange) => exchange.closed;
}

/** Sends a head and then nothing. */
export function hangAfterHeaders({ status = 200, headers = {} }: AnswerOptions = {}): Script {
  return async (exchange) => {
    const fields = { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked', ...headers };
    await exchange.write(head(status, fields));
    await exchange.closed;
  };
}

/** RST, by default once the whole request has been read; `before-body` as soon as its head has. */
export function reset(when: 'before-body' | 'after-body' = 'after-body'): Script {
  const script: Script = (exchange) => exchange.close('reset');
  script.onHead = when === 'before-body';
  return script;
}

/** A JSON body with a right content-length that arrives in pieces. */
export function slowBody(
  body: unknown,
  { status = 200, headers = {}, pieceBytes = 16, gapMs = 20, cutAt }: SlowBodyOptions = {},
): Script {
  return async (exchange) => {
    const bytes = Buffer.from(bodyText(body) as string);
    const fields = { 'content-type': 'application/json', 'content-length': String(bytes.length), ...headers };
    await exchange.write(head(status, fields));
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      if (cutAt !== undefined && at >= cutAt) return exchange.close('fin');
      await exchange.write(bytes.subarray(at, at + pieceBytes));
      await exchange.sleep(gapMs);
    }
    exchange.done();
  };
}

export interface SlowBodyOptions extends AnswerOptions {
  pieceBytes?: number;
  gapMs?: number;
  /** Close after about this many bytes. */
  cutAt?: number;
}

const encoders = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync };

/** A compressed body, asked for or not. */
export function encoded(
  body: unknown,
  encoding: keyof typeof encoders,
  { status = 200, headers = {} }: AnswerOptions = {},
): Script {
  return encodedBytes(encoders[encoding](bodyText(body)), encoding, { status, headers });
}

/** A body that is compressed already (zstd), or only claims to be. */
export function encodedBytes(
  bytes: Uint8Array,
  encoding: string,
  { status = 200, headers = {} }: AnswerOptions = {},
): Script {
  const fields = { 'content-type': 'application/json', 'content-encoding': encoding, ...headers };
  return (exchange) => whole(exchange, status, fields, bytes);
}

export function redirect(location: string, status = 302): Script {
  return (exchange) => whole(exchange, status, { location }, '');
}

/** The same script, with every byte in a packet of its own. */
export function oneByteAtATime(script: Script): Script {
  return (exchange) =>
    script({
      ...exchange,
      write: (bytes) => byteByByte(exchange, Buffer.from(bytes as string)),
      writeChunk: (bytes) => byteByByte(exchange, chunked(bytes)),
    });
}

async function byteByByte(exchange: Exchange, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; at++) {
    await exchange.write(bytes.subarray(at, at + 1));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** One chunk of the chunked coding, in one buffer. */
export function chunked(bytes: Bytes): Buffer {
  const body = Buffer.from(bytes as string);
  return Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')]);
}
