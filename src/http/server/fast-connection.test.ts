/** Clients of connections that are read without node:http: those that leave, that are slow, or that are too many. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  answersOn,
  chatBytes,
  chatPath,
  connectionsMax,
  LabelledServer,
  times,
} from '../../../tests/support/labelled-server.js';
import type { RawConnection } from '../../../tests/support/raw-http.js';

const server = new LabelledServer();
beforeAll(() => server.start());
afterAll(() => server.stop());
afterEach(() => server.reset());

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('a client that leaves', () => {
  it.each([
    ['closes its side', (connection: RawConnection) => void connection.socket.end()],
    ['resets the connection', (connection: RawConnection) => connection.reset()],
  ])('and %s is gone for the request that is served', async (_, leave) => {
    server.wait = pause(300);
    const connection = await server.open();
    await connection.write(chatBytes('x'));
    await expect.poll(() => server.callers.length).toBe(1);
    leave(connection);
    await expect.poll(() => server.callers[0]!.gone).toBe(true);
    await server.wait;
    await expect.poll(server.openCount).toBe(0);
    expect(connection.received).toHaveLength(0);
  });

  it.each([
    ['head', `POST ${chatPath} HTTP/1.1\r\nhost: x\r\nauthori`],
    ['body', chatBytes('xxxxx').subarray(0, -2)],
  ])('in the middle of its %s gets 400, as from node:http', async (_, bytes) => {
    const connection = await server.open();
    await connection.write(bytes);
    await pause(30);
    connection.socket.end();
    expect(await answersOn(connection, 1)).toEqual(['400']);
    expect(server.callers.every(({ gone }) => gone)).toBe(true);
    expect(server.memory.heldBytes).toBe(0);
  });
});

describe('a client that takes its time', () => {
  it.each([
    ['with its head gets 408', `POST ${chatPath} HTTP/1.1\r\nhost: x\r\n`, times.headersTimeout, '408'],
    ['with its body gets 408', chatBytes('xxxxx').subarray(0, -2), times.requestTimeout, '408'],
    ['with its first byte gets 408', '', times.headersTimeout, '408'],
    ['with its next request is let go', chatBytes('x'), times.keepAliveTimeout, '"fast 1"'],
  ])('%s', async (_, bytes, afterMs, answer) => {
    const connection = await server.open();
    const startedAt = performance.now();
    if (bytes.length > 0) await connection.write(bytes);
    await connection.readUntil(() => false, 3_000);
    expect(performance.now() - startedAt).toBeGreaterThan(afterMs - 5);
    expect([await answersOn(connection, 1), connection.closedByPeer]).toEqual([[answer], true]);
    expect(server.callers.every(({ gone, complete }) => gone || complete)).toBe(true);
  });

  it('with reading is let go, with all that waits for it', async () => {
    const connection = await server.open();
    connection.socket.pause();
    server.answer = 'y'.repeat(30_000_000);
    await connection.write(chatBytes('x'));
    await expect.poll(server.openCount).toBe(0);
  });
});

describe('where no more connections may be open', () => {
  it('idle ones make room, the oldest first', async () => {
    const silent = [];
    for (let i = 0; i < connectionsMax; i++) silent.push(await server.open());
    const honest = await server.open();
    await honest.write(chatBytes('x'));
    expect(await answersOn(honest, 1)).toEqual(['"fast 1"']);
    await silent[0]!.readUntil(() => false, 200);
    expect([silent[0]!.received.length, silent[0]!.closedByPeer]).toEqual([0, true]);
  });

  it('busy ones are never closed for another, which is refused', async () => {
    const go = server.hold();
    const busy = await Promise.all(Array.from({ length: connectionsMax }, () => server.open()));
    for (const connection of busy) await connection.write(chatBytes('x'));
    await expect.poll(() => server.callers.length).toBe(connectionsMax);
    const refused = await server.open();
    await refused.readUntil(() => false, 2_000);
    expect([refused.received.length, refused.closedByPeer]).toEqual([0, true]);
    go();
    for (const connection of busy) expect(await answersOn(connection, 1)).toEqual(['"fast 1"']);
  });
});

it('a server that stops says so with the answer under way, and closes idle connections', async () => {
  const own = new LabelledServer();
  await own.start();
  const go = own.hold();
  const [busy, idle, half] = [await own.open(), await own.open(), await own.open()];
  await busy.write(chatBytes('x'));
  await half.write(chatBytes('xx').subarray(0, 30));
  await expect.poll(() => own.callers.length).toBe(1);
  const stopped = own.stop(5_000);
  await idle.readUntil(() => false, 2_000);
  await half.readUntil(() => false, 2_000);
  expect([idle.closedByPeer, half.closedByPeer, busy.closedByPeer]).toEqual([true, true, false]);
  go();
  await busy.readUntil(() => false, 2_000);
  expect(busy.received.toString()).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*\r\nconnection: close\r\n[\s\S]*fast 1/);
  await stopped;
  own.reset();
});
