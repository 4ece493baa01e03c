/** Streams that fail inside the gateway after text was delivered: what was recorded of them last is billed at once. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { chatDoor } from '../../src/doors/chat/chat-door.js';
import { chatStream } from '../../src/doors/chat/write-answer.js';
import type { StreamWriter } from '../../src/doors/door.js';
import { scrape, since } from '../observability/scrape.js';
import type { Json } from '../support/client.js';
import * as up from '../support/scripted-upstream.js';
import { ask, costOf, expectBooks, expectServes, generations, pin, type Rig, startRig, words } from './fixture.js';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => rig.stop());

const failure = (): never => {
  throw new Error('a part of the gateway failed');
};

/** The writer of chat streams, with parts that fail. */
function breakWriter(parts: Partial<StreamWriter>): void {
  vi.spyOn(chatDoor, 'openStream').mockImplementation(() => ({ ...chatStream, ...parts }));
}

/** The lines of the journal about a generation. */
function journalLines(id: string): string[] {
  const folder = join(rig.gateway.files.dataDir, 'journal');
  const files = readdirSync(folder).filter((name) => name.endsWith('.log'));
  const lines = files.flatMap((name) => readFileSync(join(folder, name), 'latin1').split('\n'));
  return lines.filter((line) => line.includes(id));
}

/** Fails every frame after the first few, and the end too: the first failure alone makes a cut stream, which ends in order. */
function failingFrames(): Partial<StreamWriter> {
  let written = 0;
  const writeFrame: StreamWriter['writeFrame'] = (...frame) =>
    ++written > 3 ? failure() : chatStream.writeFrame(...frame);
  return { writeFrame, templateFor: () => null, writeEnd: failure };
}

it.each<[string, () => Partial<StreamWriter>]>([
  ['its end cannot be written', () => ({ writeEnd: failure })],
  ['its frames and its end cannot be written', failingFrames],
])('a stream of which %s is billed by its last record, in memory and in the ledger', async (_, parts) => {
  const account = await rig.gateway.createAccount();
  breakWriter(parts());
  const before = await scrape(rig.gateway);
  rig.upstream.reset();
  rig.upstream.reply(up.sse(up.streamOf(words(10)), { gapMs: 5 }));
  const reply = await rig.gateway.stream(ask(), { key: account.key });
  expect([reply.status, reply.complete, reply.done]).toEqual([200, false, false]);
  expect(reply.content).not.toBe('');
  const [record] = await generations(rig.gateway, account, 1, 5_000);
  expect(record).toMatchObject({ status: 200, stream_end: 'cut', served_model: pin, usage_source: 'estimated' });
  const { prompt_tokens: prompt, completion_tokens: completion } = record as Record<string, number> & Json;
  expect(completion).toBeGreaterThan(0);
  await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(prompt!, completion!)] });
  const { balance_usd, held_usd } = (await rig.gateway.call('GET', '/v1/credits', undefined, { key: account.key })).json
    .data;
  expect([balance_usd, held_usd]).toEqual([await rig.gateway.balance(account.accountId), '0']);
  // A provisional line is marked; one that stays the last keeps its file, and is settled again at the next start.
  const lines = journalLines(String(record!.id));
  expect(lines.at(-1)?.startsWith('?')).toBe(false);
  expect(since(before, await scrape(rig.gateway))).toMatchObject({
    [`lodestone_served_total{route="${pin}",stream="true",end="cut"}`]: 1,
    [`lodestone_tokens_total{route="${pin}",kind="completion"}`]: completion,
  });
  vi.restoreAllMocks();
  await expectServes(rig);
});
