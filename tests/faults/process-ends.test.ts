/** Streams of a process that is killed: what was delivered is billed once, and nobody pays for more than an exact count gives. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, TestAccount } from '../support/client.js';
import type { SpawnedGateway } from '../support/gateway.js';
import { adminToken } from '../support/gateway-files.js';
import * as up from '../support/scripted-upstream.js';
import {
  ask,
  countedCost,
  expectBooks,
  pause,
  pico,
  promptTokens,
  type Rig,
  scaled,
  spawnRig,
  tokensOf,
  words,
} from './fixture.js';

let rig: Rig<SpawnedGateway>;
let gateway: SpawnedGateway;
beforeAll(async () => {
  rig = await spawnRig();
  gateway = rig.gateway;
}, 180_000);
afterAll(() => rig?.stop());

async function usageOf({ accountId }: TestAccount): Promise<Json[]> {
  return (await gateway.ledger(accountId, 1_000)).filter(({ kind }) => kind === 'usage');
}

describe('streams of a process that is killed', () => {
  const frames = up.streamOf(words(2_000)).map(up.frameText);
  const rounds = scaled(1, 2);
  /** One leaves a moment before the kill, one is there until then, one left and was counted. */
  let left: TestAccount;
  let running: TestAccount;
  let counted: TestAccount;
  /** Of streams that are there until the kill too. */
  let uncounted: { account: TestAccount; content: string }[] = [];
  let delivered: string;
  let content: string;

  /** A stream that goes on until its connection is closed, and waits before the eleventh frame. */
  function heldStream(): { script: up.Script; release: () => void } {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const script: up.Script = async (exchange) => {
      await exchange.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
      await exchange.write(frames.slice(0, 10).join(''));
      await released;
      for (const frame of frames.slice(10)) {
        if (exchange.call.aborted) return;
        await exchange.write(frame);
        await exchange.sleep(10);
      }
    };
    return { script, release };
  }

  /** Texts of which four characters are less than a token. */
  const texts = [
    ' internationalization telecommunications',
    `${' '.repeat(400)}a`,
    '大发快三大小单双',
    `}${'\n'.repeat(90)}`,
  ];

  /** Some of the text, and no end. */
  const holding =
    (text: string): up.Script =>
    async (exchange) => {
      const all = up.streamOf(Array.from({ length: 100 }, () => text)).map(up.frameText);
      await exchange.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
      await exchange.write(all.slice(0, 90).join(''));
      await exchange.closed;
    };

  /** However late its caller leaves, no more than that was delivered. */
  const silentAfterTenWords: up.Script = async (exchange) => {
    await exchange.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
    await exchange.write(frames.slice(0, 11).join(''));
    await exchange.closed;
  };

  /** Leaves a stream at its eleventh frame, and kills the process the moment the upstream sees it. */
  async function leaveAndKill(before: () => Promise<void>): Promise<void> {
    const held = heldStream();
    const calls = rig.upstream.calls.length;
    rig.upstream.enqueue(held.script);
    const leaving = gateway.stream(ask(), { key: left.key, hangUpAfter: 11 });
    await rig.upstream.waitForCalls(calls + 1);
    await before();
    held.release();
    await leaving;
    await rig.upstream.waitFor(() => rig.upstream.calls[calls]!.aborted);
    await gateway.kill('SIGKILL');
  }

  beforeAll(async () => {
    rig.upstream.reset();
    left = await gateway.createAccount();
    running = await gateway.createAccount();
    counted = await gateway.createAccount();
    rig.upstream.onRequest(() => up.sse(up.streamOf(words(2_000)), { gapMs: 10 }));
    const stream = gateway.stream(ask(), { key: running.key });
    await rig.upstream.waitForCalls(1);
    const streams: { account: TestAccount; reply: Promise<{ content: string }> }[] = [];
    for (const text of texts) {
      const account = await gateway.createAccount();
      rig.upstream.enqueue(holding(text));
      streams.push({ account, reply: gateway.stream(ask(), { key: account.key }) });
      await rig.upstream.waitForCalls(1 + streams.length);
    }
    await pause(300);
    await leaveAndKill(async () => {
      rig.upstream.enqueue(silentAfterTenWords);
      ({ content } = await gateway.stream(ask(), { key: counted.key, hangUpAfter: 11 }));
      const [record] = await expectBooks(gateway, counted, { records: 1, costs: [countedCost(content)] });
      expect(record).toMatchObject({ stream_end: 'client_closed', completion_tokens: 10 });
    });
    delivered = (await stream).content;
    uncounted = await Promise.all(
      streams.map(async ({ account, reply }) => ({ account, content: (await reply).content })),
    );
    await gateway.restart();
  }, 180_000);

  it('a caller that leaves a stream is billed once, also when the process is killed the moment the upstream sees the abort', async () => {
    for (let round = 1; round <= rounds; round++) {
      if (round > 1) {
        await leaveAndKill(() => Promise.resolve());
        await gateway.restart();
      }
      const usage = await usageOf(left);
      expect(usage).toHaveLength(round);
      for (const entry of usage) expect(-pico(entry.amount_usd)).toBeGreaterThan(0n);
    }
    const { json } = await gateway.call('GET', '/v1/generations', undefined, { key: left.key });
    expect(json.data).toHaveLength(rounds);
    for (const record of json.data as Json[]) {
      expect(record).toMatchObject({ stream_end: 'client_closed', status: 200 });
      // The count may have been faster than the kill.
      expect(['counted', 'estimated']).toContain(record.usage_source);
    }
  }, 180_000);

  it('nobody pays for a guess: what was not counted is billed by the fewest tokens that it can be, and shows in the metrics', async () => {
    for (const { account, content } of uncounted) {
      expect(content).not.toBe('');
      const { json } = await gateway.call('GET', '/v1/generations', undefined, { key: account.key });
      expect(json.data).toHaveLength(1);
      const [record] = json.data as [Json];
      expect(record).toMatchObject({ usage_source: 'estimated', stream_end: 'cut' });
      expect(record.completion_tokens).toBeLessThanOrEqual(tokensOf(content));
      expect(record.prompt_tokens).toBeLessThanOrEqual(promptTokens);
      expect(pico(record.cost_usd)).toBeLessThanOrEqual(countedCost(content));
      expect(pico(record.cost_usd)).toBeGreaterThan(0n);
    }
    const metrics = await gateway.call('GET', '/metrics', undefined, { key: adminToken });
    expect(metrics.text).toMatch(/^lodestone_estimated_bills_total [1-9]/m);
  });

  it('a stream whose process is killed in the middle is billed once for what was delivered by then', async () => {
    expect(delivered).not.toBe('');
    const usage = await usageOf(running);
    expect(usage).toHaveLength(1);
    expect(-pico(usage[0]!.amount_usd)).toBeGreaterThan(0n);
  });

  it('the exact count takes the place of the provisional record, and the balance follows', async () => {
    expect(content).toBe(words(10).join(''));
    await expectBooks(gateway, counted, { records: 1, costs: [countedCost(content)] });
  });
});
