/** No request gets the answer of another, however many run at once and however many clients disconnect. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, TestAccount } from '../support/client.js';
import { completion, json, type Script, sse, streamOf } from '../support/scripted-upstream.js';
import { SeededRandom } from '../support/seeded-random.js';
import { ask, expectServes, type Rig, scaled, startRig } from './fixture.js';

const calls = scaled(200, 100_000);
const atOnce = 64;
const accountsCount = 4;
const seed = 20_260_801;

let rig: Rig;
let accounts: TestAccount[];

/** Answers with what the prompt says, in pieces of its own, after a while of its own. */
const echo: Script = (exchange) => {
  const { messages, stream } = exchange.call.json as { messages: { content: string }[]; stream: boolean };
  const { content } = messages[0]!;
  const delayMs = exchange.call.id % 5;
  return stream
    ? sse(streamOf(content.split(/(?<=-)/)), { delayMs })(exchange)
    : json(completion({ content }), { delayMs })(exchange);
};

beforeAll(async () => {
  rig = await startRig();
  rig.upstream.reply(echo);
  accounts = await Promise.all(
    Array.from({ length: accountsCount }, () => rig.gateway.createAccount({ credit: '100' })),
  );
});
afterAll(() => rig?.stop());

interface Tally {
  whole: number;
  hungUp: number;
  /** What came that was not the caller's own. */
  strange: string[];
}

async function call(random: SeededRandom, index: number, tally: Tally): Promise<void> {
  const { key } = accounts[index % accountsCount]!;
  const canary = `canary-${index}-${'x-'.repeat(random.below(8))}end`;
  const body = ask({ messages: [{ role: 'user', content: canary }] }) as Json;
  const kind = random.below(4);
  if (kind === 0) {
    const { content } = await rig.gateway.stream(body, { key, hangUpAfter: 1 + random.below(3) });
    tally.hungUp++;
    if (!canary.startsWith(content)) tally.strange.push(`${canary} got ${content}`);
  } else if (kind === 1) {
    const reply = rig.gateway.chat(body, { key, signal: AbortSignal.timeout(random.below(12)) });
    const text = await reply.then(
      ({ json: answer }) => answer.choices[0].message.content,
      () => canary,
    );
    tally.hungUp++;
    if (text !== canary) tally.strange.push(`${canary} got ${text}`);
  } else {
    const text =
      kind === 2
        ? (await rig.gateway.stream(body, { key })).content
        : (await rig.gateway.chat(body, { key })).json.choices?.[0]?.message?.content;
    tally.whole++;
    if (text !== canary) tally.strange.push(`${canary} got ${text}`);
  }
}

describe('answers of many tenants at once', () => {
  it(`each of ${calls} interleaved calls, streams and whole ones, with random hang-ups, gets its own answer (seed ${seed})`, {
    timeout: 600_000,
  }, async () => {
    const random = new SeededRandom(seed);
    const tally: Tally = { whole: 0, hungUp: 0, strange: [] };
    let next = 0;
    const worker = async () => {
      while (next < calls) await call(random, next++, tally);
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    expect(tally.strange).toEqual([]);
    expect(tally.whole + tally.hungUp).toBe(calls);
    expect(tally.whole).toBeGreaterThan(calls / 3);
    await expectServes(rig);
  });
});
