import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Connection } from './connection.js';
import { TlsSessions } from './tls-sessions.js';

let server: Server;
beforeEach(async () => {
  // Refuses by the head alone and reads no further: whatever came next on the connection would wait for ever.
  server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.pause();
      socket.write('HTTP/1.1 413 Payload Too Large\r\ncontent-length: 2\r\n\r\n{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => void server.close());

/** Sends a body of this size and says whether the connection was given back for another request. */
async function isFreeAfter(bodyBytes: number): Promise<boolean> {
  const { port } = server.address() as AddressInfo;
  const connection = new Connection({ secure: false, host: '127.0.0.1', port }, new TlsSessions(() => 0));
  let free = false;
  await new Promise<void>((resolve) => {
    connection.send({
      head: `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${bodyBytes}\r\n\r\n`,
      body: Buffer.alloc(bodyBytes, 32),
      onHeaders() {},
      onData: () => true,
      onEnd: resolve,
      onError: () => resolve(),
      onFree() {
        free = true;
      },
    });
  });
  connection.destroy();
  return free;
}

it('a connection serves another request only where the last one was sent whole before it was answered', async () => {
  expect([await isFreeAfter(100), await isFreeAfter(16_000_000)]).toEqual([true, false]);
});
