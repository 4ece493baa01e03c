/** Bodies that node:http has read and nobody has asked for yet. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { httpFixture } from '../../../tests/support/http-fixture.js';
import { RawConnection } from '../../../tests/support/raw-http.js';
import { BodyMemory } from '../../limits/body-memory.js';
import { createServer, type LodestoneServer } from './server.js';

const memory = () => new BodyMemory({ bytesMax: 8_000_000 });
const addressMax = 500_000;
let bodyMemory: BodyMemory;
let running: LodestoneServer;
let connection: RawConnection;
let admit: () => void;
let asKey: { authorization: string };
let entered = 0;

beforeEach(async () => {
  bodyMemory = memory();
  entered = 0;
  const admission = new Promise<void>((resolve) => {
    admit = resolve;
  });
  const take = async () => {
    entered++;
    await admission;
  };
  const fixture = await httpFixture({ bodyMemory });
  Object.assign(fixture.deps.ipLimiter, { take });
  asKey = fixture.asKey;
  running = await createServer(fixture.deps);
  connection = await RawConnection.open(`http://127.0.0.1:${await running.listen(0, '127.0.0.1')}`);
});
afterEach(async () => {
  connection.close();
  admit();
  await running.close();
  bodyMemory.close();
});

const head = (authorization: string) =>
  `POST /v1/aliases HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n`;
const half = (authorization = asKey.authorization) => connection.write(head(authorization) + ' '.repeat(40_000));
const isHeld = () => expect.poll(() => bodyMemory.heldBytes).toBeGreaterThan(39_000);
const isGivenBack = () => expect.poll(() => bodyMemory.heldBytes).toBe(0);

it('count while the request waits, by the bytes that have come', async () => {
  await half();
  await isHeld();
  expect(bodyMemory.heldBytes).toBeLessThan(41_000);
});

it('count for the account once it is read, and for nobody when it is complete', async () => {
  await half();
  await isHeld();
  admit();
  const rest = bodyMemory.openEarly('127.0.0.1');
  await expect.poll(() => rest.resize(addressMax - 1_000)).toBeNull();
  expect(bodyMemory.heldBytes).toBeGreaterThan(addressMax + 39_000 - 1_000);
  rest.release();
  await connection.write(' '.repeat(60_000));
  expect((await connection.readUntil((bytes) => bytes.includes('}}'))).status).toBe(400);
  await isGivenBack();
});

it.each([
  ['the request is refused', 'Bearer x', () => {}],
  ['the client has left', undefined, () => connection.reset()],
])('count no longer when %s', async (_, authorization, leave) => {
  await half(authorization);
  await isHeld();
  leave();
  admit();
  await isGivenBack();
});

it('without memory the request is 503, its body is read no further, and the connection ends', async () => {
  const others = bodyMemory.openEarly('127.0.0.1');
  others.resize(addressMax - 10_000);
  await half();
  await expect.poll(() => entered).toBe(1);
  expect(bodyMemory.heldBytes).toBeLessThan(addressMax);
  admit();
  const { status, headers } = await connection.readUntil((bytes) => bytes.includes('}}'));
  expect([status, headers.connection]).toEqual([503, 'close']);
  await connection.readUntil(() => false);
  expect(connection.closedByPeer).toBe(true);
  others.release();
  await isGivenBack();
});
