/**
 * Random limits of account, project and key, before 64 callers at once: who is admitted, who is refused and in whose name is what an
 * oracle says that knows no more than the limits, what a request holds and what it costs.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { usdText } from '../../src/base/money.js';
import { pico, scaled } from '../faults/fixture.js';
import type { LeanReply } from '../support/replicas.js';
import { SeededRandom } from '../support/seeded-random.js';
import { costPico, type Spender, type SpendRig, until } from './spend-rig.js';

const callers = 64;
const rounds = scaled(4, 1_000);
/** Redis goes in each of these rounds. */
const outageEvery = scaled(4, 20);
const mostAdmitted = 40;

/** In the order in which a request is refused. */
const levels = ['account', 'project', 'key'] as const;
type Limits = Record<(typeof levels)[number], bigint | null>;

/** What is left of a limit admits requests until it is spent or held. */
const admittedBy = (limitPico: bigint, eachPico: bigint): number => Number((limitPico + eachPico - 1n) / eachPico);

/** How many requests of one cost are admitted, and who refuses the next one. */
function oracle(limits: Limits, eachPico: bigint): { admitted: number; refusedBy: string } {
  const most = levels.flatMap((level) => {
    const limitPico = limits[level];
    return limitPico === null ? [] : [{ level, admitted: admittedBy(limitPico, eachPico) }];
  });
  const admitted = Math.min(callers, ...most.map((one) => one.admitted));
  return { admitted, refusedBy: most.find((one) => one.admitted <= admitted)?.level ?? 'nobody' };
}

function refuserOf({ text }: LeanReply): string {
  const { code, message } = JSON.parse(text).error as { code: string; message: string };
  if (code === 'key_limit_exceeded') return 'key';
  if (code !== 'budget_exceeded') return code;
  return message.startsWith('The account ') ? 'account' : 'project';
}

function outcomesOf(replies: readonly LeanReply[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const reply of replies) {
    const outcome = reply.status === 200 ? 'served' : `${reply.status} by ${refuserOf(reply)}`;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

const counted = (served: number, refusedBy: string, all: number) => ({
  ...(served > 0 && { served }),
  ...(served < all && { [`402 by ${refusedBy}`]: all - served }),
});

/** At least one limit, so that each round refuses somebody. */
function randomLimits(random: SeededRandom, estimate: bigint): Limits {
  const one = () =>
    random.chance(0.25) ? null : ((estimate * BigInt(random.below(mostAdmitted * 100))) / 100n / 1_000n) * 1_000n;
  const [account, project, key] = [one(), one(), one()];
  return { account, project, key: account === null && project === null ? (key ?? estimate * 3n) : key };
}

async function limited({ gateways }: SpendRig, { account, project, key }: Limits): Promise<Spender> {
  const gateway = gateways[0]!;
  const { accountId } = await gateway.createAccount({ credit: '1000' });
  const budgetOf = (limitPico: bigint | null) =>
    limitPico !== null && { limit_usd: usdText(limitPico), period: 'daily' };
  const path = `/accounts/${accountId}`;
  await gateway.admin('PATCH', path, { budget: budgetOf(account) || null });
  const made = await gateway.admin('POST', `${path}/projects`, { name: 'bounded', budget: budgetOf(project) || null });
  const terms = { name: 'bounded', project: made.json.id, limit_usd: key === null ? null : usdText(key) };
  const { json } = await gateway.admin('POST', `${path}/keys`, { ...terms, limit_reset: 'weekly' });
  return { accountId, key: json.token, keyId: json.id };
}

const leastOf = (limits: Limits): bigint =>
  levels.flatMap((level) => limits[level] ?? []).reduce((least, one) => (one < least ? one : least));

export function budgetRoundsSuite(rigOf: () => SpendRig): void {
  describe('budgets of account, project and key:', () => budgetRounds(rigOf));
}

function budgetRounds(rigOf: () => SpendRig): void {
  let rig: SpendRig;
  let estimate: bigint;
  beforeAll(async () => {
    rig = rigOf();
    estimate = await rig.estimate();
  }, 120_000);
  afterAll(() => rig?.closeCallers());

  const spentOf = async (spender: Spender) => (await rig.costs(spender)).reduce((sum, cost) => sum + cost, 0n);

  async function expectOracle(limits: Limits, spender: Spender): Promise<void> {
    const held = oracle(limits, estimate);
    const volley = await rig.volley(spender, callers);
    expect(outcomesOf(volley)).toEqual(counted(held.admitted, held.refusedBy, callers));
    // One after the other each finds what those before it have left.
    const spent = oracle(limits, costPico);
    let served = held.admitted;
    let refusal: LeanReply | null = null;
    while (refusal === null && served <= callers * 2) {
      const [reply] = await rig.send(spender, 1);
      if (reply!.status === 200) served++;
      else refusal = reply!;
    }
    const last = admittedBy(leastOf(limits), costPico);
    expect([served, refuserOf(refusal!)], refusal!.text).toEqual([last, spent.refusedBy]);
    expect(await spentOf(spender)).toBe(BigInt(last) * costPico);
  }

  /** While it is away the replicas count in PostgreSQL, and when it is back again in Redis: nobody is served in between by both. */
  async function expectBounded(limits: Limits, how: 'killed' | 'frozen'): Promise<void> {
    const [spender, meanwhile] = [await limited(rig, limits), await limited(rig, limits)];
    await rig.send(spender, 2);
    const sending = rig.send(spender, callers);
    const back = await rig.takeRedisAway(how);
    await sending;
    await rig.send(spender, 8);
    await expectOracle(limits, meanwhile);
    await back();
    await until(async () => (await rig.send(spender, 2)).every(({ status }) => status === 402));
    const spent = await spentOf(spender);
    expect(spent).toBeGreaterThanOrEqual(leastOf(limits));
    expect(spent).toBeLessThan(leastOf(limits) + costPico);
    const { json } = await rig.gateways[0]!.call('GET', '/v1/budget', undefined, { key: spender.key });
    for (const level of levels) expect(pico(json[level].spent_usd), level).toBe(spent);
  }

  it(`${callers} callers at two replicas, ${rounds} rounds of random limits on three levels: admitted and refused as an oracle says`, async () => {
    const random = new SeededRandom(35);
    for (let round = 1; round <= rounds; round++) {
      const limits = randomLimits(random, estimate);
      const about = `round ${round}: ${levels.map((level) => `${level} ${limits[level]}`).join(', ')}`;
      const how = random.pick(['killed', 'frozen'] as const);
      const run = async () =>
        round % outageEvery === 0
          ? expectBounded(limits, how)
          : rig.shared(async () => expectOracle(limits, await limited(rig, limits)));
      await run().catch((error: Error) => {
        error.message = `${about}: ${error.message}`;
        throw error;
      });
      if (round % 50 === 0) console.log(`${round} rounds, ${Math.floor(round / outageEvery)} of them with Redis away`);
    }
  }, 3_600_000);
}
