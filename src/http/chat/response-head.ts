/** Response heads of the chat path as text: what never changes is written once. Every value in them is our own. */
import { allowOrigin, exposeHeaders, securityHeaders } from '../common-headers.js';
import { keepAliveMs } from '../server-limits.js';

function lines(headers: readonly string[]): string {
  let text = '';
  for (let i = 0; i + 1 < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return text;
}

const start =
  `HTTP/1.1 200 OK\r\n${lines(Object.entries({ ...securityHeaders, ...allowOrigin }).flat())}` +
  `connection: keep-alive\r\nkeep-alive: timeout=${keepAliveMs / 1000}\r\n`;
const jsonStart = `${start}content-type: application/json; charset=utf-8\r\n`;
const streamStart =
  `${start}content-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\nx-accel-buffering: no\r\n` +
  'transfer-encoding: chunked\r\n';
/** Only browsers heed these, and they name their origin. */
const forBrowsers = lines(Object.entries(exposeHeaders).flat());

export function jsonHead(headers: readonly string[], fromBrowser: boolean, contentLength: number): string {
  return `${jsonStart}${fromBrowser ? forBrowsers : ''}content-length: ${contentLength}\r\ndate: ${httpDate()}\r\n${lines(headers)}\r\n`;
}

export function streamHead(headers: readonly string[], fromBrowser: boolean): string {
  return `${streamStart}${fromBrowser ? forBrowsers : ''}date: ${httpDate()}\r\n${lines(headers)}\r\n`;
}

let dateSecond = 0;
let dateText = '';

function httpDate(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(second * 1000).toUTCString();
  }
  return dateText;
}
