/** Request lines, targets and header lines that are none, or none of ours. */
import type { SeededRandom } from '../../support/seeded-random.js';
import { segment } from './control-case.js';
import { hostileText, randomText } from './hostile-values.js';
import type { Expected } from './input.js';

export const latin1 = (text: string) => Buffer.from(text, 'latin1');
export const refused: Expected = { status: [400], code: ['invalid_request_error'], closes: true };
export const host = 'host: lodestone.test\r\n';

export interface RawCase {
  what: string;
  bytes: Buffer;
  expected: Expected;
  methods?: readonly string[];
}

/** What cannot be a request line of HTTP/1.0 or HTTP/1.1. */
export function requestLine(random: SeededRandom): RawCase {
  const line = random.pick([
    'GET /healthz',
    'GET /healthz HTTP/0.9',
    'GET /healthz HTTP/1.2',
    'GET /healthz HTTP/2.0',
    'GET /healthz HTTP/3.0',
    'GET /healthz HTTP/11',
    'GET /healthz http/1.1',
    'GET /healthz HTTPS/1.1',
    'GET /healthz HTTP/1.1 HTTP/1.1',
    'GET /healthz HTTP/1.1x',
    'get /healthz HTTP/1.1',
    'GET\t/healthz\tHTTP/1.1',
    'GET /hea lthz HTTP/1.1',
    'GET /hea\0lthz HTTP/1.1',
    'GET /hea\x7flthz HTTP/1.1',
    'GET /hea\xfflthz HTTP/1.1',
    'GET  HTTP/1.1',
    'GET',
    'FETCH /healthz HTTP/1.1',
    'DESCRIBE rtsp://x/healthz RTSP/1.0',
    'PLAY /healthz RTSP/1.0',
    'PRI * HTTP/2.0',
    ': HTTP/1.1',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'HELP',
    'EHLO example.test',
    `${randomText(random, 30).replace(/[\r\n]/g, '')}`,
  ]);
  return { what: `line ${line}`, bytes: latin1(`${line}\r\n${host}\r\n`), expected: refused };
}

/** Targets that are no path of ours: a 404, whatever they would mean elsewhere. */
export function target(random: SeededRandom): RawCase {
  const form = random.pick([
    'http://evil.test/v1/credits',
    'https://evil.test:443/healthz',
    'http:///healthz',
    '//evil.test/healthz',
    '//healthz',
    '/../healthz',
    '/./healthz',
    '/%2e%2e/healthz',
    '/healthz/..',
    '/healthz;a=b',
    '/healthz%00',
    '/healthz%0d%0aset-cookie:a',
    '/healthz%zz',
    '/healthz%',
    '/healthz#fragment',
    '/\\healthz',
    '/HEALTHZ',
    '/v1',
    '/v1/',
    '/v1/chat/completions/../models',
    `/${'%41'.repeat(random.below(4_000))}x`,
    `/${'a'.repeat(random.below(15_000))}x`,
    `/healthz/${segment(hostileText(random))}x`,
  ]);
  const method = random.pick(['GET', 'POST', 'DELETE']);
  return {
    what: `target ${form.slice(0, 80)}`,
    bytes: latin1(`${method} ${form} HTTP/1.1\r\n${host}\r\n`),
    expected: { status: [404] },
  };
}

export function head(random: SeededRandom): RawCase {
  const line = random.pick([
    'no colon',
    ': no name',
    ' leading: space',
    'space : colon',
    'na\0me: x',
    'na\xe9me: x',
    'name: a\0b',
    'name: a\rb',
    'name: a\r\n folded',
    'name: a\r\n\tfolded',
    'name: \x01',
    'name: a\x7fb',
    'host: second',
    'content-length: 1, 1',
    'name: a\nname2: b',
    '(name): x',
    '"name": x',
  ]);
  const bytes = latin1(`GET /healthz HTTP/1.1\r\n${host}${line}\r\n\r\n`);
  return { what: `head ${JSON.stringify(line)}`, bytes, expected: { ...refused, status: [400] } };
}

export function hostHeader(random: SeededRandom): RawCase {
  const hosts = random.pick([
    '',
    'host: a\r\nhost: a\r\n',
    'host: a b\r\n',
    'host: a/b\r\n',
    'host: a@b\r\n',
    'host: <x>\r\n',
    'host: a, b\r\n',
  ]);
  return {
    what: `hosts ${JSON.stringify(hosts)}`,
    bytes: latin1(`GET /healthz HTTP/1.1\r\n${hosts}\r\n`),
    expected: refused,
  };
}
