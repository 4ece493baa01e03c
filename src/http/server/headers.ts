/** Reads request headers, holds the constant headers of responses, and writes the response heads of the chat path. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { joinedHeader } from '../../base/raw-header.js';
import { type AnswerBody, bytesIn } from '../../pipeline/caller.js';
import { AnswerBytes } from '../../wire/outgoing-body.js';
import { keepAliveMs } from './connections.js';

/** Turns a flat list of names and values into an object for Node. */
export function headerObject(flat: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) headers[flat[i]!] = flat[i + 1]!;
  return headers;
}

/**
 * One header, `name` in lower case, without building Node's object of all headers, which costs more than the rest of the head. A header
 * that was sent twice is joined with a comma, so that the first one does not win.
 */
export function rawHeader({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  return joinedHeader(rawHeaders, name);
}

/** On every answer. */
export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
} as const;

/** On every answer where `base_url` is https: browsers use https only, for a year. */
export const httpsOnlyHeader = { 'strict-transport-security': 'max-age=31536000' } as const;

/** Additional headers of an answer that is written to a socket without a response object. */
export function socketHeaders(https: boolean): Readonly<Record<string, string>> {
  return https ? httpsOnlyHeader : {};
}

/** Headers that scripts of other origins may read and the OpenAPI document describes. */
export const exposedHeaders: readonly string[] = [
  'x-request-id',
  'x-generation-id',
  'x-router-provider',
  'x-router-locode',
  'x-router-overhead-ms',
  'retry-after',
  ...['limit', 'remaining', 'reset'].flatMap((what) => [`x-ratelimit-${what}-requests`, `x-ratelimit-${what}-tokens`]),
];

/** Every origin may call `/v1/*`, without cookies. */
export const allowOrigin = { 'access-control-allow-origin': '*' } as const;
const exposeHeaders = { 'access-control-expose-headers': exposedHeaders.join(', ') } as const;
const corsHeaders = { ...allowOrigin, ...exposeHeaders } as const;

/** Additional headers of the answer to a preflight. `*` does not cover `authorization`, so it is listed. */
export const preflightHeaders = {
  'access-control-allow-headers': 'authorization, content-type, *',
  'access-control-max-age': '86400',
} as const;

/** On every answer under `/v1/` and `/api/v1/`. */
export const apiHeaders = { ...securityHeaders, ...corsHeaders } as const;

export function isApiPath(path: string): boolean {
  return path.startsWith('/v1/') || path.startsWith('/api/v1/');
}

/** The log of receipts, which scripts of other origins may read. */
export function isLogPath(path: string): boolean {
  return path.startsWith('/log/') || path === '/.well-known/lodestone/log';
}

/** The heads of `HeadStarts` as flat lists, for answers that Node writes. */
interface PlainHeads {
  readonly json: readonly string[];
  readonly stream: readonly string[];
}

function headsOf(common: Record<string, string>): PlainHeads {
  const start = Object.entries(common).flat();
  return {
    json: [...start, 'content-type', 'application/json; charset=utf-8'],
    stream: [
      ...start,
      ...['content-type', 'text/event-stream; charset=utf-8'],
      ...['cache-control', 'no-cache', 'x-accel-buffering', 'no'],
    ],
  };
}

export const apiHeads = headsOf(apiHeaders);

/** Only the dashboard's own origin may read its answers. */
export const sameOriginHeads = headsOf({ ...securityHeaders, 'cross-origin-resource-policy': 'same-origin' });

/** The lines of a head. No value comes from a client. */
function lines(headers: readonly string[]): string {
  let text = '';
  for (let i = 0; i + 1 < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return text;
}

/** The constant lines at the start of every head. */
export interface HeadStarts {
  readonly jsonBytes: Uint8Array;
  readonly stream: string;
}

/** Whether the connection is kept after the answer, as the client is told. */
export const connectionHeaders = {
  kept: { connection: 'keep-alive', 'keep-alive': `timeout=${keepAliveMs / 1000}` },
  closed: { connection: 'close' },
} as const;

function startsOf(common: Readonly<Record<string, string>>): HeadStarts {
  const start = `HTTP/1.1 200 OK\r\n${lines(Object.entries(common).flat())}`;
  return {
    jsonBytes: Buffer.from(`${start}content-type: application/json; charset=utf-8\r\n`, 'latin1'),
    stream: `${start}content-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\nx-accel-buffering: no\r\ntransfer-encoding: chunked\r\n`,
  };
}

const onHttp = { ...securityHeaders, ...allowOrigin };
const onHttps = { ...onHttp, ...httpsOnlyHeader };
const starts = {
  http: {
    kept: startsOf({ ...onHttp, ...connectionHeaders.kept }),
    closed: startsOf({ ...onHttp, ...connectionHeaders.closed }),
  },
  https: {
    kept: startsOf({ ...onHttps, ...connectionHeaders.kept }),
    closed: startsOf({ ...onHttps, ...connectionHeaders.closed }),
  },
};

export function headStarts(overHttps: boolean, connection: keyof typeof connectionHeaders = 'kept'): HeadStarts {
  return (overHttps ? starts.https : starts.http)[connection];
}

/** Only browsers use these headers, and browsers send `origin`. */
const forBrowsers = lines(Object.entries(exposeHeaders).flat());

/** What the head of an answer is written into, before it is sent. */
let headBytes = Buffer.allocUnsafeSlow(2048);
let headEnd = 0;

function makeRoom(length: number): void {
  if (headEnd + length <= headBytes.length) return;
  const longer = Buffer.allocUnsafeSlow(2 * (headEnd + length));
  headBytes.copy(longer);
  headBytes = longer;
}

/** By hand, because texts put together from so many parts leave more garbage than the rest of an answer. */
function put(text: string): void {
  makeRoom(text.length);
  const bytes = headBytes;
  let at = headEnd;
  for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i);
  headEnd = at;
}

/** The beginnings of lines, which are the same in every answer. */
const lineStarts = new Map<string, Uint8Array>();

/** The end of the line before, and a name: most of a head, and cheaper to copy than to write. */
function putName(name: string): void {
  let start = lineStarts.get(name);
  if (start === undefined) {
    start = Buffer.from(`\r\n${name}: `, 'latin1');
    lineStarts.set(name, start);
  }
  makeRoom(start.length);
  headBytes.set(start, headEnd);
  headEnd += start.length;
}

/** The head of a whole answer. Its bytes are free again with the next head. */
function jsonHead(
  { jsonBytes }: HeadStarts,
  headers: readonly string[],
  fromBrowser: boolean,
  contentLength: number,
): Buffer {
  headBytes.set(jsonBytes);
  headEnd = jsonBytes.length;
  if (fromBrowser) put(forBrowsers);
  put('content-length: ');
  put(String(contentLength));
  putName('date');
  put(httpDate());
  for (let i = 0; i + 1 < headers.length; i += 2) {
    putName(headers[i]!);
    put(headers[i + 1]!);
  }
  put('\r\n\r\n');
  return headBytes.subarray(0, headEnd);
}

/** Writes a whole answer with one write, except that of a large one, whose body comes in pieces. */
export function writeAnswer(socket: Socket, body: AnswerBody, starts: HeadStarts, about: AnswerHead): void {
  const pieces = body instanceof AnswerBytes ? [body.body] : body;
  const length = body instanceof AnswerBytes ? body.length : bytesIn(body);
  const head = jsonHead(starts, about.headers, about.fromBrowser, length);
  const whole = body instanceof AnswerBytes ? body.behind(head) : null;
  if (whole !== null) {
    socket.write(whole);
    return;
  }
  // A copy, because the next head is written where this one is.
  socket.write(Buffer.from(head));
  for (const piece of pieces) socket.write(piece);
}

interface AnswerHead {
  readonly headers: readonly string[];
  readonly fromBrowser: boolean;
}

export function streamHead({ stream }: HeadStarts, headers: readonly string[], fromBrowser: boolean): string {
  return `${stream}${fromBrowser ? forBrowsers : ''}date: ${httpDate()}\r\n${lines(headers)}\r\n`;
}

let dateSecond = 0;
let dateText = '';

export function httpDate(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(second * 1000).toUTCString();
  }
  return dateText;
}

/** A piece of a body in the chunked coding. */
export function chunkOf(latin1: string): string {
  return `${latin1.length.toString(16)}\r\n${latin1}\r\n`;
}
