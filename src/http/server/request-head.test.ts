/**
 * The parser of heads beside node's own on the same bytes: whatever ours accepts, node's reads as the same request. The opposite need
 * not hold, because what ours does not accept goes to node.
 */
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { framingForms } from '../../../tests/faults/generator/framing-forms.js';
import { scaled } from '../../../tests/support/scaled.js';
import { SeededRandom } from '../../../tests/support/seeded-random.js';
import { serverLimits } from './connections.js';
import { headFault } from './malformed-requests.js';
import { HeadParser, hasLine, headIncomplete, headNotAccepted, rawHeadersOf } from './request-head.js';

const inputs = scaled(2_500, 100_000);

interface Read {
  method: string;
  url: string;
  rawHeaders: string[];
  body: string;
}

/** Node's parser has no public name; the HTTP server uses it as it is used here. */
interface NodeParser {
  [callback: number]: unknown;
  initialize(kind: number, resource: object, maxHeaderSize: number, lenient: number): void;
  execute(bytes: Buffer): number | Error;
}
const { HTTPParser, methods } = createRequire(import.meta.url)('_http_common') as {
  HTTPParser: (new () => NodeParser) & Record<string, number>;
  methods: string[];
};

/** The first request in the bytes as node reads it; null where it refuses, finds no end, or would close or upgrade the connection. */
function readByNode(bytes: Buffer): Read | null {
  const parser = new HTTPParser();
  const read: Read = { method: '', url: '', rawHeaders: [], body: '' };
  let keeps = false;
  let fault: string | undefined;
  let complete = false;
  parser.initialize(HTTPParser.REQUEST!, {}, serverLimits.options.maxHeaderSize, 0);
  parser[HTTPParser.kOnHeaders!] = (headers: string[], url: string) => {
    read.rawHeaders.push(...headers);
    read.url += url;
  };
  parser[HTTPParser.kOnHeadersComplete!] = (...args: unknown[]) => {
    const [major, minor, headers, method, url, , , upgrade, keepAlive] = args as [
      ...[number, number, string[] | undefined, number, string | undefined],
      ...[unknown, unknown, boolean, boolean],
    ];
    read.rawHeaders.push(...(headers ?? []));
    read.url += url ?? '';
    read.method = methods[method]!;
    keeps = keepAlive && !upgrade;
    const head = { rawHeaders: read.rawHeaders, httpVersionMajor: major, httpVersionMinor: minor, method: read.method };
    fault = headFault(head as Parameters<typeof headFault>[0]);
    return 0;
  };
  parser[HTTPParser.kOnBody!] = (piece: Buffer) => {
    read.body += piece.toString('latin1');
  };
  parser[HTTPParser.kOnMessageComplete!] = () => {
    complete = true;
  };
  const taken = parser.execute(bytes);
  return taken === bytes.length && complete && keeps && fault === undefined ? read : null;
}

/** The request as our parser reads it, its bytes given in two pieces; null where it is not accepted or not complete. */
function readByUs(bytes: Buffer, split: number): Read | null {
  const parser = new HeadParser();
  let bodyStart = parser.parse(bytes, split);
  if (bodyStart === headIncomplete) bodyStart = parser.parseOn(bytes, bytes.length, split);
  if (bodyStart <= 0 || bytes.length !== bodyStart + parser.contentLength) return null;
  const text = (start: number, end: number) => (start === 0 ? undefined : bytes.toString('latin1', start, end));
  const head = bytes.toString('latin1', 0, bodyStart);
  const rawHeaders = rawHeadersOf(head);
  const header = (name: string) => rawHeaders.find((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === name);
  expect(text(parser.authorizationStart, parser.authorizationEnd)).toBe(header('authorization'));
  expect(text(parser.contentTypeStart, parser.contentTypeEnd)).toBe(header('content-type'));
  expect(parser.fromBrowser).toBe(header('origin') !== undefined);
  expect(String(parser.contentLength)).toBe(header('content-length'));
  for (const name of ['traceparent', 'x', 'x-forwarded-for', 'te'])
    expect(hasLine(head, name)).toBe(rawHeaders.some((other, i) => i % 2 === 0 && other.toLowerCase() === name));
  return { method: 'POST', url: parser.door.path, rawHeaders, body: bytes.toString('latin1', bodyStart) };
}

const requestLine = 'POST /v1/chat/completions HTTP/1.1\r\n';
const blanks = ['', ' ', '  ', '\t', ' \t '];
const otherNames = [
  'accept',
  'user-agent',
  'x',
  'traceparent',
  'TE',
  'keep-alive',
  'x-forwarded-for',
  'date',
  'trailer',
];
const otherValues = ['', 'a', 'a b', 'a\tb', 'caf\xe9', '"q"; w=1, b', '*/*', '\x80\xff', 'chunked', 'close'];

function cased(random: SeededRandom, name: string): string {
  return random.chance(0.7) ? name : [...name].map((c) => (random.chance(0.5) ? c.toUpperCase() : c)).join('');
}

/** A request as clients send it, in one of many spellings. */
function plainRequest(random: SeededRandom): string {
  const body = 'x'.repeat(random.below(40));
  const headers: [string, string][] = [
    ['host', random.pick(['x', '127.0.0.1:8787', '[::1]:80', ''])],
    ['content-length', String(body.length)],
  ];
  if (random.chance(0.8)) headers.push(['authorization', random.pick(['Bearer sk-lr-abc', 'x', ''])]);
  if (random.chance(0.8)) headers.push(['content-type', 'application/json']);
  if (random.chance(0.3)) headers.push(['connection', random.pick(['keep-alive', 'Keep-Alive'])]);
  if (random.chance(0.2)) headers.push(['origin', 'https://app.example']);
  for (let left = random.below(4); left > 0; left--) headers.push([random.pick(otherNames), random.pick(otherValues)]);
  headers.sort(() => random.next() - 0.5);
  const lines = headers.map(
    // Blanks behind a length are for node to decide.
    ([name, value]) =>
      `${cased(random, name)}:${random.pick(blanks)}${value}${name === 'content-length' ? '' : random.pick(blanks)}\r\n`,
  );
  return `${requestLine}${lines.join('')}\r\n${body}`;
}

const oddBytes = [
  '\r',
  '\n',
  '\0',
  ' ',
  '\t',
  ':',
  ',',
  '\x0b',
  '\x7f',
  '\xff',
  'G',
  '0',
  '\r\n',
  '\r\n ',
  '\r\n\r\n',
  '"',
];
const oddLines = [
  'transfer-encoding: chunked',
  'Transfer-Encoding : chunked',
  'connection: close',
  'connection: upgrade',
  'connection: keep-alive, close',
  'proxy-connection: close',
  'upgrade: h2c',
  'expect: 100-continue',
  'content-length: 3',
  'content-length: 007',
  'content-length: 3 ',
  'content-length: 3\t',
  'content-length: 99999999999999999999',
  'authorization: Bearer other',
  'content-type: text/plain',
  'host: other',
  'host: a/b',
  ' folded',
  'no colon',
  ': no name',
  `long: ${'v'.repeat(17_000)}`,
];

const changes: ((text: string, random: SeededRandom) => string)[] = [
  (text, random) => inserted(text, random.below(text.length), random.pick(oddBytes)),
  (text, random) => text.slice(0, random.below(text.length)),
  (text, random) => {
    const at = random.below(text.length);
    return text.slice(0, at) + text.slice(at + 1 + random.below(3));
  },
  (text, random) => {
    const at = random.below(text.length);
    return text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at + 1);
  },
  (text, random) => inserted(text, requestLine.length, `${random.pick(oddLines)}\r\n`),
  (text, random) => inserted(text, requestLine.length, random.pick(framingForms).head),
  (text, random) => text.replace('HTTP/1.1', random.pick(['HTTP/1.0', 'HTTP/2.0', 'http/1.1', 'HTTP/1.1 '])),
  (text, random) => text.replace('/v1/chat/completions', random.pick(['/v1/chat/completions?a=1', '*', '/v1/models'])),
  (text, random) => text.replace('POST', random.pick(['GET', 'post', 'PUT', ' POST', 'POST '])),
  (text) => text.replaceAll('\r\n', '\n'),
  (text, random) => text + plainRequest(random),
];

function inserted(text: string, at: number, piece: string): string {
  return text.slice(0, at) + piece + text.slice(at);
}

describe('beside the parser of node', () => {
  it(`accepts nothing that node reads differently, in ${inputs} requests, good and bad`, { timeout: 300_000 }, () => {
    let accepted = 0;
    for (let seed = 1; seed <= inputs; seed++) {
      const random = new SeededRandom(seed);
      let text = plainRequest(random);
      const isPlain = random.chance(0.3);
      if (!isPlain) for (let left = 1 + random.below(2); left > 0; left--) text = random.pick(changes)(text, random);
      const bytes = Buffer.from(text, 'latin1');
      const ours = readByUs(bytes, bytes.length);
      // Requests in two pieces are read like whole ones, wherever they are cut.
      const cut = readByUs(bytes, random.below(bytes.length + 1));
      if (JSON.stringify(cut) !== JSON.stringify(ours)) expect(cut, `seed ${seed}: cut in two`).toEqual(ours);
      if (isPlain) expect(ours, `seed ${seed}`).not.toBeNull();
      if (!ours) continue;
      accepted++;
      const nodes = readByNode(bytes);
      if (JSON.stringify(nodes) !== JSON.stringify(ours))
        expect(ours, `seed ${seed}: ${JSON.stringify(text)}`).toEqual(nodes);
    }
    expect(accepted).toBeGreaterThan(inputs * 0.3);
  });

  it('reads a request the same wherever it is cut, also byte by byte', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const bytes = Buffer.from(plainRequest(new SeededRandom(seed)), 'latin1');
      const whole = readByUs(bytes, bytes.length);
      expect(whole).not.toBeNull();
      for (let split = 0; split < bytes.length; split++) expect(readByUs(bytes, split)).toEqual(whole);
      const parser = new HeadParser();
      let verdict = parser.parse(bytes, 1);
      let length = 1;
      for (; verdict === headIncomplete; length++) verdict = parser.parseOn(bytes, length + 1, length);
      expect([verdict, parser.contentLength]).toEqual([length, bytes.length - length]);
    }
  });
});

const head = (lines: string) => Buffer.from(`${requestLine}host: x\r\n${lines}\r\n`, 'latin1');
const verdict = (bytes: Buffer) => new HeadParser().parse(bytes, bytes.length);

describe('what node has to decide', () => {
  it.each(framingForms)('a request with $what', (form) => {
    const line = `POST /v1/chat/completions HTTP/${form.version ?? '1.1'}\r\n`;
    expect(verdict(Buffer.from(`${line}host: x\r\n${form.head}\r\n${form.body}`, 'latin1'))).toBe(headNotAccepted);
  });

  it.each([
    ['no length', ''],
    ['a body over 64 KiB', 'content-length: 65537\r\n'],
    ['an end of the connection', 'content-length: 2\r\nconnection: close\r\n'],
    ['an upgrade', 'content-length: 2\r\nupgrade: h2c\r\n'],
    ['an expectation', 'content-length: 2\r\nexpect: 100-continue\r\n'],
    ['two keys', 'content-length: 2\r\nauthorization: a\r\nauthorization: b\r\n'],
    ['a second host', 'content-length: 2\r\nhost: y\r\n'],
    ['a head over 16 KiB', `content-length: 2\r\nx: ${'y'.repeat(16_384)}\r\n`],
  ])('a request with %s', (_, lines) => expect(verdict(head(lines))).toBe(headNotAccepted));

  it('anything but a door, from its first bytes', () => {
    for (const text of ['G', 'POST /v1/k', 'POST /v1/chat/completions?', ' ', '\r\n'])
      expect(verdict(Buffer.from(text))).toBe(headNotAccepted);
    for (const text of ['', 'P', 'POST /v1/chat/comp', requestLine, `${requestLine}host: x\r\nconte`])
      expect(verdict(Buffer.from(text))).toBe(headIncomplete);
  });
});
