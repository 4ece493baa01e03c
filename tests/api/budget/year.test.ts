/** A year of requests over the ends of days, weeks and months: what each budget says it has spent is the sum of the ledger's entries. */
import { expect, it } from 'vitest';
import { periodStart } from '../../../src/accounts/keys/limit-period.js';
import { pico } from '../../faults/fixture.js';
import type { Json } from '../../support/client.js';
import { ManualClock } from '../../support/manual-clock.js';
import { scaled } from '../../support/scaled.js';
import { completion, json, usage } from '../../support/scripted-upstream.js';
import { SeededRandom } from '../../support/seeded-random.js';
import { ask, useGateway } from '../harness.js';
import { managerOf } from '../projects/manager.js';

const start = Date.parse('2027-12-31T23:59:59.500Z');
const day = 86_400_000;
/** 2028 has a leap day. */
const yearMs = 366 * day;
const clock = new ManualClock(start);
const bench = useGateway({ clock });
const requests = scaled(60, 3_000);

interface Billed {
  readonly at: number;
  readonly project: number;
  readonly costPico: bigint;
}

it(`${requests} requests in a year: account, projects and keys have spent in each period what the ledger has`, async () => {
  const random = new SeededRandom(35);
  const { gateway, upstream } = bench;
  upstream.onRequest(() => json(completion({ usage: usage(1 + random.below(2_000), 1 + random.below(500)) })));
  const { accountId, call } = await managerOf(bench);
  await gateway.admin('POST', `/accounts/${accountId}/credits`, { amount_usd: '100000' });
  await gateway.admin('PATCH', `/accounts/${accountId}`, { budget: { limit_usd: '100000', period: 'monthly' } });
  const periods = ['daily', 'weekly', 'never'] as const;
  const keys: string[] = [];
  for (const period of periods) {
    const { id } = (await call('POST', '/projects', { name: period, budget: { limit_usd: '100000', period } })).json;
    const key = { name: period, expires: 'never', project: id, limit_usd: '100000', limit_reset: period };
    keys.push((await call('POST', '/keys', key)).json.token);
  }
  const billed: Billed[] = [];
  const sum = (from: number, isOf: (one: Billed) => boolean = () => true): bigint =>
    billed.filter((one) => one.at >= from && isOf(one)).reduce((all, { costPico }) => all + costPico, 0n);

  const check = async (project: number): Promise<void> => {
    const now = clock.now();
    const { json: budget } = await gateway.call('GET', '/v1/budget', undefined, { key: keys[project]! });
    const period = periods[project]!;
    const own = sum(periodStart(period, now) ?? 0, (one) => one.project === project);
    expect([new Date(now).toISOString(), pico(budget.account.spent_usd)]).toEqual([
      new Date(now).toISOString(),
      sum(periodStart('monthly', now)!),
    ]);
    expect([pico(budget.project.spent_usd), pico(budget.key.spent_usd)]).toEqual([own, own]);
    const end = budget.project.ends_at;
    if (period === 'never') expect(end).toBeNull();
    else expect(Date.parse(end) - periodStart(period, now)!).toBe(period === 'daily' ? day : 7 * day);
  };

  for (let sent = 0; sent < requests; sent++) {
    const project = random.below(keys.length);
    const { status, json: answer, text } = await gateway.chat(ask(), { key: keys[project]! });
    expect(status, text).toBe(200);
    billed.push({ at: clock.now(), project, costPico: pico(answer.usage.cost) });
    if (random.chance(0.2)) await check(project);
    // Now and then to the last moment of a day and over it, else somewhere later.
    const toMidnight = day - (clock.now() % day);
    if (random.chance(0.3)) clock.advance(random.chance(0.5) ? toMidnight : toMidnight - 1);
    else clock.advance(random.below((2 * yearMs) / requests));
  }
  for (const project of keys.keys()) await check(project);
  expect(clock.now() - start).toBeGreaterThan(yearMs / 2);

  const { data } = (await gateway.admin('GET', `/accounts/${accountId}/ledger?limit=100000`)).json;
  const entries = (data as Json[]).filter(({ kind }) => kind === 'usage');
  expect(entries).toHaveLength(requests);
  const byDay = (list: readonly { at: number; costPico: bigint }[]) => {
    const days = new Map<number, bigint>();
    for (const { at, costPico } of list) {
      const of = Math.floor(at / day);
      days.set(of, (days.get(of) ?? 0n) + costPico);
    }
    return new Map([...days].sort(([one], [other]) => one - other));
  };
  const ledger = entries.map((entry) => ({
    at: Date.parse(entry.created_at as string),
    costPico: -pico(entry.amount_usd),
  }));
  expect(byDay(ledger)).toEqual(byDay(billed));
}, 900_000);
