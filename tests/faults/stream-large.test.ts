/** Large frames and long streams: the work they make is linear, off the main thread where it must be, and no other caller feels it. */
import { createHash } from 'node:crypto';
import { request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SpawnedGateway } from '../support/gateway.js';
import * as up from '../support/scripted-upstream.js';
import { type CoTenant, expectUnharmed, measured, startCoTenant } from './co-tenant.js';
import {
  ask,
  costOf,
  expectBooks,
  expectServes,
  generations,
  pause,
  pico,
  type Rig,
  scaled,
  spawnRig,
} from './fixture.js';

let rig: Rig<SpawnedGateway>;
let coTenant: CoTenant;
let watch: () => void;
beforeAll(async () => {
  coTenant = await startCoTenant();
  rig = await spawnRig({
    providers: { co: coTenant.url },
  });
  const { key } = await rig.gateway.createAccount();
  watch = () =>
    coTenant.start({ url: rig.gateway.url, key, model: 'co/meta/llama-3.3-70b/defra', pid: rig.gateway.pid });
  watch();
  await pause(500);
  await coTenant.finish();
});
afterAll(async () => {
  await rig.stop();
  await coTenant.close();
});

it(
  'one frame of 8 MB in pieces of 1 KB arrives whole, in linear time, and no co-tenant waits 250 ms for it',
  measured,
  async () => {
    const account = await rig.gateway.createAccount();
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
    watch();
    const response = await request(`${rig.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask({ stream: true })),
    });
    const pieces: Buffer[] = [];
    for await (const piece of response.body) pieces.push(piece);
    const delays = await coTenant.finish();
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
    const count = scaled(4, 30);
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
    watch();
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
    const delays = await coTenant.finish();
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
