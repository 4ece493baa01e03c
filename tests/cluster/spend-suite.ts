/** Caps of keys and bounded balances: exactly what their rule admits, however many requests come at once, in one process and in a fleet. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pico, scaled } from '../faults/fixture.js';
import type { LeanReply } from '../support/replicas.js';
import { costPico, type Spender, type SpenderLimit, type SpendRig, until } from './spend-rig.js';

const parallel = scaled(60, 1_000);
const rounds = scaled(1, 20);
const inFlight = scaled(20, 500);
/** 0.01 USD. */
const limitPico = 10_000_000_000n;
const codes = {
  ...{ 'capped key': 'key_limit_exceeded', 'bounded account': 'insufficient_credits' },
  ...{ 'account budget': 'budget_exceeded', 'project budget': 'budget_exceeded' },
};
const limits = ['capped key', 'bounded account'] as const;

const ceil = (amount: bigint, part: bigint): number => Number((amount + part - 1n) / part);

function outcomes(replies: readonly LeanReply[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, text } of replies) {
    const outcome = status === 200 ? 'served' : `${status} ${JSON.parse(text).error.code}`;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

export function spendSuite(kind: 'one process' | 'two replicas', rigOf: () => SpendRig): void {
  describe(`${kind}:`, () => {
    let rig: SpendRig;
    let estimate: bigint;
    beforeAll(async () => {
      rig = rigOf();
      estimate = await rig.estimate();
    }, 120_000);
    afterAll(() => rig?.closeCallers());

    /** Until it is used up, one request after the other: each finds what those before it have left. */
    async function spendRest(spender: Spender): Promise<number> {
      for (let served = 0; ; served++) {
        const [reply] = await rig.send(spender, 1);
        if (reply!.status !== 200) return served;
      }
    }

    async function expectExact(limit: SpenderLimit): Promise<void> {
      const spender = await rig.spender(limit, limitPico);
      const held = await rig.volley(spender, parallel);
      const admitted = ceil(limitPico, estimate);
      expect(outcomes(held)).toEqual({ served: admitted, [`402 ${codes[limit]}`]: parallel - admitted });
      // The rest, while answers come: never beyond the limit by more than one request, and in the end to its last cost.
      const flowing = outcomes(await rig.send(spender, parallel)).served ?? 0;
      const last = await spendRest(spender);
      expect(admitted + flowing + last).toBe(ceil(limitPico, costPico));
      const costs = await rig.costs(spender);
      expect(costs).toEqual(Array.from({ length: ceil(limitPico, costPico) }, () => costPico));
      const spent = costs.reduce((sum, cost) => sum + cost, 0n);
      expect(spent - limitPico).toBeLessThan(costPico);
    }

    // Only a fleet reads the budget of a project again that the store got.
    const exact: SpenderLimit[] = [
      ...limits,
      'account budget',
      ...(kind === 'two replicas' ? ['project budget' as const] : []),
    ];
    for (const limit of exact) {
      it(`${parallel} requests at once, ${rounds} times, spend 0.01 USD of a ${limit} as its rule says`, async () => {
        for (let round = 0; round < rounds; round++) await rig.shared(() => expectExact(limit));
      }, 900_000);
    }

    it(`kill -9 with ${inFlight} requests in flight: nothing stays held, and the ledger is what was answered`, async () => {
      const plenty = estimate * BigInt(inFlight) + 5n * costPico;
      const spenders = await Promise.all(limits.map((limit) => rig.spender(limit, plenty)));
      const before = rig.upstream.calls.length;
      for (const spender of spenders) expect(outcomes(await rig.send(spender, 5))).toEqual({ served: 5 });
      rig.holdAnswers();
      const lost = spenders.map((spender) => rig.send(spender, inFlight).catch(() => []));
      await until(() => rig.upstream.calls.length - before === 2 * (5 + inFlight));
      for (const [index, spender] of spenders.entries()) {
        expect(outcomes(await rig.send(spender, 1))).toEqual({ [`402 ${codes[limits[index]!]}`]: 1 });
      }
      for (const gateway of rig.gateways) await gateway.kill('SIGKILL');
      await Promise.all(lost);
      await rig.closeCallers();
      rig.letAnswers();
      await Promise.all(rig.gateways.map((gateway) => gateway.restart()));
      for (const spender of spenders) {
        const heldMs = await until(async () => (await rig.credits(spender)).held_usd === '0');
        expect((await rig.credits(spender)).requests_in_flight).toBe(0);
        // What is held of a cap shows nowhere, but refuses: once nothing is, all of it can be used at once again.
        await until(async () => (await rig.send(spender, 1))[0]!.status === 200);
        const served = outcomes(await rig.volley(spender, inFlight)).served ?? 0;
        expect(served).toBeGreaterThanOrEqual(inFlight - 1);
        expect(await rig.costs(spender)).toEqual(Array.from({ length: 6 + served }, () => costPico));
        console.log(`${kind}: ${inFlight} killed in flight, held for ${Math.round(heldMs)} ms after the restart`);
      }
    }, 300_000);

    it.runIf(kind === 'two replicas')(
      'a chat waits for one script, and one or two more follow its answer',
      async () => {
        const requests = 20;
        for (const [limit, most] of [
          ['capped key', 3],
          ['project budget', 3],
          ['open account', 2],
        ] as const) {
          const { accountId, key } = await rig.gateways[0]!.createAccount();
          const spender =
            limit === 'open account' ? { accountId, key, keyId: null } : await rig.spender(limit, limitPico * 100n);
          // A Redis that was taken for absent is asked for more when it is back.
          await rig.shared(async () => {
            // What is not in memory yet is read with scripts of its own.
            for (let warm = 0; warm < 4; warm++) await rig.send(spender, 2);
            const before = await rig.scriptsRun();
            for (let sent = 0; sent < requests; sent++) await rig.send(spender, 1);
            const run = (await rig.scriptsRun()) - before;
            console.log(`${limit}: ${run / requests} scripts a request`);
            expect(run / requests).toBeLessThan(most + 0.5);
          });
        }
      },
    );

    it.runIf(kind === 'two replicas').each(['killed', 'frozen'] as const)(
      'Redis is %s while a budget is spent: both replicas admit together what is left, and nothing more afterwards',
      async (how) => {
        const spender = await rig.spender('project budget', limitPico);
        await rig.send(spender, 2);
        const sending = rig.send(spender, parallel);
        const back = await rig.takeRedisAway(how);
        await sending;
        await rig.send(spender, 8);
        await back();
        await until(async () => (await rig.send(spender, 2)).every(({ status }) => status === 402));
        const spent = (await rig.costs(spender)).reduce((sum, cost) => sum + cost, 0n);
        expect(spent).toBeGreaterThanOrEqual(limitPico);
        expect(spent).toBeLessThan(limitPico + costPico);
        const { json } = await rig.gateways[0]!.call('GET', '/v1/budget', undefined, { key: spender.key });
        expect([json.key, json.project, json.account].map(({ spent_usd }) => pico(spent_usd))).toEqual([
          spent,
          spent,
          spent,
        ]);
        await until(async () => {
          const { json: now } = await rig.gateways[1]!.call('GET', '/v1/budget', undefined, { key: spender.key });
          return now.project.held_usd === '0';
        });
      },
      120_000,
    );

    it('a cap that is lowered below what is spent, or to 0, refuses the next request, and a raised one admits it', async () => {
      const { accountId, key, keyId } = await rig.spender('capped key', limitPico);
      const spender = { accountId, key, keyId };
      const change = (limit_usd: string | null) =>
        rig.gateways[0]!.admin('PATCH', `/accounts/${accountId}/keys/${keyId}`, { limit_usd });
      const status = async () => (await rig.send(spender, rig.gateways.length)).map((reply) => reply.status);
      const each = (code: number) => rig.gateways.map(() => code);
      expect(await status()).toEqual(each(200));
      await change('0.0001');
      expect(await status()).toEqual(each(402));
      await change('0');
      expect(await status()).toEqual(each(402));
      await change('0.02');
      expect(await status()).toEqual(each(200));
      await change(null);
      expect(await status()).toEqual(each(200));
    });

    it('a request that fails or is left holds nothing afterwards', async () => {
      const spender = await rig.spender('bounded account', limitPico);
      const before = rig.upstream.calls.length;
      rig.holdAnswers();
      const left = rig.send(spender, 4).catch(() => []);
      await until(() => rig.upstream.calls.length - before === 4);
      expect((await rig.credits(spender)).requests_in_flight).toBe(4);
      await rig.closeCallers();
      await left;
      await until(async () => (await rig.credits(spender)).requests_in_flight === 0);
      rig.letAnswers();
      rig.upstream.enqueue(...Array.from({ length: 4 }, () => rig.failure));
      expect(outcomes(await rig.send(spender, 4))).not.toHaveProperty('served');
      await until(async () => (await rig.credits(spender)).held_usd === '0');
      expect(await rig.costs(spender)).toEqual([]);
    });
  });
}
