/** The memory of a stream does not grow with its length, its reader's slowness, or the tokens that its provider does not report. */
import { connect, type Socket } from 'node:net';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { treeMegabytes } from '../long/process-tree.mjs';
import type { SpawnedGateway } from '../support/gateway.js';
import { requestBytes } from '../support/raw-http.js';
import * as up from '../support/scripted-upstream.js';
import { ask, costOf, expectBooks, generations, pause, promptTokens, type Rig, spawnRig } from './fixture.js';

let rig: Rig<SpawnedGateway>;
/** Megabytes of a gateway that has counted a stream: the tokenizer stays loaded. */
let baseline: number;
beforeAll(async () => {
  rig = await spawnRig();
  const account = await rig.gateway.createAccount();
  streamsBlocks(20);
  await readToEnd(account.key);
  await generations(rig.gateway, account, 1, 20_000);
  baseline = treeMegabytes(rig.gateway.pid);
});
afterAll(() => rig.stop());

const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n';
const line = ' every word of it counts, in “Zürich” too\n';
const frame = Buffer.from(up.frameText(up.chunk({ content: line })));
const frames = Buffer.concat(Array.from({ length: 200 }, () => frame));

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
  const tokens = countTokens(line.repeat(200 * 300));
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
      await exchange.write(frames);
      sent[at]! += frames.length;
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
