/**
 * Updates of the catalogue and rollbacks on two replicas under load: no request fails, each costs what the catalogue that decided it
 * says, and its receipt names that catalogue.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../faults/fixture.js';
import type { Json, TestAccount } from '../support/client.js';
import { proofOf } from '../support/proofs.js';
import { type Replicas, whileShared } from '../support/replicas.js';
import { scaled } from '../support/scaled.js';
import { completion, json, sse, streamOf } from '../support/scripted-upstream.js';
import { type CatalogueEdits, routeOf, signedFile, smallCatalogue, updateBody } from '../support/signed-catalogues.js';

let fleet: Replicas;
let account: TestAccount;
/** USD for a million tokens, by the digest of the catalogue. */
const prices = new Map<string, number>();
const usage = { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000 };
let versions = 0;
const two = (number: number) => String(number).padStart(2, '0');
const nextVersion = () => `2027.${two(1 + Math.floor(versions / 28))}.${two(1 + (versions++ % 28))}`;

async function update(via: 'a' | 'b', edits: CatalogueEdits): Promise<string> {
  const version = nextVersion();
  const file = signedFile(version, smallCatalogue({ providers: { updated: fleet.upstream.url }, ...edits }));
  const {
    status,
    json: answer,
    text,
  } = await fleet[via].admin('POST', '/catalogue/updates', updateBody(file, { confirm: true }));
  expect([status, answer.applied], text.slice(0, 300)).toEqual([200, true]);
  prices.set(answer.digest, edits.price ?? 1);
  return answer.digest;
}

const rollBack = async (via: 'a' | 'b'): Promise<string> => {
  const { status, json: answer } = await fleet[via].admin('POST', '/catalogue/rollback', {});
  expect([status, answer.applied]).toEqual([200, true]);
  return answer.digest;
};
const chat = (via: 'a' | 'b', provider = 'updated') =>
  fleet[via].chat(ask({ model: routeOf(provider) }), { key: account.key });
const costOf = (price: number) => (price * usage.total_tokens) / 1e6;
const receiptOf = async (id: string): Promise<Json> =>
  JSON.parse((await proofOf(fleet.a, id, { key: account.key })).receipt) as Json;

/** Of a fleet whose list of catalogues has `builtin`. */
export function catalogueUpdatesSuite(shared: () => Replicas): void {
  describe('updates of the catalogue', () => {
    beforeAll(async () => {
      fleet = shared();
      fleet.upstream.onRequest(() => json(completion({ usage })));
      account = await fleet.a.createAccount({ credit: '1000.00' });
    });
    afterAll(() => fleet.upstream.onRequest(() => undefined));

    it('are in force with the next request on every replica, through either, and after a rollback', async () => {
      await whileShared(fleet, async () => {
        for (const [via, price] of [
          ['a', 1],
          ['b', 2],
          ['a', 3],
        ] as const) {
          await update(via, { price });
          for (const at of ['a', 'b'] as const) expect((await chat(at)).json.usage.cost).toBeCloseTo(costOf(price), 9);
        }
        await rollBack('b');
        for (const at of ['a', 'b'] as const) expect((await chat(at)).json.usage.cost).toBeCloseTo(costOf(2), 9);
      });
    });

    it('fail no request under load, bill each by the catalogue that decided it, and the receipt names it', async () => {
      // Long enough that many requests begin before a change and end after it.
      fleet.upstream.onRequest(() => json(completion({ usage }), { delayMs: 60 }));
      await update('b', { price: 9 });
      let over = false;
      const answers: { id: string; cost: number }[] = [];
      const caller = async (at: 'a' | 'b') => {
        while (!over) {
          const { status, json: answer, text } = await chat(at);
          expect(status, text.slice(0, 300)).toBe(200);
          answers.push({ id: answer.id, cost: answer.usage.cost });
        }
      };
      const callers = Promise.all((['a', 'b', 'a', 'b'] as const).map(caller));
      try {
        for (let round = 0; round < scaled(3, 12); round++) {
          await update(round % 2 === 0 ? 'a' : 'b', { price: 10 + round / 10 });
          await pause(100);
          if (round % 3 === 2) await rollBack('b');
          await pause(100);
        }
      } finally {
        over = true;
        await callers;
      }
      expect(new Set(answers.map(({ cost }) => cost)).size).toBeGreaterThan(2);
      const digests = new Set<unknown>();
      for (const { id, cost } of answers) {
        const { catalogue, cost_usd } = await receiptOf(id);
        digests.add(catalogue);
        const price = prices.get(String(catalogue));
        expect(price, `the receipt of ${id} names an unknown catalogue`).toBeDefined();
        expect([cost, Number(cost_usd)]).toEqual([costOf(price!), costOf(price!)].map((usd) => expect.closeTo(usd, 9)));
      }
      expect(digests.size).toBeGreaterThan(2);
    }, 120_000);

    it('let the requests of a provider that disappears finish, and bill them', async () => {
      const url = fleet.upstream.url;
      const digest = await update('a', { price: 5, providers: { updated: url, leaving: url } });
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const before = fleet.upstream.calls.length;
      fleet.upstream.onRequest(() => async (exchange) => {
        await released;
        await sse(streamOf(['one', ' two', ' three']))(exchange);
      });
      const streams = Promise.all(
        (['a', 'b'] as const).map((at) => fleet[at].stream(ask({ model: routeOf('leaving') }), { key: account.key })),
      );
      await fleet.upstream.waitForCalls(before + 2, 30_000);
      await update('b', { price: 6 });
      release();
      for (const { status, done, content, frames } of await streams) {
        expect([status, done, content]).toEqual([200, true, 'one two three']);
        const id = (JSON.parse(frames[0]!.data!) as Json).id as string;
        expect(await receiptOf(id)).toMatchObject({ catalogue: digest, provider: 'leaving', stream_end: 'complete' });
      }
      fleet.upstream.onRequest(() => json(completion({ usage })));
      for (const at of ['a', 'b'] as const) expect((await chat(at, 'leaving')).status).toBe(404);
    });
  });
}
