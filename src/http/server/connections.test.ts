import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RawConnection, requestBytes } from '../../../tests/support/raw-http.js';
import { trackConnections } from './connections.js';

const answerBytes = 30_000_000;
let server: Server;
let connection: RawConnection;
beforeEach(async () => {
  server = createServer((_req, res) => void res.end(Buffer.alloc(answerBytes, 'x')));
  trackConnections(server, 100);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  connection = await RawConnection.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterEach(() => {
  connection.close();
  server.closeAllConnections();
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const closed = () => new Promise<void>((resolve) => void server.close(() => resolve()));

describe('a server that drains', () => {
  it('lets an answer that has ended leave down to its last byte', async () => {
    connection.socket.pause();
    await connection.write(requestBytes('GET', '/', {}));
    await pause(100);
    const over = closed();
    const again = setInterval(() => server.closeIdleConnections(), 20);
    await pause(100);
    connection.socket.resume();
    await connection.readUntil(() => false);
    clearInterval(again);
    expect(connection.received.length).toBeGreaterThan(answerBytes);
    await over;
  });

  it('does not wait for a connection on which nothing was ever asked', async () => {
    await pause(50);
    expect(await Promise.race([closed().then(() => 'closed'), pause(60_000)])).toBe('closed');
  });

  it('says with an answer that has yet to begin that the connection ends with it', async () => {
    server.removeAllListeners('request');
    let answer = () => {};
    server.on('request', (_req, res) => {
      answer = () => void res.end('done');
    });
    await connection.write(requestBytes('GET', '/', {}));
    await pause(50);
    const over = closed();
    answer();
    await connection.readUntil((text) => text.includes('done'));
    expect(connection.received.toString()).toMatch(/\r\nconnection: close\r\n/i);
    await over;
  });
});
