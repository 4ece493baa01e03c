/**
 * Streams that are long, large or not read, and upstreams that fail or hang by the thousand: the memory that they take does not grow, their
 * work is linear and off the main thread where it must be, and no other caller feels it.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { treeMegabytes } from '../long/process-tree.mjs';
import { requestBytes } from '../support/raw-http.js';
import * as up from '../support/scripted-upstream.js';
import { type CoTenantRig, expectUnharmed, measured, startCoTenantRig } from './co-tenant.js';
import { ask, costOf, expectBooks, expectServes, generations, pause, pico, promptTokens, scaled } from './fixture.js';

let rig: CoTenantRig;
beforeAll(async () => {
  rig = await startCoTenantRig();
}, 180_000);
afterAll(() => rig?.stop());

const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n';
const line = ' every word of it counts, in “Zürich” too\n';
const frame = Buffer.from(up.frameText(up.chunk({ content: line })));
const frames = Buffer.concat(Array.from({ length: 200 }, () => frame));
/** As many bytes with little text in them, which would have to be counted. */
const padded = Buffer.concat(
  Array.from({ length: 10 }, () =>
    Buffer.from(
      up.frameText({ ...up.chunk({ content: line }), padding: 'x'.repeat(frames.length / 10 - frame.length) }),
    ),
  ),
);

/** Reads a stream to its end and keeps only its end. */
async function readToEnd(key: string): Promise<string> {
  const response = await request(`${rig.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(ask({ stream: true })),
  });
  let end = '';
  for await (const piece of response.body) end = (end + piece.toString('latin1')).slice(-1_000);
  return end;
}

/** Streams `count` blocks of frames without usage, then closes. */
function streamsBlocks(count: number): void {
  rig.upstream.reply(async (exchange) => {
    await exchange.write(head);
    for (let sent = 0; sent < count && !exchange.call.aborted; sent++) await exchange.write(frames);
    exchange.close('fin');
  });
}

// First: what the others leave behind would count as growth.
describe('memory', () => {
  /** Megabytes of a gateway that has counted a stream: the tokenizer stays loaded. */
  let baseline: number;
  beforeAll(async () => {
    const account = await rig.gateway.createAccount();
    streamsBlocks(20);
    await readToEnd(account.key);
    await generations(rig.gateway, account, 1, 20_000);
    baseline = treeMegabytes(rig.gateway.pid);
  });

  /** How far the gateway's memory rises above that of its beginning while something goes on. */
  async function growthDuring(work: () => Promise<void>): Promise<number> {
    let peak = 0;
    const timer = setInterval(() => {
      peak = Math.max(peak, treeMegabytes(rig.gateway.pid));
    }, 100);
    await work();
    clearInterval(timer);
    return Math.max(peak, treeMegabytes(rig.gateway.pid)) - baseline;
  }

  it('a long stream without usage is counted while it passes, to the token, and holds no part of its length', async () => {
    const account = await rig.gateway.createAccount();
    streamsBlocks(300);
    const growth = await growthDuring(async () => {
      expect(await readToEnd(account.key)).toContain('data: [DONE]');
    });
    // No token reaches over the end of a line, so each line more has as many: to count all of them here would take as long as there.
    const [two, three] = [countTokens(line.repeat(2)), countTokens(line.repeat(3))];
    const tokens = three + (200 * 300 - 3) * (three - two);
    await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(promptTokens, tokens)] });
    expect(growth).toBeLessThan(70);
  }, 180_000);

  it('callers that never read hold no more than a read each, and their upstreams are not read on', async () => {
    const count = 30;
    const account = await rig.gateway.createAccount();
    const sent: number[] = [];
    rig.upstream.reset();
    rig.upstream.reply(async (exchange) => {
      const at = sent.push(0) - 1;
      await exchange.write(head);
      while (!exchange.call.aborted) {
        await exchange.write(padded);
        sent[at]! += padded.length;
      }
    });
    const { hostname, port } = new URL(rig.gateway.url);
    const headers = { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' };
    const bytes = requestBytes('POST', '/v1/chat/completions', headers, JSON.stringify(ask({ stream: true })));
    const sockets: Socket[] = [];
    const growth = await growthDuring(async () => {
      for (let at = 0; at < count; at++) {
        const socket = connect({ host: hostname, port: Number(port) }).pause();
        socket.on('error', () => {});
        socket.write(bytes);
        sockets.push(socket);
      }
      await rig.upstream.waitForCalls(count);
      for (let before = -1, now = 0; before !== now; now = sent.reduce((sum, each) => sum + each, 0)) {
        before = now;
        await pause(400);
      }
    });
    for (const socket of sockets) socket.destroy();
    expect(growth).toBeLessThan(90);
    const records = await generations(rig.gateway, account, count, 20_000);
    expect(records.filter(({ completion_tokens }) => (completion_tokens as number) > 0)).toHaveLength(count);
  }, 180_000);
});

it(
  'one frame of 8 MB in pieces of 1 KB arrives whole, in linear time, and no co-tenant waits 250 ms for it',
  measured,
  async () => {
    const account = await rig.gateway.createAccount();
    rig.upstream.reset();
    const content = 'lodestone '.repeat(800_000);
    const bytes = Buffer.from(up.frameText(up.chunk({ content })));
    rig.upstream.reply(async (exchange) => {
      await exchange.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
      for (let at = 0; at < bytes.length; at += 1_024) {
        await exchange.write(bytes.subarray(at, at + 1_024));
        if (at % 65_536 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      await exchange.write(
        up
          .streamOf([], { roleChunk: false, usage: up.usage(9, 3) })
          .map(up.frameText)
          .join(''),
      );
      exchange.close('fin');
    });
    rig.watch();
    const response = await request(`${rig.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask({ stream: true })),
    });
    const pieces: Buffer[] = [];
    for await (const piece of response.body) pieces.push(piece);
    const delays = await rig.coTenant.finish();
    const [first] = Buffer.concat(pieces).toString().split('\n\n');
    const got = JSON.parse(first!.slice('data: '.length)).choices[0].delta.content as string;
    expect(sha(got)).toBe(sha(content));
    // It reads, checks and passes on 8 MB in one turn, which takes half of this on a slow processor.
    expectUnharmed(delays, { max: 250 });
    await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 3)] });
    await expectServes(rig);
  },
);

it(
  'many streams of 5 MB cut at once are counted without holding up anyone for 100 ms, and each is billed',
  measured,
  async () => {
    const count = scaled(3, 30);
    const account = await rig.gateway.createAccount();
    const text = 'every word of it counts, '.repeat(400);
    const pieces = 525;
    let ready = 0;
    rig.upstream.reset();
    rig.upstream.reply(async (exchange) => {
      await exchange.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
      const frame = up.frameText(up.chunk({ content: text }));
      for (let sent = 0; sent < pieces; sent++) await exchange.write(frame);
      ready++;
      while (ready < count) await exchange.sleep(10);
      exchange.close('fin');
    });
    rig.watch();
    const replies = await Promise.all(
      Array.from({ length: count }, async () => {
        const response = await request(`${rig.gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
          body: JSON.stringify(ask({ stream: true })),
        });
        let length = 0;
        let last = '';
        for await (const piece of response.body) {
          length += piece.length;
          last = (last + piece.toString('latin1')).slice(-2_000);
        }
        return { length, last };
      }),
    );
    const delays = await rig.coTenant.finish();
    for (const { length, last } of replies) {
      expect(length).toBeGreaterThan(5_000_000);
      expect(last).toMatch(/"stream_end":"cut".*\n\ndata: \[DONE\]\n\n$/);
    }
    expectUnharmed(delays, { p99: 100, max: 250 });
    const records = await generations(rig.gateway, account, count, 60_000);
    expect(records).toHaveLength(count);
    const costs = new Set(records.map(({ cost_usd }) => pico(cost_usd)));
    expect(costs.size).toBe(1);
    const [cost] = costs;
    await expectBooks(rig.gateway, account, { records: count, costs: records.map(() => cost!) });
    expect(records[0]!.completion_tokens).toBe(6 * 400 * pieces + 1);
    await expectServes(rig);
  },
);

const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

function rssMb(): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${rig.gateway.pid}/status`, 'utf8'))![1]) / 1024;
}

/** Resident memory wanders by tens of MB with the collector; a leak grows in every round by at least the bodies that it keeps. */
it('errors with bodies of 100 KB leave no socket and no memory behind', async () => {
  const round = scaled(100, 3_500);
  const leakedMb = round / 10;
  const account = await rig.gateway.createAccount();
  rig.upstream.reset();
  rig.upstream.reply(up.json({ error: { message: 'out of order', detail: 'x'.repeat(100_000) } }, { status: 500 }));
  const runRound = async () => {
    let left = round;
    const caller = async () => {
      while (left-- > 0) expect((await rig.gateway.chat(ask(), { key: account.key })).status).toBe(503);
    };
    await Promise.all(Array.from({ length: 16 }, caller));
  };
  const openBefore = rig.upstream.connections.open;
  await runRound();
  const residentMb = [rssMb()];
  const leastGrowth = () => Math.min(...residentMb.slice(1).map((mb, at) => mb - residentMb[at]!));
  do {
    await runRound();
    residentMb.push(rssMb());
  } while (leastGrowth() >= leakedMb / 2 && residentMb.length < 7);
  console.log(`resident memory after each ${round} errors: ${residentMb.map((mb) => mb.toFixed(0)).join(', ')} MB`);
  expect(leastGrowth()).toBeLessThan(leakedMb / 2);
  expect(rig.upstream.connections.open).toBeLessThanOrEqual(Math.max(openBefore, 17));
  await expectBooks(rig.gateway, account, { records: round * residentMb.length, costs: [] });
  await expectServes(rig);
}, 900_000);

it('calls that hang at one provider do not slow another one down', measured, async () => {
  const count = scaled(200, 2_000);
  const account = await rig.gateway.createAccount();
  rig.watch();
  await pause(scaled(500, 1_000));
  const alone = await rig.coTenant.finish();
  rig.upstream.reset();
  rig.upstream.reply(up.hang());
  const controller = new AbortController();
  const hanging = Array.from({ length: count }, (_, at) =>
    rig.gateway
      .chat(ask({ stream: at % 2 === 0 }), { key: account.key, signal: controller.signal })
      .catch(() => 'left'),
  );
  await rig.upstream.waitForCalls(Math.min(count, 512));
  rig.watch();
  await pause(scaled(1_000, 1_500));
  const beside = await rig.coTenant.finish();
  expectUnharmed(beside, { max: 250 });
  expect(beside.p50).toBeLessThan(Math.max(4 * alone.p50, 10));
  controller.abort();
  expect(new Set(await Promise.all(hanging))).toEqual(new Set(['left']));
  await rig.upstream.waitFor(() => rig.upstream.connections.open === 0);
  await expectServes(rig);
});
