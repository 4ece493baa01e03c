/** Parses the head of a response strictly, also before its end has arrived. The usual head is scanned (response.ts), with the same result. */

export interface Head {
  status: number;
  /** Names and values alternately, as the server wrote them. */
  headers: readonly string[];
  contentLength: number | null;
  chunked: boolean;
  keepsAlive: boolean;
  keepAliveMs: number | null;
}

/** A head whose lines are being read. */
interface ParsedHead extends Head {
  headers: string[];
}

export const notHttp = 'its answer does not begin with an HTTP/1.1 status line';

const statusLine = /^HTTP\/1\.([01]) (\d{3})(?: [\t\u0020-\u007e\u0080-\u00ff]*)?$/;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerValue = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;
const digits = /^\d{1,15}$/;
const openLine = /^[\t\u0020-\u007e\u0080-\u00ff]*\r?$/;
const folded = /^[ \t]/;
const malformedHeader = 'its answer has a malformed header';
const twoLengths = 'its answer has both a length and chunks';

/** `text` is latin1, without the empty line at the end of the head. */
export function parseHead(text: string): Head {
  let lineEnd = text.indexOf('\r\n');
  const head = parseStatusLine(lineEnd === -1 ? text : text.slice(0, lineEnd));
  while (lineEnd !== -1) {
    const from = lineEnd + 2;
    lineEnd = text.indexOf('\r\n', from);
    takeHeader(head, lineEnd === -1 ? text.slice(from) : text.slice(from, lineEnd));
  }
  return head;
}

/** Checks a head before its end has arrived, so that a malformed one fails at once and not at a timeout. */
export class HeadCheck {
  private head: ParsedHead | null = null;
  private checkedTo = 0;

  /** `text` is the part of the head that has arrived so far. */
  check(text: string): void {
    for (let end = text.indexOf('\r\n', this.checkedTo); end !== -1; end = text.indexOf('\r\n', this.checkedTo)) {
      const line = text.slice(this.checkedTo, end);
      if (this.head) takeHeader(this.head, line);
      else this.head = parseStatusLine(line);
      this.checkedTo = end + 2;
    }
    this.checkOpenLine(text.slice(this.checkedTo));
  }

  /** An incomplete line: only its last byte may be a CR, since the LF may still arrive. */
  private checkOpenLine(line: string): void {
    if (!openLine.test(line)) throw new HttpFault(this.head ? malformedHeader : notHttp);
    if (this.head && folded.test(line)) throw new HttpFault(malformedHeader);
  }
}

function parseStatusLine(line: string): ParsedHead {
  const match = statusLine.exec(line);
  if (!match) throw new HttpFault(notHttp);
  return {
    status: Number(match[2]),
    headers: [],
    contentLength: null,
    chunked: false,
    keepsAlive: match[1] === '1',
    keepAliveMs: null,
  };
}

function takeHeader(head: ParsedHead, line: string): void {
  const colon = line.indexOf(':');
  const name = line.slice(0, colon);
  const value = line.slice(colon + 1).trim();
  if (colon < 1 || !headerName.test(name) || !headerValue.test(value)) throw new HttpFault(malformedHeader);
  head.headers.push(name, value);
  // Only names of these lengths frame the body.
  switch (name.length) {
    case 10:
      takeConnection(head, name.toLowerCase(), value);
      break;
    case 14:
      if (name.toLowerCase() === 'content-length') takeLength(head, value);
      break;
    case 17:
      if (name.toLowerCase() === 'transfer-encoding') takeCoding(head, value);
      break;
  }
}

function takeConnection(head: Head, name: string, value: string): void {
  if (name === 'connection') {
    const options = value.toLowerCase();
    if (options.includes('close')) head.keepsAlive = false;
    else if (options.includes('keep-alive')) head.keepsAlive = true;
  } else if (name === 'keep-alive') {
    const seconds = /timeout=(\d{1,6})/i.exec(value)?.[1];
    if (seconds !== undefined) head.keepAliveMs = Number(seconds) * 1000;
  }
}

function takeLength(head: Head, value: string): void {
  const length = Number(value);
  if (!digits.test(value) || (head.contentLength !== null && head.contentLength !== length)) {
    throw new HttpFault('its answer has a content-length that is no single number');
  }
  if (head.chunked) throw new HttpFault(twoLengths);
  head.contentLength = length;
}

function takeCoding(head: Head, value: string): void {
  if (value.toLowerCase() !== 'chunked' || head.chunked)
    throw new HttpFault(`its answer has the transfer coding "${value.slice(0, 40)}"`);
  if (head.contentLength !== null) throw new HttpFault(twoLengths);
  head.chunked = true;
}

/** The upstream does not speak HTTP as it should. */
export class HttpFault extends Error {
  readonly code = 'HTTP_FAULT';
}
