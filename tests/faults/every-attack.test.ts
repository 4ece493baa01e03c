/**
 * Everything that a hostile tenant and a hostile provider can send, at once: bodies, frames of WebSockets, requests that stop halfway, and
 * answers that are dear to read or too large. Another account's chats and questions for its key do not wait, memory stays bounded, and
 * everything is as before soon after the end.
 */
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as up from '../support/scripted-upstream.js';
import { type CoTenantRig, expectUnharmed, forgetPeak, measured, residentMb, startCoTenantRig } from './co-tenant.js';
import { ask, expectServes, otherPin, pause, pin, scaled } from './fixture.js';
import { largeValue } from './generator/large-values.mjs';
import { places } from './generator/request-fields.js';

const mebibyte = 1024 * 1024;
const forMs = scaled(4_000, 25_000);
const halfRequests = scaled(200, 800);

let rig: CoTenantRig;
let sender: Worker;
beforeAll(async () => {
  sender = new Worker(new URL('./hostile-sender.mjs', import.meta.url));
  rig = await startCoTenantRig({
    config: {
      breaker: { failures: 1_000_000 },
      limits: { ip_requests_per_minute: 1e9, key_requests_per_minute: 1e9, key_tokens_per_minute: 1e12 },
    },
  });
}, 180_000);
afterAll(async () => {
  await rig?.stop();
  await sender.terminate();
});

const reply = <Message>() => new Promise<Message>((resolve) => sender.once('message', resolve));

interface Hostile {
  readonly path: string;
  readonly field: string;
  readonly shape: string;
  readonly bytes: number;
}

const bodies: readonly Hostile[] = [
  { path: '/v1/chat/completions', field: 'provider', shape: 'members', bytes: 7 * mebibyte },
  { path: '/v1/messages', field: '(top level)', shape: 'members', bytes: 20 * mebibyte },
  { path: '/v1/chat/completions', field: 'provider.order', shape: 'tiny texts', bytes: 20 * mebibyte },
  { path: '/v1/chat/completions', field: 'service_tier', shape: 'one long text', bytes: 25 * mebibyte },
  { path: '/v1/chat/completions', field: 'model', shape: 'one long text', bytes: 25 * mebibyte },
];

/** One hostile body after the other. Returns their statuses. */
async function sendBodies(key: string, until: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let turn = 0; performance.now() < until; turn++) {
    const { path, field, shape, bytes } = bodies[turn % bodies.length]!;
    const { template } = places.find((place) => place.path === path && place.field === field)!;
    sender.postMessage({ make: { template, shape, bytes } });
    await reply();
    sender.postMessage({ post: { url: rig.gateway.url, path, headers: { authorization: `Bearer ${key}` } } });
    const [sent] = await reply<{ status: number }[]>();
    statuses.push(sent!.status);
  }
  return statuses;
}

/** What ordinary large requests need for the first time is there: the threads, and the memory that the allocator keeps for the next one. */
async function sendOrdinary(key: string): Promise<void> {
  const template = `{"model":"${pin}","messages":[{"role":"user","content":@}]}`;
  for (const megabytes of [1, 3, 10, 31, 31]) {
    sender.postMessage({ make: { template, shape: 'one long text', bytes: megabytes * mebibyte } });
    await reply();
    sender.postMessage({ post: { url: rig.gateway.url, headers: { authorization: `Bearer ${key}` } } });
    const [sent] = await reply<{ status: number }[]>();
    expect(sent!.status).toBe(200);
  }
}

const usage = Buffer.from(
  `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],"usage":${largeValue('members', 20 * mebibyte)}}`,
);
const deep = Buffer.from(largeValue('deep arrays', 20 * mebibyte));

/** A provider whose answers are dear to read. Returns the statuses that its callers got. */
async function askHostileProvider(key: string, until: number): Promise<number[]> {
  const statuses: number[] = [];
  while (performance.now() < until) {
    rig.other.enqueue(up.encodedBytes(statuses.length % 2 === 0 ? usage : deep, 'identity'));
    statuses.push((await rig.gateway.chat(ask({ model: otherPin }), { key })).status);
  }
  return statuses;
}

function openSocket(bytes: string | Buffer): Socket {
  const { hostname, port } = new URL(rig.gateway.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.write(bytes);
  return socket;
}

/** Frames of a client that reads nothing, again and again on a new connection where one was closed. */
async function floodFrames(key: string, until: number): Promise<void> {
  const pings = Buffer.alloc(60_000, Buffer.from([0x89, 0x80, 0, 0, 0, 0]));
  const binaries = Buffer.alloc(63_000, Buffer.from([0x82, 0x81, 0, 0, 0, 0, 0x78]));
  for (let turn = 0; performance.now() < until; turn++) {
    const socket = openSocket(
      `GET /v1/responses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    socket.pause();
    while (!socket.destroyed && performance.now() < until) {
      if (socket.writableLength > 0) await pause(5);
      else socket.write(turn % 2 === 0 ? pings : binaries);
      if (socket.bytesWritten > 20 * mebibyte) break;
    }
    socket.destroy();
  }
}

/** Requests that announce more than they send. */
function stopHalfway(key: string): Socket[] {
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nauthorization: Bearer ${key}\r\n`;
  return Array.from({ length: halfRequests }, (_, at) =>
    openSocket(
      at % 2 === 0 ? `${head}x-a: ${'y'.repeat(12_000)}` : `${head}content-length: 100000\r\n\r\n${' '.repeat(50_000)}`,
    ),
  );
}

it('no attack, and not all of them together, holds up another account', { ...measured, timeout: 300_000 }, async () => {
  const { pid } = rig.gateway;
  const [bodySender, frameSender, caller, halves] = await Promise.all(
    Array.from({ length: 4 }, () => rig.gateway.createAccount({ credit: '1000000.00' })),
  );
  await sendOrdinary(bodySender!.key);
  await pause(500);
  const restMb = residentMb(pid).now;
  forgetPeak(pid);
  rig.watch();
  const until = performance.now() + forMs;
  const stopped = stopHalfway(halves!.key);
  const [statuses, answers] = await Promise.all([
    sendBodies(bodySender!.key, until),
    askHostileProvider(caller!.key, until),
    ...Array.from({ length: 3 }, () => floodFrames(frameSender!.key, until)),
  ]);
  for (const socket of stopped) socket.destroy();
  const delays = await rig.coTenant.finish();
  const growthMb = residentMb(pid).peak - restMb;
  console.log(
    `Every attack for ${forMs} ms: ${statuses.length} bodies, ${answers.length} answers; another account: p50 ${delays.p50.toFixed(0)}, p99 ${delays.p99.toFixed(0)}, max ${delays.max.toFixed(0)} (measured ${delays.measuredMax.toFixed(0)}) ms; +${growthMb.toFixed(0)} MB`,
  );
  expect(new Set(statuses)).toEqual(new Set([400]));
  expect(new Set(answers)).toEqual(new Set([503]));
  expectUnharmed(delays, { max: 250 });
  expect(growthMb).toBeLessThan(150);
  await pause(4_000);
  rig.watch();
  await pause(1_000);
  const after = await rig.coTenant.finish();
  expectUnharmed(after, { max: 100 });
  await expectServes(rig);
});
