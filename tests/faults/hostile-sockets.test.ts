/**
 * Clients of the Responses WebSocket that send as many frames as they can and read nothing: their frames count as requests, so they are
 * closed out; memory stays bounded, and no other caller waits for more than 250 ms.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CoTenantRig, expectUnharmed, measured, startCoTenantRig } from './co-tenant.js';
import { full, pause, scaled } from './fixture.js';

let rig: CoTenantRig;
beforeAll(async () => {
  rig = await startCoTenantRig({
    config: { limits: { ip_requests_per_minute: 1e9, key_requests_per_minute: 1e9, key_tokens_per_minute: 1e9 } },
  });
}, 180_000);
afterAll(() => rig?.stop());

const peakMb = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${rig.gateway.pid}/status`, 'utf8'))?.[1]) / 1024;

async function accountKey(requestsPerMinute?: number): Promise<string> {
  const { key, accountId } = await rig.gateway.createAccount();
  if (requestsPerMinute !== undefined) {
    const limits = { requests_per_minute: requestsPerMinute };
    expect((await rig.gateway.admin('PATCH', `/accounts/${accountId}`, { limits })).status).toBe(200);
  }
  return key;
}

/** A connection after its handshake, whose client reads nothing more. */
async function deafSocket(key: string): Promise<Socket> {
  const { hostname, port } = new URL(rig.gateway.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.write(
    `GET /v1/responses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 101 /);
  socket.pause();
  return socket;
}

/** A masked frame with a mask of zeros. */
const frame = (first: number, text = '') =>
  Buffer.concat([Buffer.from([first, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);
type Kind = readonly [string, Buffer];
/** Those that a key without a limit may send for ever. */
const endless: readonly Kind[] = [
  ['empty pings', frame(0x89)],
  ['long pings', frame(0x89, 'x'.repeat(125))],
  ['pongs', frame(0x8a)],
  ['messages of 2,000 empty parts', Buffer.concat([frame(1), ...Array(1_998).fill(frame(0)), frame(0x80)])],
];
const kinds: readonly Kind[] = [
  ...endless,
  ['binary messages of a byte', frame(0x82, 'x')],
  ['text messages of a byte', frame(0x81, 'x')],
  ['empty text messages', frame(0x81)],
];
const bytesOf = (piece: Buffer) => Buffer.alloc(Math.floor((64 * 1024) / piece.length) * piece.length, piece);

/** Sends the same bytes over and over until the connection is closed or the time is over. False where it was never closed. */
async function flood(socket: Socket, bytes: Buffer, forMs: number): Promise<boolean> {
  const until = performance.now() + forMs;
  while (!socket.destroyed && performance.now() < until) {
    if (socket.writableLength > 0) await pause(5);
    else socket.write(bytes);
  }
  const closed = socket.destroyed;
  socket.destroy();
  return closed;
}

/** Sends each of the pieces on sockets of its own, beside the co-tenant. Returns how many connections were closed. */
async function attack(key: string, pieces: readonly Buffer[], forMs: number): Promise<number> {
  const open = await Promise.all(pieces.map(() => deafSocket(key)));
  const before = peakMb();
  rig.watch();
  const floods = await Promise.all(open.map((socket, at) => flood(socket, bytesOf(pieces[at]!), forMs)));
  const delays = await rig.coTenant.finish();
  const grownMb = peakMb() - before;
  const closed = floods.filter(Boolean).length;
  console.log(
    `Hostile frames on ${open.length} sockets: ${closed} closed; co-tenant p50 ${delays.p50.toFixed(0)}, p99 ${delays.p99.toFixed(0)}, max ${delays.max.toFixed(0)} (measured ${delays.measuredMax.toFixed(0)}) ms; ${grownMb.toFixed(0)} MB more memory`,
  );
  expectUnharmed(delays, { max: 250 });
  expect(grownMb).toBeLessThan(150);
  return closed;
}

const sockets = scaled(2, 20);
/** A close that the client does not answer takes two seconds. */
const closedWithinMs = 10_000;

const together: readonly (readonly [string, readonly Buffer[]])[] = full
  ? kinds.map(([name, piece]) => [name, [piece]])
  : [['frames of every kind', kinds.map(([, piece]) => piece)]];

it.each(together)(
  `%s from a key with 600 requests a minute are closed out, on ${sockets} sockets each`,
  measured,
  async (_, pieces) => {
    const all = pieces.flatMap((piece) => Array.from({ length: sockets }, () => piece));
    expect(await attack(await accountKey(600), all, closedWithinMs)).toBe(all.length);
  },
);

it.each(full ? endless : endless.slice(0, 1))(
  `%s from a key without a limit, on ${3 * sockets} sockets, hold nobody up`,
  measured,
  async (_, piece) => {
    const all = Array.from({ length: 3 * sockets }, () => piece);
    await attack(await accountKey(), all, scaled(1_000, 20_000));
  },
);
