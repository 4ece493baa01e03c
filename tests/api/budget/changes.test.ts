/** Budgets and members that change while requests run: nobody is let past a limit, and what is on its way ends and is billed. */
import { describe, expect, it } from 'vitest';
import { newMember, newOwner } from '../../support/people.js';
import { completion, json, usage } from '../../support/scripted-upstream.js';
import { model, route } from '../catalogue.js';
import { ask, useGateway } from '../harness.js';

const bench = useGateway({ models: [model('dear', [route({ price: { input: 1_000, output: 1_000 } })])] });

/** Costs 0.01 USD. */
const request = ask({ model: 'acme/meta/dear', max_tokens: 1 });
const answer = json(completion({ usage: usage(9, 1) }));

async function company() {
  const owner = await newOwner(bench.gateway);
  await bench.gateway.admin('POST', `/accounts/${owner.accountId}/credits`, { amount_usd: '10' });
  const key = String((await owner.client.call('POST', 'keys', { name: 'k' })).json.token);
  const budget = (limit_usd: string) => owner.client.call('PATCH', 'account', { budget: { limit_usd } });
  const spent = async () => (await bench.gateway.call('GET', '/v1/budget', undefined, { key })).json.account;
  return { ...owner, key, budget, spent };
}

/** A request that the provider answers when the test lets it. */
async function running(key: string) {
  const { gateway, upstream } = bench;
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  upstream.enqueue(async (exchange) => {
    await Promise.race([opened, exchange.closed]);
    await answer(exchange);
  });
  const calls = upstream.calls.length;
  const reply = gateway.chat(request, { key });
  await upstream.waitForCalls(calls + 1);
  return { open, reply };
}

describe('a budget', () => {
  it('that is lowered below what is held refuses the next request, and what runs ends and is billed', async () => {
    const { key, budget, spent } = await company();
    await budget('1');
    const one = await running(key);
    expect(Number((await spent()).held_usd)).toBeGreaterThan(0.001);
    expect((await budget('0.001')).status).toBe(200);
    const refused = await bench.gateway.chat(request, { key });
    expect([refused.status, refused.json.error.code]).toEqual([402, 'budget_exceeded']);
    one.open();
    expect((await one.reply).status).toBe(200);
    expect(await spent()).toMatchObject({ spent_usd: '0.01', held_usd: '0', remaining_usd: '0' });
    bench.upstream.reply(answer);
    expect((await bench.gateway.chat(request, { key })).json.error.code).toBe('budget_exceeded');
    await budget('0.02');
    expect((await bench.gateway.chat(request, { key })).status).toBe(200);
  });

  it('that two people change at once is one of theirs, whole, and both changes are in the audit log', async () => {
    const { client, accountId, spent } = await company();
    const billing = await newMember(bench.gateway, accountId, 'billing');
    for (let round = 0; round < 10; round++) {
      const [mine, theirs] = [
        { limit_usd: `${round + 1}`, period: 'daily', alert_at: [0.5] },
        { limit_usd: `${round + 100}`, period: 'weekly', alert_at: [0.9] },
      ];
      const answers = await Promise.all([
        client.call('PATCH', 'account', { budget: mine }),
        billing.client.call('PATCH', 'account', { budget: theirs }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      const { budget } = (await client.call('GET', 'account')).json;
      expect([mine, theirs]).toContainEqual(budget);
      expect((await spent()).limit_usd).toBe(budget.limit_usd);
    }
    const audit = await client.call('GET', 'audit?action=account.budget');
    expect(audit.json.data).toHaveLength(20);
  });
});

it('a member who is removed while their request runs: it ends and is billed, and their key is refused from then on', async () => {
  const { client, accountId, spent } = await company();
  const leaving = await newMember(bench.gateway, accountId, 'developer');
  const made = (await leaving.client.call('POST', 'keys', { name: 'laptop' })).json;
  const one = await running(String(made.token));
  const removed = await client.call('DELETE', `members/${leaving.id}`);
  expect(removed.json).toEqual({ removed: leaving.id, disabled_keys: [made.id] });
  const next = await bench.gateway.chat(request, { key: String(made.token) });
  expect([next.status, next.json.error.code]).toEqual([401, 'api_key_disabled']);
  expect((await leaving.client.call('GET', 'keys')).status).toBe(401);
  one.open();
  expect((await one.reply).status).toBe(200);
  expect(await spent()).toMatchObject({ spent_usd: '0.01', held_usd: '0' });
  const report = await client.call('GET', 'v1/activity?group_by=holder');
  expect(report.json.data).toMatchObject([{ group: leaving.id, requests: 1, cost_usd: '0.01' }]);
});
