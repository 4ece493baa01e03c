import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { headFault } from './head-fault.js';

function faultOf(
  rawHeaders: string[],
  version: readonly [number, number] = [1, 1],
  method = 'GET',
): string | undefined {
  const [httpVersionMajor, httpVersionMinor] = version;
  return headFault({ rawHeaders, httpVersionMajor, httpVersionMinor, method } as IncomingMessage);
}

const host = ['Host', 'lodestone.test:8787'];

it.each([
  ['a plain head', host],
  ['an address of IPv6', ['host', '[2001:db8::1]:8787']],
  ['an empty Host', ['host', '']],
  ['chunks, in any case', [...host, 'Transfer-Encoding', 'Chunked']],
  ['names of the same length', [...host, 'date', 'a b', 'if-modified-since', 'gzip']],
])('%s is sound', (_, rawHeaders) => expect(faultOf(rawHeaders)).toBeUndefined());

it('HTTP/1.0 needs no Host', () => expect(faultOf([], [1, 0])).toBeUndefined());

it.each<[string, string[], (readonly [number, number])?, string?]>([
  ['no Host in HTTP/1.1', []],
  ['two Hosts', [...host, ...host]],
  ['a Host with a path', ['host', 'a/b']],
  ['a Host with a blank', ['host', 'a b']],
  ['a Host of a list', ['host', 'a,b']],
  ['another coding before the chunks', [...host, 'transfer-encoding', 'gzip, chunked']],
  ['an empty coding', [...host, 'transfer-encoding', '']],
  ['chunks in HTTP/1.0', [...host, 'transfer-encoding', 'chunked'], [1, 0]],
  ['HTTP/0.9', host, [0, 9]],
  ['HTTP/2.0', host, [2, 0]],
  ['a method of RTSP', host, [1, 0], 'DESCRIBE'],
])('%s is a fault (RFC 9112 §2.3, §3.2, §6.1)', (_, rawHeaders, version, method) =>
  expect(faultOf(rawHeaders, version, method)).toEqual(expect.any(String)),
);
