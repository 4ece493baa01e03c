/** Clients of connections that are read without node:http: those that leave, that are slow, or that are too many. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  answersOn,
  chatBytes,
  chatPath,
  connectionsMax,
  LabelledServer,
  shortTimes,
} from '../../../tests/support/labelled-server.js';
import type { RawConnection } from '../../../tests/support/raw-http.js';
import { gatewayError } from '../../errors/gateway-error.js';

const server = new LabelledServer();
/** Lets clients go that take their time. */
const hasty = new LabelledServer(shortTimes);
beforeAll(() => Promise.all([server.start(), hasty.start()]));
afterAll(() => Promise.all([server.stop(), hasty.stop()]));
afterEach(() => {
  server.reset();
  hasty.reset();
});

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
    ['with its head gets 408', `POST ${chatPath} HTTP/1.1\r\nhost: x\r\n`, shortTimes.headersTimeout, '408'],
    ['with its body gets 408', chatBytes('xxxxx').subarray(0, -2), shortTimes.requestTimeout, '408'],
    ['with its first byte gets 408', '', shortTimes.headersTimeout, '408'],
    ['with its next request is let go', chatBytes('x'), shortTimes.keepAliveTimeout, '"fast 1"'],
  ])('%s', async (_, bytes, afterMs, answer) => {
    const connection = await hasty.open();
    const startedAt = performance.now();
    if (bytes.length > 0) await connection.write(bytes);
    await connection.readUntil(() => false);
    expect(performance.now() - startedAt).toBeGreaterThan(afterMs - 5);
    expect([await answersOn(connection, 1), connection.closedByPeer]).toEqual([[answer], true]);
    expect(hasty.callers.every(({ gone, complete }) => gone || complete)).toBe(true);
  });

  it('with reading is let go, with all that waits for it', async () => {
    const connection = await hasty.open();
    connection.socket.pause();
    hasty.answer = 'y'.repeat(30_000_000);
    await connection.write(chatBytes('x'));
    await expect.poll(hasty.openCount).toBe(0);
  });
});

describe('where no more connections may be open', () => {
  it('idle ones make room, the oldest first', async () => {
    const silent = [];
    for (let i = 0; i < connectionsMax; i++) silent.push(await server.open());
    const honest = await server.open();
    await honest.write(chatBytes('x'));
    expect(await answersOn(honest, 1)).toEqual(['"fast 1"']);
    await silent[0]!.readUntil(() => false);
    expect([silent[0]!.received.length, silent[0]!.closedByPeer]).toEqual([0, true]);
  });

  it('busy ones are never closed for another, which is refused', async () => {
    const go = server.hold();
    const busy = await Promise.all(Array.from({ length: connectionsMax }, () => server.open()));
    for (const connection of busy) await connection.write(chatBytes('x'));
    await expect.poll(() => server.callers.length).toBe(connectionsMax);
    const refused = await server.open();
    await refused.readUntil(() => false);
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
  await idle.readUntil(() => false);
  await half.readUntil(() => false);
  expect([idle.closedByPeer, half.closedByPeer, busy.closedByPeer]).toEqual([true, true, false]);
  go();
  await busy.readUntil(() => false);
  expect(busy.received.toString()).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*\r\nconnection: close\r\n[\s\S]*fast 1/);
  await stopped;
  own.reset();
});

describe('memory for what comes before a request is admitted', () => {
  const addressMax = server.memory.bytesMax / 16;
  /** Leaves room for a part of a head, and for no more. */
  const fill = () => {
    const hold = server.memory.openEarly('127.0.0.1');
    expect(hold.resize(addressMax - 10_000)).toBeNull();
    return hold;
  };
  const partOfHead = `POST ${chatPath} HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(7_000)}`;

  it('a part of a head counts until it is complete, refused, late or cut off', async () => {
    for (const end of [
      (connection: RawConnection) => connection.write('\r\ncontent-length: 1\r\n\r\nx'),
      (connection: RawConnection) => connection.write('\r\nexpect: 100-continue\r\n\r\n'),
      (connection: RawConnection) => connection.write('y'.repeat(20_000)),
      async (connection: RawConnection) => connection.reset(),
      async (connection: RawConnection) => void connection.socket.end(),
    ]) {
      const connection = await server.open();
      await connection.write(partOfHead);
      await expect.poll(() => server.memory.heldBytes).toBeGreaterThan(7_000);
      expect(server.memory.heldBytes).toBeLessThan(8_000);
      await end(connection);
      await expect.poll(() => server.memory.heldBytes).toBe(0);
      connection.close();
    }
    const late = await hasty.open();
    await late.write(partOfHead);
    await late.readUntil(() => false);
    await expect.poll(() => hasty.memory.heldBytes).toBe(0);
  });

  it('where there is none, a part of a head is not kept: the connection is closed without an answer', async () => {
    const hold = fill();
    const [first, second] = [await server.open(), await server.open()];
    await first.write(partOfHead);
    await expect.poll(() => server.memory.heldBytes).toBeGreaterThan(addressMax - 3_000);
    await second.write(partOfHead);
    await second.readUntil(() => false);
    expect([second.closedByPeer, second.received.length]).toEqual([true, 0]);
    hold.release();
    await first.write('\r\ncontent-length: 1\r\nauthorization: Bearer x\r\n\r\nx');
    expect(await answersOn(first, 1)).toEqual(['"fast 1"']);
    expect(server.memory.heldBytes).toBe(0);
  });

  it('what is sent ahead of an answer counts until the answer; without memory the answer is the last one', async () => {
    const go = server.hold();
    const connection = await server.open();
    await connection.write(chatBytes('x'));
    await expect.poll(() => server.callers.length).toBe(1);
    await connection.write(chatBytes('z'.repeat(5_000)));
    await expect.poll(() => server.memory.heldBytes).toBeGreaterThan(5_000);
    const hold = server.memory.openEarly('127.0.0.1');
    hold.resize(addressMax - 6_000);
    const other = await server.open();
    await other.write(chatBytes('x'));
    await expect.poll(() => server.callers.length).toBe(2);
    await other.write(chatBytes('z'.repeat(5_000)));
    await pause(50);
    go();
    expect(await answersOn(connection, 2)).toEqual(['"fast 1"', '"node 5000"']);
    await other.readUntil(() => false);
    expect([await answersOn(other, 1), other.closedByPeer]).toEqual([['"fast 1"'], true]);
    expect(other.received.toString()).toContain('connection: close');
    hold.release();
    await expect.poll(() => server.memory.heldBytes).toBe(0);
  });

  const admissionOf = () => {
    let resolve = () => {};
    let reject: (error: Error) => void = () => {};
    const promise = new Promise<void>((admit, refuse) => {
      resolve = admit;
      reject = refuse;
    });
    return { promise, resolve, reject };
  };

  it('a body counts while its request waits for its admission; without memory the request is 503 after it', async () => {
    const { promise: admission, resolve: admit } = admissionOf();
    server.admission = admission;
    const [whole, half, last] = [await server.open(), await server.open(), await server.open()];
    await whole.write(chatBytes('x'.repeat(20_000)));
    await half.write(chatBytes('x'.repeat(20_000)).subarray(0, -5_000));
    await expect.poll(() => server.memory.heldBytes).toBeGreaterThan(35_000);
    expect(server.memory.heldBytes).toBeLessThan(36_000);
    await half.write('x'.repeat(4_000));
    await expect.poll(() => server.memory.heldBytes).toBeGreaterThan(39_000);
    const rest = server.memory.takeWaiting(server.memory.bytesMax / 4 - server.memory.heldBytes - 1_000);
    await last.write(chatBytes('x'.repeat(20_000)).subarray(0, -1));
    await expect.poll(() => server.callers.length).toBe(3);
    admit();
    expect(await answersOn(last, 1)).toEqual(['503']);
    server.memory.giveWaiting(rest);
    await half.write('x'.repeat(1_000));
    expect([await answersOn(whole, 1), await answersOn(half, 1)]).toEqual([['"fast 20000"'], ['"fast 20000"']]);
    expect(server.memory.heldBytes).toBe(0);
  });

  it.each([
    ['is refused', async () => {}, 'refused'],
    ['leaves', async (connection: RawConnection) => connection.reset(), 'left'],
  ])('a body of a request that waits and then %s counts no longer', async (_, leave, end) => {
    const { promise: admission, resolve: admit, reject } = admissionOf();
    server.admission = admission;
    const connection = await server.open();
    await connection.write(chatBytes('x'.repeat(20_000)).subarray(0, -1));
    await expect.poll(() => server.memory.heldBytes).toBeGreaterThan(19_000);
    await leave(connection);
    if (end === 'refused') reject(gatewayError('api_key_not_registered'));
    await expect.poll(() => server.memory.heldBytes).toBe(0);
    admit();
    if (end === 'refused') expect(await answersOn(connection, 1)).toEqual(['401']);
  });
});
