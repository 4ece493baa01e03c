/**
 * Bytes that a client sends before its request is admitted: parts of heads, parts of bodies, what comes ahead of an answer. One address
 * holds a bounded part of the memory for bodies, other clients notice nothing, and all of it is given back.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RawConnection, requestBytes } from '../support/raw-http.js';
import { completion, json } from '../support/scripted-upstream.js';
import { type CoTenantRig, expectUnharmed, measured, startCoTenantRig } from './co-tenant.js';
import { ask, full, pause } from './fixture.js';

const limits = { ip_requests_per_minute: 1_000_000, key_requests_per_minute: 1_000_000 };
const path = '/v1/chat/completions';
const headOf = (key: string | null, length: number) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${
    key === null ? '' : `authorization: Bearer ${key}\r\n`
  }content-length: ${length}\r\n`;
const chatBytes = (key: string, more = {}) => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return requestBytes('POST', path, headers, JSON.stringify(ask(more)));
};

let rig: CoTenantRig;
let opened: RawConnection[] = [];

/** Many at once are refused by the system before the gateway sees them. */
async function open(count: number, bytes: string | Buffer): Promise<RawConnection[]> {
  const made: RawConnection[] = [];
  while (made.length < count) {
    const some = Array.from({ length: Math.min(100, count - made.length) }, () => RawConnection.open(rig.gateway.url));
    made.push(...(await Promise.all(some)));
  }
  opened.push(...made);
  await Promise.all(made.map((connection) => connection.write(bytes)));
  return made;
}

function closeAll(): void {
  for (const connection of opened) connection.close();
  opened = [];
}

const closed = (connections: RawConnection[]) => connections.filter(({ closedByPeer }) => closedByPeer);

describe('one address', () => {
  /** 16 MiB for all bodies, and a sixteenth of it for an address. */
  const addressBytes = 1024 * 1024;
  beforeAll(async () => {
    rig = await startCoTenantRig({ config: { limits, server: { body_memory_max: '16MiB' } } });
  }, 180_000);
  afterAll(() => rig?.stop());

  it('keeps a bounded number of long parts of heads; the others are closed without an answer', async () => {
    const { key } = await rig.gateway.createAccount();
    const body = JSON.stringify(ask());
    const part = `${headOf(key, body.length)}x-long: ${'y'.repeat(15_000)}`;
    const keptMax = Math.floor(addressBytes / 15_000);
    for (let round = 0; round < 2; round++) {
      rig.watch();
      const connections = await open(150, part);
      await expect.poll(() => closed(connections).length).toBeGreaterThanOrEqual(150 - keptMax);
      for (const { received } of closed(connections)) expect(received).toHaveLength(0);
      const kept = connections.filter(({ closedByPeer }) => !closedByPeer);
      expect(kept.length).toBeGreaterThan(keptMax / 2);
      expectUnharmed(await rig.coTenant.finish(), { max: 250 });
      // A longer part takes more memory, so most of them make room first.
      for (const connection of kept.slice(1)) connection.close();
      await expect.poll(async () => (await open(1, part))[0]!.closedByPeer).toBe(false);
      await kept[0]!.write(`\r\n\r\n${body}`);
      expect((await kept[0]!.readUntil((bytes) => bytes.includes('usage'))).status).toBe(200);
      closeAll();
    }
  }, 60_000);

  it('keeps a bounded part of what is sent ahead of answers; the other answers come, and are the last on their connection', async () => {
    const { key } = await rig.gateway.createAccount();
    const count = 60;
    const ahead = chatBytes(key, { user: 'z'.repeat(30_000) });
    const keptMax = Math.floor(addressBytes / ahead.length);
    for (let round = 0; round < 2; round++) {
      rig.upstream.reset();
      const { promise: answers, resolve: answer } = gate();
      rig.upstream.reply(async (exchange) => {
        await answers;
        await json(completion())(exchange);
      });
      rig.watch();
      const connections = await open(count, chatBytes(key));
      await rig.upstream.waitForCalls(count);
      await Promise.all(connections.map((connection) => connection.write(ahead)));
      await pause(200);
      expectUnharmed(await rig.coTenant.finish(), { max: 250 });
      answer();
      const ended = () => closed(connections).length;
      await expect.poll(ended).toBeGreaterThanOrEqual(count - keptMax);
      await expect.poll(() => connections.every(({ received }) => received.length > 0)).toBe(true);
      for (const connection of closed(connections)) {
        const text = connection.received.toString();
        expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
        expect(text).toContain('connection: close');
      }
      const answered = connections.filter(({ closedByPeer }) => !closedByPeer);
      expect(answered.length).toBeGreaterThan(keptMax / 2);
      for (const connection of answered) {
        const { raw } = await connection.readUntil((bytes) => bytes.toString().split('HTTP/1.1 200').length === 3);
        expect(raw.toString().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
      }
      closeAll();
    }
  }, 60_000);
});

/** Without LODESTONE_FULL=1 there are too few to be seen in the memory of a process. */
describe.runIf(full)('thousands of connections', () => {
  const rssMb = (): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${rig.gateway.pid}/status`, 'utf8'))![1]) / 1024;
  const spaces = ' '.repeat(60_000);
  const forms: [string, number, (key: string) => (string | Buffer)[]][] = [
    ['half of a body of 100 KB', 800, (key) => [`${headOf(key, 100_000)}\r\n${spaces.slice(10_000)}`]],
    ['half of a body of 60 KB', 800, (key) => [`${headOf(key, 60_000)}\r\n${spaces.slice(30_000)}`]],
    ['half of a body without a key', 3_000, () => [`${headOf(null, 100_000)}\r\n${spaces.slice(10_000)}`]],
    ['half of a body with a wrong key', 3_000, () => [`${headOf('x', 100_000)}\r\n${spaces.slice(10_000)}`]],
    ['a part of a head', 3_000, (key) => [`${headOf(key, 9)}x: ${'y'.repeat(15_000)}`]],
    ['a part of another head', 3_000, () => [`GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(15_000)}`]],
    ['60 KB ahead of an answer', 800, (key) => [chatBytes(key), spaces]],
  ];

  it.each(forms)(
    '%s on %d connections takes at most 150 MB, and a co-tenant never waits 250 ms',
    measured,
    async (_, count, make) => {
      rig = await startCoTenantRig({ config: { limits } });
      try {
        const { key } = await rig.gateway.createAccount();
        rig.upstream.reply(async (exchange) => void (await exchange.closed));
        const [first, ahead] = make(key);
        const before = rssMb();
        rig.watch();
        const connections = await open(count, first!);
        await pause(2_000);
        if (ahead) await Promise.all(connections.map((connection) => connection.write(ahead)));
        await pause(2_000);
        expect(rssMb() - before).toBeLessThan(150);
        closeAll();
        await pause(5_000);
        expectUnharmed(await rig.coTenant.finish(), { max: 250 });
        // The allocator keeps what it has, so the same again must not need more.
        const afterwards = rssMb();
        await open(count, first!);
        await pause(2_000);
        expect(rssMb() - afterwards).toBeLessThan(50);
      } finally {
        closeAll();
        await rig.stop();
      }
    },
  );
});

function gate(): { promise: Promise<void>; resolve(): void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
