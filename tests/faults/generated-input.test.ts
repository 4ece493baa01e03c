/**
 * Streams that break at any byte, by the hundred: the process lives, nothing goes unhandled, and each ends in a defined way. And bad input at
 * scale: thousands of requests made by a seeded generator, each of which has to be refused as it should be, with
 * nobody else harmed. `LODESTONE_INPUTS` sets how many, `LODESTONE_SEED` which ones, and
 * `LODESTONE_INPUT` runs a single number of a seed again.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestAccount } from '../support/client.js';
import { freePort } from '../support/free-port.js';
import type { SpawnedGateway } from '../support/gateway.js';
import { adminToken } from '../support/gateway-files.js';
import * as up from '../support/scripted-upstream.js';
import { SeededRandom } from '../support/seeded-random.js';
import {
  ask,
  countedCost,
  expectBooks,
  expectError,
  expectServes,
  generations,
  pause,
  promptTokens,
  providerError,
  type Rig,
  scaled,
  spawnRig,
  words,
} from './fixture.js';
import { InputRun } from './generator/run-inputs.js';

const count = Number(process.env.LODESTONE_INPUTS ?? scaled(600, 5_000));
const seed = Number(process.env.LODESTONE_SEED ?? 4);
const single = process.env.LODESTONE_INPUT;
const timeoutMs = 60_000 + count * 10;

let rig: Rig<SpawnedGateway>;
let hostile: TestAccount;
let honest: TestAccount;
beforeAll(async () => {
  const limits = { ip_requests_per_minute: 1e9, key_requests_per_minute: 1e9, key_tokens_per_minute: 1e12 };
  rig = await spawnRig({ config: { limits }, providers: { closed: `http://127.0.0.1:${await freePort()}` } });
});
afterAll(() => rig.stop());

const calls: string[] = [];
let honestCount = 0;
/** Requests that were sent again because their connection ended first; the gateway may have served both. */
let retried = 0;
const residentMb = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${rig.gateway.pid}/status`, 'utf8'))?.[1]) / 1024;

function addFigures(figures: { byFamily: { valid?: number }; retried: number }): void {
  honestCount += figures.byFamily.valid ?? 0;
  retried += figures.retried;
}

const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
const frames = up.streamOf(words(12), { usage: up.usage(promptTokens, 12) }).map(up.frameText);
const whole = Buffer.concat([
  Buffer.from(head),
  ...[...frames, 'data: [DONE]\n\n'].map((text) => up.chunked(text)),
  Buffer.from('0\r\n\r\n'),
]);

/** The bytes up to a point, in pieces, and then a reset. */
function resetAt(bytes: number, pieces: number): up.Script {
  return async (exchange) => {
    for (let piece = 0; piece < pieces; piece++) {
      await exchange.write(
        whole.subarray(Math.floor((bytes * piece) / pieces), Math.floor((bytes * (piece + 1)) / pieces)),
      );
      await exchange.sleep(5);
    }
    exchange.close('reset');
  };
}

it('streams reset at random bytes and refused connections never end the process, and each is settled as it ended', async () => {
  const { pid } = rig.gateway;
  const count = scaled(40, 520);
  const account = await rig.gateway.createAccount();
  const random = new SeededRandom(17);
  rig.upstream.onRequest(() => resetAt(random.below(whole.length + 1), 1 + random.below(4)));
  const costs: bigint[] = [];
  const one = async () => {
    const reply = await rig.gateway.stream(ask(), { key: account.key });
    if (reply.status !== 200) return expectError(reply, providerError);
    expect([reply.done, reply.complete, reply.remainder]).toEqual([true, true, '']);
    expect(words(12).join('').startsWith(reply.content)).toBe(true);
    const end = /"stream_end":"(\w+)"/.exec(reply.frames.at(-2)!.raw)![1];
    expect(end).toBe(reply.text.includes('"finish_reason":"stop"') ? 'complete' : 'cut');
    return costs.push(countedCost(reply.content));
  };
  const refused = async () => {
    const reply = await rig.gateway.chat(ask({ model: 'closed/meta/llama-3.3-70b/defra', stream: true }), {
      key: account.key,
    });
    expect(expectError(reply, providerError)).toMatch(/^The provider closed failed: the connection failed/);
  };
  for (let sent = 0; sent < count; sent += 40) {
    await Promise.all([...Array.from({ length: 40 }, one), ...Array.from({ length: 10 }, refused)]);
  }
  await expectBooks(rig.gateway, account, { records: count + (count / 40) * 10, costs });
  expect(costs.length).toBeGreaterThan(count / 3);
  await expectServes(rig);
  expect(rig.gateway.pid).toBe(pid);
  expect(process.kill(pid, 0)).toBe(true);
  expect(rig.gateway.output.stderr + rig.gateway.output.stdout).not.toMatch(
    /unhandled|uncaught|unexpectedly|ERR_HTTP|TypeError/i,
  );
}, 180_000);

describe('bad input at scale', () => {
  beforeAll(async () => {
    hostile = await rig.gateway.createAccount();
    honest = await rig.gateway.createAccount({ credit: '1000.00' });
    // The answer repeats the canary of the prompt, so that each caller can tell its own.
    rig.upstream.onRequest(({ body, json: asked }) => {
      rig.upstream.calls.length = 0;
      const content = /canary-\d+\./.exec(body.toString())?.[0] ?? 'no canary';
      calls.push(content);
      return (asked as { stream?: boolean }).stream
        ? up.sse(up.streamOf([content]))
        : up.json(up.completion({ content }));
    });
  });

  it(
    `${single === undefined ? count : 1} inputs of seed ${seed}: no 5xx, no crash, no hang, always the envelope, no upstream call, nothing billed`,
    async () => {
      const { url, pid } = rig.gateway;
      const target = { key: hostile.key, adminToken, accountId: hostile.accountId };
      const options = { url, seed, target, honestKey: honest.key };
      const numbers = single === undefined ? { from: 1, count } : { from: Number(single), count: 1 };
      const before = { ...options, from: 1, count: Math.min(count, scaled(50, 500)), connections: 16 };
      if (single === undefined) addFigures(await new InputRun({ ...before, seed: seed + 1 }).run());
      const warmMb = Math.round(residentMb());
      const callsBefore = calls.length;
      const run = new InputRun({ ...options, ...numbers, connections: 64 });
      const figures = await run.run();
      console.log(`LODESTONE_FIGURES ${JSON.stringify({ seed, ...figures, warmMb, endMb: Math.round(residentMb()) })}`);

      expect(run.failures).toEqual([]);
      addFigures(figures);
      const unanswered = calls.length - callsBefore - figures.served;
      expect(unanswered, 'an upstream call for each 200, and for nothing else').toBeGreaterThanOrEqual(0);
      expect(unanswered).toBeLessThanOrEqual(figures.retried);
      expect(rig.other.calls).toHaveLength(0);
      expect(rig.gateway.pid).toBe(pid);
      expect((await rig.gateway.call('GET', '/readyz')).status).toBe(200);
    },
    timeoutMs,
  );

  it(
    'the books of both accounts hold what was served, and nothing else',
    async () => {
      const served = await generations(rig.gateway, honest, honestCount);
      expect(served.length).toBeGreaterThanOrEqual(honestCount);
      expect(served.length).toBeLessThanOrEqual(honestCount + retried);
      const lucky = calls.length - served.length;
      const records = await generations(rig.gateway, hostile, lucky);
      expect(records).toHaveLength(lucky);
      const entries = await rig.gateway.ledger(hostile.accountId);
      expect(entries.filter(({ kind }) => kind === 'usage').length).toBeLessThanOrEqual(lucky);
    },
    timeoutMs,
  );

  it('every line of the log is one JSON object, and none tells of a failure of ours', async () => {
    await pause(100);
    const lines = rig.gateway.output.stderr.split('\n').filter((line) => line !== '');
    const entries = lines.map((line) => JSON.parse(line) as { level: number });
    expect(entries.filter(({ level }) => level >= 50)).toEqual([]);
    expect(rig.gateway.output.stderr).not.toContain(hostile.key);
    expect(rig.gateway.output.stderr).not.toContain(adminToken);
  });
});
