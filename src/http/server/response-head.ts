/** Response heads of the chat path as text, with the constant lines joined once. No value comes from a client. */
import { keepAliveMs } from './connections.js';
import { allowOrigin, exposeHeaders, httpsOnlyHeader, securityHeaders } from './headers.js';

function lines(headers: readonly string[]): string {
  let text = '';
  for (let i = 0; i + 1 < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return text;
}

/** The constant lines at the start of every head. */
export interface HeadStarts {
  readonly json: string;
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
    json: `${start}content-type: application/json; charset=utf-8\r\n`,
    stream: `${start}content-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\nx-accel-buffering: no\r\ntransfer-encoding: chunked\r\n`,
  };
}

const common = { ...securityHeaders, ...allowOrigin };
const https = { ...common, ...httpsOnlyHeader };
const starts = {
  http: {
    kept: startsOf({ ...common, ...connectionHeaders.kept }),
    closed: startsOf({ ...common, ...connectionHeaders.closed }),
  },
  https: {
    kept: startsOf({ ...https, ...connectionHeaders.kept }),
    closed: startsOf({ ...https, ...connectionHeaders.closed }),
  },
};

export function headStarts(overHttps: boolean, connection: keyof typeof connectionHeaders = 'kept'): HeadStarts {
  return (overHttps ? starts.https : starts.http)[connection];
}

/** Only browsers use these headers, and browsers send `origin`. */
const forBrowsers = lines(Object.entries(exposeHeaders).flat());

export function jsonHead(
  { json }: HeadStarts,
  headers: readonly string[],
  fromBrowser: boolean,
  contentLength: number,
): string {
  return `${json}${fromBrowser ? forBrowsers : ''}content-length: ${contentLength}\r\ndate: ${httpDate()}\r\n${lines(headers)}\r\n`;
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
