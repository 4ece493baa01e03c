/** Reads request headers, holds the constant headers of responses, and writes the response heads of the chat path. */
import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { joinedHeader } from '../../base/raw-header.js';
import { type AnswerBody, AnswerBytes, bytesIn, headRoom } from '../../pipeline/caller.js';
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

const asBytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'));
const browserLines = asBytes(forBrowsers);
const lengthStart = asBytes('content-length: ');
const dateStart = asBytes('\r\ndate: ');
const headEnd = asBytes('\r\n\r\n');

/** The line end before each name, and the name: by its place in the list, because answers have the same names in the same order. */
const lineStarts: Uint8Array[] = [];
const lineNames: string[] = [];

function lineStart(headers: readonly string[], i: number): Uint8Array {
  const place = i >> 1;
  const name = headers[i]!;
  if (lineNames[place] !== name) {
    lineNames[place] = name;
    lineStarts[place] = asBytes(`\r\n${name}: `);
  }
  return lineStarts[place]!;
}

/** Known before the head is written, so that it can be written where its end has to be. */
function headLength({ jsonBytes }: HeadStarts, { headers, fromBrowser }: AnswerHead, contentLength: string): number {
  let length = jsonBytes.length + lengthStart.length + contentLength.length + dateStart.length + httpDate().length;
  if (fromBrowser) length += browserLines.length;
  for (let i = 0; i + 1 < headers.length; i += 2) length += lineStart(headers, i).length + headers[i + 1]!.length;
  return length + headEnd.length;
}

/** Returns where the next bytes go. */
function putBytes(to: Buffer, at: number, bytes: Uint8Array): number {
  to.set(bytes, at);
  return at + bytes.length;
}

/** By hand, because texts put together from so many parts leave more garbage than the rest of an answer. */
function putText(to: Buffer, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) to[at + i] = text.charCodeAt(i);
  return at + text.length;
}

/** Writes the head of a whole answer, from `start` on. */
function putHead(to: Buffer, start: number, starts: HeadStarts, about: AnswerHead, contentLength: string): void {
  const { headers, fromBrowser } = about;
  let at = putBytes(to, start, starts.jsonBytes);
  if (fromBrowser) at = putBytes(to, at, browserLines);
  at = putText(to, putBytes(to, at, lengthStart), contentLength);
  at = putText(to, putBytes(to, at, dateStart), httpDate());
  for (let i = 0; i + 1 < headers.length; i += 2)
    at = putText(to, putBytes(to, at, lineStart(headers, i)), headers[i + 1]!);
  putBytes(to, at, headEnd);
}

/** Writes a whole answer with one write, except that of a large one, whose body comes in pieces. */
export function writeAnswer(socket: Socket, body: AnswerBody, starts: HeadStarts, about: AnswerHead): void {
  const contentLength = String(body instanceof AnswerBytes ? body.length : bytesIn(body));
  const length = headLength(starts, about, contentLength);
  if (body instanceof AnswerBytes && length <= headRoom) {
    putHead(body.bytes, headRoom - length, starts, about, contentLength);
    socket.write(body.bytes.subarray(headRoom - length));
    return;
  }
  const head = Buffer.allocUnsafe(length);
  putHead(head, 0, starts, about, contentLength);
  socket.write(head);
  for (const piece of body instanceof AnswerBytes ? [body.body] : body) socket.write(piece);
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
