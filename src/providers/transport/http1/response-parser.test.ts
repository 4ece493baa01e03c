import { describe, expect, it } from 'vitest';
import { forSeeds, type SeededRandom } from '../../../../tests/support/seeded-random.js';
import { HttpFault } from '../parse-head.js';
import { headBytesMax, ResponseParser } from './response-parser.js';

interface Reading {
  status: number;
  type: string | undefined;
  body: string;
  done: boolean;
  reusable: boolean;
}

/** Reads like a connection does: every piece lies in one buffer, which is overwritten by the next. */
function read(pieces: Buffer[], close = false): Reading {
  const reading: Reading = { status: 0, type: undefined, body: '', done: false, reusable: false };
  const shared = Buffer.alloc(Math.max(...pieces.map(({ length }) => length), 1));
  const parser = new ResponseParser({
    onHead: (status, headers) => Object.assign(reading, { status, type: headers[headers.indexOf('content-type') + 1] }),
    onBody(view) {
      reading.body += view.toString('latin1');
      return true;
    },
  });
  for (const piece of pieces) {
    shared.fill(0);
    piece.copy(shared);
    parser.take(shared.subarray(0, piece.length));
  }
  if (close) parser.closed();
  return Object.assign(reading, { done: parser.done, reusable: parser.reusable });
}
const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
const faultOf = (text: string): unknown => {
  try {
    return read([bytesOf(text)]);
  } catch (error) {
    return error;
  }
};

const bodies = ['', 'x', '{"a":1}', '\r\n\r\n', '0\r\n\r\n', 'é'.repeat(3), 'x'.repeat(300)];

function chunked(random: SeededRandom, body: string): string {
  let text = '';
  for (let at = 0; at < body.length; ) {
    const size = 1 + random.below(20);
    const piece = body.slice(at, at + size);
    const hex = piece.length.toString(16);
    text += `${random.pick(['', '00'])}${random.pick([hex, hex.toUpperCase()])}${random.pick(['', ';a=b', ' ; x'])}\r\n${piece}\r\n`;
    at += size;
  }
  return `${text}0\r\n${random.pick(['', 'x-trailer: 1\r\n'])}\r\n`;
}

describe('a response out of bytes', () => {
  it('is the same however the bytes are cut', () => {
    forSeeds(1_500, (random) => {
      const body = random.pick(bodies);
      const framing = random.pick(['length', 'chunked', 'close'] as const);
      const interim = random.pick(['', 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n']);
      const lines = [
        'content-type: text/plain',
        framing === 'length'
          ? `Content-Length: ${body.length}`
          : framing === 'chunked'
            ? 'transfer-encoding: Chunked'
            : 'x-b:',
      ];
      const payload = framing === 'chunked' ? chunked(random, body) : body;
      const bytes = bytesOf(
        `${interim}HTTP/1.1 200 ${random.pick(['OK', '', 'Très bien'])}\r\n${lines.join('\r\n')}\r\n\r\n${payload}`,
      );
      const expected = {
        status: 200,
        type: 'text/plain',
        body,
        done: true,
        reusable: framing !== 'close',
      };
      const close = framing === 'close';
      expect(read([bytes], close), 'whole').toEqual(expected);
      expect(read(random.cuts(bytes), close), 'in pieces').toEqual(expected);
      expect(
        read(
          Array.from(bytes, (byte) => Buffer.from([byte])),
          close,
        ),
        'byte by byte',
      ).toEqual(expected);
    });
  });

  it('that breaks off is not done, wherever it does', () => {
    const whole = bytesOf('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n');
    for (let at = 0; at < whole.length; at++)
      expect(read([whole.subarray(0, at)], true).done, `after ${at} bytes`).toBe(false);
    expect(read([whole], true).done).toBe(true);
    expect(read([bytesOf('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhell')], true).done).toBe(false);
  });

  it.each([
    ['two different lengths', 'content-length: 2\r\ncontent-length: 3'],
    ['a list of lengths', 'content-length: 2, 2'],
    ['a negative length', 'content-length: -1'],
    ['a length in hex', 'content-length: 0x10'],
    ['a length with a sign', 'content-length: +2'],
    ['an empty length', 'content-length:'],
    ['a length of 30 digits', `content-length: ${'9'.repeat(30)}`],
    ['a length and chunks', 'content-length: 2\r\ntransfer-encoding: chunked'],
    ['another transfer coding', 'transfer-encoding: gzip, chunked'],
    ['chunks twice', 'transfer-encoding: chunked\r\ntransfer-encoding: chunked'],
    ['a header without a name', ': x'],
    ['a header without a colon', 'nonsense'],
    ['a blank before the colon', 'x : y'],
    ['a folded header', 'x: y\r\n folded'],
    ['a control character', 'x: a\u0001b'],
    ['a NUL', 'x: a\u0000b'],
    ['a bare CR', 'x: a\rb'],
    ['a bare LF', 'x: a\nb: c'],
    ['a name beyond ASCII', 'é: x'],
  ])('with %s is a fault, never a guess', (_, header) => {
    expect(faultOf(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n{}`)).toBeInstanceOf(HttpFault);
  });

  it.each([
    'HTTP/2 200 OK',
    'HTTP/1.2 200 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1  200 OK',
    'http/1.1 200 OK',
    'HTTP/1.1 abc',
    'ICY 200 OK',
    '',
    ' HTTP/1.1 200 OK',
    'HTTP/1.1 200 a\u0000b',
    'HTTP/1.1 101 Switching',
  ])('that begins with %j is a fault', (line) => expect(faultOf(`${line}\r\n\r\n`)).toBeInstanceOf(HttpFault));

  it.each([
    'zz\r\n',
    '-1\r\n',
    '\r\n',
    '5\nhello',
    '123456789\r\n',
    '5\r\nhelloXX',
    '5\r\nhello\n',
    `5;${'x'.repeat(2_000)}\r\n`,
    `0\r\n${'a: b\r\n'.repeat(5_000)}`,
  ])('with the broken chunk %j is a fault', (chunk) =>
    expect(faultOf(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunk}`)).toBeInstanceOf(HttpFault),
  );

  it('has a head of at most 16 KB and few interim responses', () => {
    expect(faultOf(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(headBytesMax)}\r\n\r\n`)).toBeInstanceOf(HttpFault);
    expect(faultOf('x'.repeat(headBytesMax + 1))).toBeInstanceOf(HttpFault);
    expect(faultOf('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100))).toBeInstanceOf(HttpFault);
    expect(
      faultOf(`${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(20)}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`),
    ).toMatchObject({ status: 200, done: true });
  });

  it('with status 204 or 304 has no body, whatever it says', () => {
    for (const status of [204, 304]) {
      expect(faultOf(`HTTP/1.1 ${status} X\r\ncontent-length: 5\r\n\r\n`)).toMatchObject({
        status,
        done: true,
        reusable: true,
        body: '',
      });
    }
  });

  it('leaves a connection that is not to be used again where anything is out of step', () => {
    const reusable = (text: string) => read([bytesOf(text)], true).reusable;
    expect(reusable('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')).toBe(true);
    expect(reusable('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}HTTP/1.1 200 OK')).toBe(false);
    expect(reusable('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nmore')).toBe(false);
    expect(reusable('HTTP/1.1 204 OK\r\n\r\nmore')).toBe(false);
    expect(reusable('HTTP/1.1 200 OK\r\nConnection: Close\r\ncontent-length: 2\r\n\r\n{}')).toBe(false);
    expect(reusable('HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}')).toBe(false);
    expect(reusable('HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\n{}')).toBe(true);
    expect(reusable('HTTP/1.1 200 OK\r\n\r\n{}')).toBe(false);
  });

  it('can be followed by another on the same connection', () => {
    const seen: string[] = [];
    const parser = new ResponseParser({
      onHead: (status) => seen.push(String(status)),
      onBody: (view) => seen.push(view.toString()) > 0,
    });
    for (const text of [
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nx: y\r\n\r\n',
      'HTTP/1.1 500 X\r\ncontent-length: 1\r\n\r\nb',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nc\r\n0\r\n\r\n',
    ]) {
      parser.reset();
      parser.take(bytesOf(text));
      expect([parser.done, parser.reusable]).toEqual([true, true]);
    }
    expect(seen).toEqual(['200', 'a', '500', 'b', '200', 'c']);
  });
});
