/**
 * Callers that take their time: heads and bodies that never come to an end, connections on which nothing is said, answers that
 * nobody reads. The times here are short ones of the test's own; the first test holds the real ones fast, and
 * `tests/soak/slow-callers.mjs` waits for them.
 */
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { MemoryCounters } from '../../src/cluster/memory.js';
import type { ChatHandler } from '../../src/http/deps.js';
import { serverLimits } from '../../src/http/server/connections.js';
import { createServer, type LodestoneServer } from '../../src/http/server/server.js';
import { IpLimiter, KeyLimiter } from '../../src/limits/rate-limits.js';
import { httpFixture } from '../support/http-fixture.js';
import { RawConnection, requestBytes } from '../support/raw-http.js';
import { expectWithin, pause } from './fixture.js';

const times = { headersTimeout: 400, requestTimeout: 900, keepAliveTimeout: 500, connectionsCheckingInterval: 50 };
const connectionsMax = 20;
let running: LodestoneServer | undefined;
const opened: RawConnection[] = [];

/** A server in which a chat waits for its body and then until it is let go. */
async function start(chat: ChatHandler = (req, res) => void req.resume().on('end', () => res.end('{}'))) {
  const fixture = await httpFixture();
  const counters = () => new MemoryCounters(fixture.clock);
  const limits = { keyRequestsPerMinute: 1e9, keyTokensPerMinute: 1e9 };
  const deps = {
    ...fixture.deps,
    chat,
    ipLimiter: new IpLimiter(1e9, counters()),
    keyLimiter: new KeyLimiter(limits, counters(), counters()),
  };
  running = await createServer(deps, { options: { ...serverLimits.options, ...times }, connectionsMax });
  await running.listen(0, '127.0.0.1');
  const url = `http://127.0.0.1:${(running.server.address() as AddressInfo).port}`;
  const open = async () => {
    const connection = await RawConnection.open(url);
    opened.push(connection);
    return connection;
  };
  return { open, asKey: fixture.asKey };
}

afterEach(async () => {
  for (const connection of opened.splice(0)) connection.close();
  await running?.close();
});

/** Sends a byte now and then until the connection is closed, and says when that was. */
async function drip(connection: RawConnection, first: string): Promise<number> {
  const startedAt = performance.now();
  await connection.write(first);
  while (!connection.closedByPeer && performance.now() - startedAt < 10_000) {
    await connection.write('x');
    await pause(20);
  }
  return performance.now() - startedAt;
}

const timedOut = { error: { type: 'invalid_request_error', code: 'request_timeout' } };

it('the real times and sizes are those of docs/decisions/0012', () => {
  expect(serverLimits).toMatchObject({
    options: {
      maxHeaderSize: 16_384,
      headersTimeout: 20_000,
      requestTimeout: 300_000,
      keepAliveTimeout: 75_000,
      connectionsCheckingInterval: 5_000,
      insecureHTTPParser: false,
    },
    connectionsMax: 10_000,
  });
});

describe('slow senders', () => {
  it.each([
    ['a head that drips in', 'GET /healthz HTTP/1.1\r\nhost: x\r\nx: '],
    ['a request line that drips in', 'GET /'],
  ])('%s gets 408 with the envelope when its time is over, whatever still comes', async (_, first) => {
    const { open } = await start();
    const connection = await open();
    const elapsedMs = await drip(connection, first);
    const { status, json, headers } = await connection.readUntilIdle(50);
    expect([status, json, headers.connection]).toMatchObject([408, timedOut, 'close']);
    expect(elapsedMs).toBeGreaterThan(times.headersTimeout - 5);
    expectWithin(elapsedMs, times.headersTimeout + 300);
  });

  it.each([
    ['chat', '/v1/chat/completions'],
    ['control plane', '/v1/aliases'],
  ])('a body of the %s that drips in gets 408, and its request is over', async (_, path) => {
    const { open, asKey } = await start();
    const connection = await open();
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${asKey.authorization}\r\n`;
    const elapsedMs = await drip(connection, `${head}content-type: application/json\r\ncontent-length: 99999\r\n\r\n{`);
    const { status, json } = await connection.readUntilIdle(50);
    expect([status, json]).toMatchObject([408, timedOut]);
    expect(elapsedMs).toBeGreaterThan(times.requestTimeout - 5);
    expectWithin(elapsedMs, times.requestTimeout + 300);
  });

  it('a body that drips in after its refusal gets no second answer', async () => {
    const { open } = await start();
    const connection = await open();
    await drip(connection, 'POST /v1/aliases HTTP/1.1\r\nhost: x\r\ncontent-length: 99999\r\n\r\n{');
    const { raw } = await connection.readUntilIdle(50);
    expect(raw.toString().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401']);
  });
});

describe('silent connections', () => {
  it('one on which nothing is ever said is closed after the time of a head', async () => {
    const { open } = await start();
    const connection = await open();
    const startedAt = performance.now();
    await connection.readUntil(() => false, 5_000);
    expect(connection.closedByPeer).toBe(true);
    expectWithin(performance.now() - startedAt, times.headersTimeout + 300);
  });

  it('one that is kept after an answer is closed after the time of an idle one', async () => {
    const { open } = await start();
    const connection = await open();
    await connection.write(requestBytes('GET', '/healthz', {}));
    await connection.readUntil((bytes) => bytes.includes('"ok"'));
    const startedAt = performance.now();
    await connection.readUntil(() => false, 5_000);
    expect(connection.closedByPeer).toBe(true);
    expect(performance.now() - startedAt).toBeGreaterThan(times.keepAliveTimeout - 50);
  });

  it('many of them keep nobody out: the oldest make room', async () => {
    const { open } = await start();
    const silent = await Promise.all(Array.from({ length: connectionsMax * 3 }, () => open()));
    const honest = await open();
    await honest.write(requestBytes('GET', '/healthz', {}));
    expect((await honest.readUntil((bytes) => bytes.includes('"ok"'))).status).toBe(200);
    const [count] = await connectionsOf();
    expect(count).toBeLessThanOrEqual(connectionsMax);
    await silent[0]!.readUntil(() => false);
    expect(silent[0]!.closedByPeer).toBe(true);
  });

  it('a connection with a request under way is never closed for another; where all are busy, the new one is refused', async () => {
    const waiting: (() => void)[] = [];
    const { open } = await start((_req, res) => void waiting.push(() => res.end('{}')));
    const busy = await Promise.all(Array.from({ length: connectionsMax }, () => open()));
    for (const connection of busy) await connection.write(requestBytes('POST', '/v1/chat/completions', {}));
    for (let tries = 0; waiting.length < connectionsMax && tries < 200; tries++) await pause(10);
    const refused = await open();
    await refused.write(requestBytes('GET', '/healthz', {}));
    expect(await refused.readUntil(() => false)).toMatchObject({ status: 0, closedByPeer: true });
    for (const answer of waiting) answer();
    for (const connection of busy) {
      expect((await connection.readUntil((bytes) => bytes.includes('{}'))).status).toBe(200);
    }
  });
});

function connectionsOf(): Promise<number[]> {
  return new Promise((resolve) => running!.server.getConnections((_, count) => resolve([count])));
}

describe('callers that do not read', () => {
  it('are let go with all that waits for them, after the time of an idle connection', async () => {
    const { open } = await start();
    const connection = await open();
    connection.socket.pause();
    // A long answer: a few of them fill all that is between the two.
    const many = Buffer.concat(Array.from({ length: 500 }, () => requestBytes('GET', '/openapi.json', {})));
    // Until the gateway takes no more, because nobody takes what it has.
    while (connection.socket.writableLength < 1_000_000) connection.socket.write(many);
    const startedAt = performance.now();
    let [count] = await connectionsOf();
    expect(count).toBe(1);
    while (count !== 0 && performance.now() - startedAt < 15_000) {
      await pause(50);
      [count] = await connectionsOf();
    }
    expect(count).toBe(0);
  }, 180_000);
});
