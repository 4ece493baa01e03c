import { createSecureContext } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, it } from 'vitest';
import { selfSigned } from '../../../../tests/support/self-signed.js';
import { Connection } from './connection.js';
import { TlsSessions } from './tls-sessions.js';

const certificate = selfSigned(['localhost']);

/** Answers while the thread of the test is busy. */
const worker = new Worker(
  `const { parentPort, workerData } = require('node:worker_threads');
   const server = require('node:tls').createServer(workerData, (socket) => {
     socket.on('error', () => {});
     socket.on('data', () => socket.write('HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\n{}'));
   });
   server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
  { eval: true, workerData: certificate },
);
afterAll(() => worker.terminate());

it('a connection with TLS serves another request also where an answer is read before its request is reported as sent', async () => {
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  const sessions = new TlsSessions(() => 0, createSecureContext({ ca: certificate.cert }));
  const connection = new Connection({ secure: true, host: 'localhost', port }, sessions);
  let frees = 0;
  const send = () =>
    new Promise<void>((resolve, reject) => {
      connection.send({
        head: 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n',
        body: Buffer.from('{}'),
        onHeaders() {},
        onData: () => true,
        onEnd: resolve,
        onError: reject,
        onFree: () => void frees++,
      });
    });
  await send();
  const answered = send();
  // Runs right after the write, and for as long as an answer takes.
  setImmediate(() => {
    for (const until = performance.now() + 200; performance.now() < until; );
  });
  await answered;
  await expect.poll(() => frees).toBe(2);
  expect(connection.alive).toBe(true);
  connection.destroy();
});
