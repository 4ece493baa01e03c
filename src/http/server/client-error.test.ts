import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { onClientError } from './client-error.js';

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
