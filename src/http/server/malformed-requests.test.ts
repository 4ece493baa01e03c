import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { headFault, onClientError } from './malformed-requests.js';

let server: Server;
let serverSide: Socket;
let client: Socket;
let received: string;

beforeEach(async () => {
  received = '';
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('data', (bytes) => {
    received += bytes;
  });
  [serverSide] = (await once(server, 'connection')) as [Socket];
});

afterEach(() => {
  client.destroy();
  server.close();
});

const fault = (code: string, message = 'x') => Object.assign(new Error(message), { code });

describe('errors that the parser or its timers find', () => {
  it.each([
    ['ERR_HTTP_REQUEST_TIMEOUT', 'HTTP/1.1 408 Request Timeout', 'request_timeout'],
    ['HPE_HEADER_OVERFLOW', 'HTTP/1.1 431 Request Header Fields Too Large', 'headers_too_large'],
    ['HPE_INVALID_METHOD', 'HTTP/1.1 400 Bad Request', 'invalid_request_error'],
    ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 'HTTP/1.1 400 Bad Request', 'invalid_request_error'],
  ])('%s is answered once and the connection closed', async (code, statusLine, errorCode) => {
    onClientError(fault(code), serverSide);
    onClientError(fault(code), serverSide);
    await once(client, 'end');
    expect(received.startsWith(statusLine)).toBe(true);
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(JSON.parse(received.split('\r\n\r\n')[1]!).error.code).toBe(errorCode);
    expect(received).toMatch(/x-request-id: req-/);
    expect(received).toContain('connection: close');
  });

  it('says nothing to a peer that is gone', async () => {
    onClientError(fault('ECONNRESET'), serverSide);
    await once(client, 'close');
    expect(received).toBe('');
  });

  it('never writes into an answer that has started', async () => {
    server.on('request', (_req, res) => {
      res.write('partial');
      onClientError(fault('HPE_INVALID_CHUNK_SIZE'), serverSide);
    });
    client.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n');
    await once(client, 'close');
    expect(received).not.toContain('400 Bad Request');
  });
});

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
])('%s is a fault (RFC 9112, sections 2.3, 3.2 and 6.1)', (_, rawHeaders, version, method) =>
  expect(faultOf(rawHeaders, version, method)).toEqual(expect.any(String)),
);
