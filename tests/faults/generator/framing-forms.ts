/**
 * Ways to say the length of a body that two readers could understand in two ways, the stuff of request smuggling (RFC 9112, sections 6.3
 * and 11.2). Each has to be refused with 400, and the connection closed, so that nothing after it is taken for a request.
 */
export interface FramingForm {
  what: string;
  /** Header lines, with their ends. */
  head: string;
  body: string;
  version?: string;
}

const chunked = '5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n';
const te = (value: string): FramingForm => ({
  what: `te:${value}`,
  head: `transfer-encoding:${value}\r\n`,
  body: chunked,
});
const cl = (value: string): FramingForm => ({
  what: `cl:${value}`,
  head: `content-length:${value}\r\n`,
  body: '{"a":1}',
});
const chunk = (what: string, body: string): FramingForm => ({ what, head: 'transfer-encoding: chunked\r\n', body });

export const framingForms: readonly FramingForm[] = [
  { what: 'length, then chunks', head: 'content-length: 7\r\ntransfer-encoding: chunked\r\n', body: chunked },
  { what: 'chunks, then length', head: 'transfer-encoding: chunked\r\ncontent-length: 7\r\n', body: chunked },
  { what: 'two lengths', head: 'content-length: 7\r\ncontent-length: 8\r\n', body: '{"a":1}' },
  { what: 'the same length twice', head: 'content-length: 7\r\ncontent-length: 7\r\n', body: '{"a":1}' },
  { what: 'a length of another case twice', head: 'Content-Length: 7\r\ncONTENT-lENGTH: 0\r\n', body: '{"a":1}' },
  { what: 'two codings', head: 'transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n', body: chunked },
  { what: 'a coding, then none', head: 'transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n', body: chunked },
  { what: 'none, then a coding', head: 'transfer-encoding: identity\r\ntransfer-encoding: chunked\r\n', body: chunked },
  { what: 'an empty coding beside a length', head: 'transfer-encoding:\r\ncontent-length: 7\r\n', body: '{"a":1}' },
  { what: 'identity beside a length', head: 'transfer-encoding: identity\r\ncontent-length: 7\r\n', body: '{"a":1}' },
  { what: 'chunks in HTTP/1.0', head: 'transfer-encoding: chunked\r\n', body: chunked, version: '1.0' },
  {
    what: 'chunks in HTTP/1.0, kept alive',
    head: 'connection: keep-alive\r\ntransfer-encoding: chunked\r\n',
    body: chunked,
    version: '1.0',
  },
  te(' gzip, chunked'),
  te(' chunked, gzip'),
  te(' chunked, chunked'),
  te(' chunked, identity'),
  te(' identity, chunked'),
  te(' ,chunked'),
  te(' chunked,'),
  te(' xchunked'),
  te(' chunkedx'),
  te(' chunked;q=1'),
  te(' "chunked"'),
  te(' \x0bchunked'),
  te(' chunked\x00'),
  te('\r\n chunked'),
  te(' chu nked'),
  te(' gzip'),
  te(' cow'),
  { what: 'a coding with a space before its colon', head: 'transfer-encoding : chunked\r\n', body: chunked },
  { what: 'a coding after a folded line', head: 'x: y\r\n transfer-encoding: chunked\r\n', body: chunked },
  { what: 'a coding after a bare LF', head: 'x: y\ntransfer-encoding: chunked\r\n', body: chunked },
  { what: 'a length with a space before its colon', head: 'content-length : 7\r\n', body: '{"a":1}' },
  cl(' +7'),
  cl(' -7'),
  cl(' 7 7'),
  cl(' 7,7'),
  cl(' 7, 8'),
  cl(' 0x7'),
  cl(' 7e0'),
  cl(' 7.0'),
  cl(' 7_0'),
  cl(' "7"'),
  cl(' seven'),
  cl(' 18446744073709551616'),
  cl('\x0b7'),
  cl(''),
  chunk('a chunk size with a sign', '+5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n'),
  chunk('a negative chunk size', '-5\r\n{"a":\r\n0\r\n\r\n'),
  chunk('a chunk size with 0x', '0x5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n'),
  chunk('a chunk size that overflows', `${'f'.repeat(17)}\r\n{"a":1}\r\n0\r\n\r\n`),
  chunk('a chunk size and a blank', '7 \r\n{"a":1}\r\n0\r\n\r\n'),
  chunk('a blank and a chunk size', ' 7\r\n{"a":1}\r\n0\r\n\r\n'),
  chunk('no chunk size', '\r\n{"a":1}\r\n0\r\n\r\n'),
  chunk('an underscore in the size', '1_0\r\n{"a":1}         \r\n0\r\n\r\n'),
  chunk('a chunk that is shorter than it says', '9\r\n{"a":1}\r\n0\r\n\r\n'),
  chunk('a chunk that is longer than it says', '5\r\n{"a":1}\r\n0\r\n\r\n'),
  chunk('a size ended by LF', '7\n{"a":1}\r\n0\r\n\r\n'),
  chunk('data ended by LF', '7\r\n{"a":1}\n0\r\n\r\n'),
  chunk('a size ended by CR', '7\r{"a":1}\r\n0\r\n\r\n'),
  chunk('an extension with LF', '7;a\nb\r\n{"a":1}\r\n0\r\n\r\n'),
  chunk('an extension of 20 KiB', `7;${'a'.repeat(20_000)}\r\n{"a":1}\r\n0\r\n\r\n`),
  chunk('a length among the trailers', '7\r\n{"a":1}\r\n0\r\ncontent-length: 3\r\n\r\n'),
  chunk('a coding among the trailers', '7\r\n{"a":1}\r\n0\r\ntransfer-encoding: chunked\r\n\r\n'),
  chunk('a trailer that is no header', '7\r\n{"a":1}\r\n0\r\nno colon\r\n\r\n'),
];
