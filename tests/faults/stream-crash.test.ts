/** Hundreds of streams that break at any byte: the process lives, nothing goes unhandled, and each ends in a defined way. */
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SpawnedGateway } from '../support/gateway.js';
import * as up from '../support/scripted-upstream.js';
import { SeededRandom } from '../support/seeded-random.js';
import {
  ask,
  countedCost,
  expectBooks,
  expectError,
  expectServes,
  promptTokens,
  providerError,
  type Rig,
  scaled,
  spawnRig,
  words,
} from './fixture.js';

let rig: Rig<SpawnedGateway>;
beforeAll(async () => {
  rig = await spawnRig({ providers: { closed: `http://127.0.0.1:${await closedPort()}` } });
});
afterAll(() => rig.stop());

/** A port on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
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
