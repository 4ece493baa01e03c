/** One balance, whichever replicas spend it: 402 everywhere once it is used up, served everywhere once it is filled, and a ledger that is exact. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { usdText } from '../../src/base/money.js';
import { ask, costOf, pause, pico, scaled } from '../faults/fixture.js';
import type { Json, TestAccount } from '../support/client.js';
import type { SpawnedGateway } from '../support/gateway.js';
import { inParallel, LeanCaller, type Replicas } from '../support/replicas.js';
import { completion, json, sse, streamOf, type UpstreamCallLog, usage } from '../support/scripted-upstream.js';
import { SeededRandom } from '../support/seeded-random.js';

let fleet: Replicas;
let callers: LeanCaller[];
/** Each answer costs what the last user message says, in prompt tokens. */
function billAsAsked(): void {
  fleet.upstream.onRequest((call) => {
    const figures = usage(tokensAsked(call), 1);
    return (call.json as { stream: boolean }).stream
      ? sse(streamOf(['Yes.'], { usage: figures }))
      : json(completion({ usage: figures }));
  });
}

const tokensAsked = ({ json: body }: Pick<UpstreamCallLog, 'json'>): number =>
  Number((body as { messages: { content: string }[] }).messages[0]!.content);
const asking = (tokens: number, more: Json = {}) =>
  ask({ messages: [{ role: 'user', content: String(tokens) }], ...more });

async function accountWith(balancePico: bigint) {
  return fleet.a.createAccount({ credit: usdText(balancePico) });
}

async function post(via: SpawnedGateway, accountId: string, amountPico: bigint): Promise<void> {
  const reply = await via.admin('POST', `/accounts/${accountId}/credits`, { amount_usd: usdText(amountPico) });
  expect(reply.status).toBe(201);
}

type Owner = Pick<TestAccount, 'accountId' | 'key'>;

/** Every entry once; the sum of the ledger is the balance at both replicas. */
async function expectExact({ accountId, key }: Owner, spent: readonly bigint[]): Promise<void> {
  const { json: page } = await fleet.a.admin('GET', `/accounts/${accountId}/ledger?limit=100000`);
  const entries = page.data as Json[];
  const usages = entries.filter(({ kind }) => kind === 'usage').map(({ amount_usd }) => -pico(amount_usd));
  const sorted = (values: readonly bigint[]) => [...values].sort((x, y) => (x < y ? -1 : x > y ? 1 : 0));
  expect(sorted(usages)).toEqual(sorted(spent));
  const sum = entries.reduce((total, { amount_usd }) => total + pico(amount_usd), 0n);
  for (const replica of fleet.all) expect(await replica.balance(accountId)).toBe(usdText(sum));
  for (const replica of fleet.all) {
    const { json: credits } = await replica.call('GET', '/v1/credits', undefined, { key });
    expect(credits.data.balance_usd).toBe(usdText(sum));
  }
}

/** Both replicas have everything in the store, by asking each for its history, which waits for it. */
async function settled(key: string): Promise<void> {
  await Promise.all(fleet.all.map((replica) => replica.call('GET', '/v1/generations?limit=1', undefined, { key })));
}

export function balanceSuite(shared: () => Replicas): void {
  describe('one balance', () => {
    beforeAll(() => {
      fleet = shared();
      callers = fleet.all.map(({ url }) => new LeanCaller(url));
      billAsAsked();
    });
    afterAll(() => Promise.all(callers.map((caller) => caller.close())));
    usedUp();
    manyAtOnce();
  });
}

function usedUp(): void {
  describe('a balance that is used up', () => {
    const cost = costOf(1_000, 1);

    it('through one replica: the other refuses the next request with 402, and serves again once credit came through either', async () => {
      const { key, accountId } = await accountWith(1n);
      const spent: bigint[] = [];
      for (let round = 0; round < scaled(4, 50); round++) {
        const [one, other] = round % 2 === 0 ? [fleet.a, fleet.b] : [fleet.b, fleet.a];
        const stream = round % 3 === 2;
        const served = stream ? await one.stream(asking(1_000), { key }) : await one.chat(asking(1_000), { key });
        expect([round, served.status]).toEqual([round, 200]);
        spent.push(cost);
        const refused = [await other.chat(asking(1_000), { key }), await one.chat(asking(1_000), { key })];
        expect([round, ...refused.map(({ status }) => status)]).toEqual([round, 402, 402]);
        expect(refused[0]!.json.error.code).toBe('insufficient_credits');
        await post(round % 4 < 2 ? one : other, accountId, cost);
      }
      await settled(key);
      await expectExact({ accountId, key }, spent);
    }, 180_000);

    it('with its credit limit, through one replica: the other refuses the next request with 402', async () => {
      const { key, accountId } = await accountWith(1n);
      const limit = { credit_limit_usd: usdText(cost) };
      expect((await fleet.a.admin('PATCH', `/accounts/${accountId}`, limit)).status).toBe(200);
      // The balance is used up by the first answer, the limit by the second.
      expect((await fleet.a.chat(asking(1_000), { key })).status).toBe(200);
      expect((await fleet.b.chat(asking(1_000), { key })).status).toBe(200);
      const refused = await Promise.all(fleet.all.map((replica) => replica.chat(asking(1_000), { key })));
      expect(refused.map(({ status }) => status)).toEqual([402, 402]);
      await settled(key);
      await expectExact({ accountId, key }, [cost, cost]);
    });

    it('by an answer that the store takes late: its last byte waits, and both refuse the next request', async () => {
      const { key, accountId } = await accountWith(1n);
      const release = await holdSettlements(accountId);
      const served = fleet.a.chat(asking(1_000), { key });
      // Longer than it would wait for a store that is away.
      expect(await Promise.race([served, pause(1_200)])).toBeUndefined();
      await release();
      expect((await served).status).toBe(200);
      const refused = await Promise.all(fleet.all.map((replica) => replica.chat(asking(1_000), { key })));
      expect(refused.map(({ status }) => status)).toEqual([402, 402]);
      await settled(key);
      await expectExact({ accountId, key }, [cost]);
    });

    it('by both together, where neither alone would have used it up: both refuse the next request', async () => {
      const { key, accountId } = await accountWith(1n);
      const spent: bigint[] = [];
      for (let round = 0; round < scaled(4, 50); round++) {
        // Each spends three quarters of it.
        await post(round % 2 === 0 ? fleet.a : fleet.b, accountId, (cost * 4n) / 3n);
        const served = await Promise.all(fleet.all.map((replica) => replica.chat(asking(1_000), { key })));
        expect([round, ...served.map(({ status }) => status)]).toEqual([round, 200, 200]);
        spent.push(cost, cost);
        const refused = await Promise.all(fleet.all.map((replica) => replica.chat(asking(1_000), { key })));
        expect([round, ...refused.map(({ status }) => status)]).toEqual([round, 402, 402]);
        // Back to where it began.
        await post(fleet.all[round % 2]!, accountId, (cost * 2n) / 3n + 1n);
      }
      await settled(key);
      await expectExact({ accountId, key }, spent);
    }, 180_000);
  });
}

/** No settlement of the account ends until the returned function is called. */
async function holdSettlements(accountId: string): Promise<() => Promise<void>> {
  const client = new pg.Client(fleet.databaseUrl);
  await client.connect();
  await client.query('begin');
  await client.query('select 1 from lodestone.accounts where id = $1 for update', [accountId]);
  return () => client.end();
}

function manyAtOnce(): void {
  describe('many requests at once at both replicas', () => {
    it('the ledger is what the provider has delivered, to the pico-dollar, and the balance is its sum at both', async () => {
      const random = new SeededRandom(11);
      const accounts = await Promise.all(fleet.all.map((replica) => replica.createAccount({ credit: '100.00' })));
      const delivered = new Map(accounts.map(({ accountId }) => [accountId, [] as bigint[]]));
      const before = fleet.upstream.calls.length;
      await inParallel(scaled(120, 10_000), 48, async (index) => {
        const { accountId, key } = random.pick(accounts);
        const tokens = 1 + random.below(50_000);
        const reply = await callers[index % 2]!.chat(key, asking(tokens, { stream: random.chance(0.3) }));
        expect(reply.status).toBe(200);
        delivered.get(accountId)!.push(costOf(tokens, 1));
      });
      const account = fleet.upstream.calls.slice(before).reduce((sum, call) => sum + costOf(tokensAsked(call), 1), 0n);
      await settled(accounts[0]!.key);
      let ledger = 0n;
      for (const { accountId, key } of accounts) {
        await expectExact({ accountId, key }, delivered.get(accountId)!);
        ledger += pico('100') - pico(await fleet.b.balance(accountId));
      }
      expect(ledger).toBe(account);
    }, 180_000);

    it('with a balance that ends meanwhile: everything served is in the ledger, and nobody is served afterwards', async () => {
      const { key, accountId } = await accountWith(costOf(1_000, 1) * 100n);
      const statuses = new Map<number, number>();
      await inParallel(scaled(200, 600), 48, async (index) => {
        const { status } = await callers[index % 2]!.chat(key, asking(1_000));
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      });
      for (const caller of callers) expect((await caller.chat(key, asking(1_000))).status).toBe(402);
      const served = statuses.get(200) ?? 0;
      console.log(`balance: enough for 100, 48 at once: ${served} served, ${statuses.get(402)} refused`);
      expect([...statuses.keys()].sort()).toEqual([200, 402]);
      expect(served).toBeGreaterThanOrEqual(100);
      // What was under way when it was used up had been admitted.
      expect(served).toBeLessThanOrEqual(100 + 48);
      await settled(key);
      await expectExact(
        { accountId, key },
        Array.from({ length: served }, () => costOf(1_000, 1)),
      );
    }, 180_000);
  });
}
