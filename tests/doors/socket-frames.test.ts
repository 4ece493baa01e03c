/** Frames of the Responses WebSocket that are no requests: pings, pongs, parts of messages. What honest clients send is free, and more is not. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { startRig } from '../faults/fixture.js';
import type { GatewayClient } from '../support/client.js';
import { useDoors } from './door-gateway.js';
import { failure, plainStream, SocketClient, useSockets } from './socket-client.js';

const bench = useDoors();
const { open } = useSockets(bench);
const pin = 'plain/acme/one/defra';

async function keyWithLimit(requestsPerMinute: number): Promise<string> {
  const { key, accountId } = await bench.gateway.createAccount();
  const limits = { requests_per_minute: requestsPerMinute };
  expect((await bench.gateway.admin('PATCH', `/accounts/${accountId}`, { limits })).status).toBe(200);
  return key;
}

/** The requests that the key has left in this minute. To ask takes one. */
async function requestsLeft(key: string): Promise<number> {
  const { headers } = await bench.gateway.call('GET', '/v1/key', undefined, { key });
  return Number(headers['x-ratelimit-remaining-requests']);
}

/** Sends pings until one is answered that was sent after `count` others. */
async function ping(ws: WebSocket, count: number): Promise<string[]> {
  const pongs: string[] = [];
  const listener = (data: Buffer) => void pongs.push(String(data));
  ws.on('pong', listener);
  for (let at = 1; at <= count; at++) ws.ping(String(at));
  await expect.poll(() => pongs.at(-1) ?? ws.readyState > ws.OPEN, { timeout: 20_000 }).toBe(String(count));
  ws.off('pong', listener);
  return pongs;
}

describe('what an honest client sends is free', () => {
  it('pings are answered, many at once with the newest, and take no request', async () => {
    const key = await keyWithLimit(2);
    const { ws } = await open(key);
    expect(await ping(ws, 1)).toEqual(['1']);
    expect((await ping(ws, 100)).length).toBeLessThanOrEqual(100);
    expect(await requestsLeft(key)).toBe(1);
  });

  it('a key with one request a minute has it for its message, whatever pings and pongs came before', async () => {
    bench.plain.enqueue(plainStream(['Hi']));
    const client = await open(await keyWithLimit(1));
    for (let at = 0; at < 50; at++) client.ws.pong();
    await ping(client.ws, 50);
    expect((await client.ask({ model: pin, input: 'Hi' })).at(-1).type).toBe('response.completed');
    expect(failure(await client.ask({ model: pin, input: 'Hi' }))).toMatchObject({ status: 429 });
  });

  it('a message in parts of 16 KiB is one request', async () => {
    bench.plain.enqueue(plainStream(['Hi']), plainStream(['Hi']));
    const key = await keyWithLimit(10);
    const client = await open(key);
    for (let time = 0; time < 2; time++) {
      const text = JSON.stringify({ type: 'response.create', model: pin, input: 'x'.repeat(200 * 16_384) });
      for (let at = 0; at < text.length; at += 16_384) {
        client.ws.send(text.slice(at, at + 16_384), { fin: at + 16_384 >= text.length });
      }
      expect((await client.turn()).at(-1).type).toBe('response.completed');
    }
    expect(await requestsLeft(key)).toBe(7);
  });
});

describe('frames beyond 120 a minute', () => {
  it('take a request of the key each, and close the connection where none is left', async () => {
    const key = await keyWithLimit(100);
    const client = await open(key);
    await ping(client.ws, 150);
    expect(await requestsLeft(key)).toBe(100 - 30 - 1);
    for (let at = 0; at < 200; at++) client.ws.ping();
    expect(await client.closed).toEqual({
      code: 1008,
      reason: 'Frames beyond 120 a minute count as requests, and the key has none left.',
    });
    // Other sockets of the key keep what is free.
    const { ws } = await open(key);
    await ping(ws, 50);
  });

  it('are small parts of messages too', async () => {
    const key = await keyWithLimit(100);
    const client = await open(key);
    for (let at = 0; at < 150; at++) client.ws.send('', { fin: false });
    await ping(client.ws, 1);
    expect(await requestsLeft(key)).toBe(100 - 31 - 1);
    for (let at = 0; at < 100; at++) client.ws.send('', { fin: false });
    expect(await client.closed).toMatchObject({ code: 1008 });
  });

  it('take a request of the address each', async () => {
    const limits = { ip_requests_per_minute: 60, key_requests_per_minute: 1e6, key_tokens_per_minute: 1e9 };
    const rig = await startRig({ config: { limits } });
    const client = await SocketClient.open(rig.gateway.url, await bearerOf(rig.gateway));
    for (let at = 0; at < 300; at++) client.ws.ping();
    expect(await client.closed).toEqual({
      code: 1008,
      reason: 'Frames beyond 120 a minute count as requests, and the address has none left.',
    });
    await rig.stop();
  });
});

describe('a connection is closed', () => {
  it('with the first binary message, before it is complete', async () => {
    const client = await open();
    client.ws.send(Buffer.from('{}'), { binary: true, fin: false });
    expect(await client.closed).toEqual({
      code: 1003,
      reason: 'A binary message came. Messages are texts of JSON.',
    });
  });

  it('with a compressed frame, which was not agreed on', async () => {
    const { ws, closed } = await open();
    (ws as unknown as { _socket: Socket })._socket.write(Buffer.from([0xc1, 0x80, 0, 0, 0, 0]));
    expect(await closed).toMatchObject({ code: 1002 });
  });
});

it('an account has at most 1,000 connections, and may open another when one is closed', async () => {
  const { key } = await bench.gateway.createAccount();
  const sockets: Socket[] = [];
  for (let at = 0; at < 1_000; at += 100) {
    sockets.push(...(await Promise.all(Array.from({ length: 100 }, () => handshaken(key)))));
  }
  const headers = { authorization: `Bearer ${key}` };
  expect(await SocketClient.refused(bench.gateway.url, headers)).toMatchObject({
    status: 429,
    json: { error: { code: 'too_many_websockets', message: expect.stringContaining('1000 WebSockets') } },
  });
  await (await open()).close();
  sockets[0]!.destroy();
  await expect
    .poll(
      () =>
        open(key).then(
          () => true,
          () => false,
        ),
      { timeout: 20_000 },
    )
    .toBe(true);
  for (const socket of sockets) socket.destroy();
});

async function handshaken(key: string): Promise<Socket> {
  const { hostname, port } = new URL(bench.gateway.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `GET /v1/responses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 101 /);
  return socket;
}

const bearerOf = async (gateway: GatewayClient) => ({ authorization: `Bearer ${(await gateway.account()).key}` });
