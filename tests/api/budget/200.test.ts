import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../support/manual-clock.js';
import { completion, json, usage } from '../../support/scripted-upstream.js';
import { model, route } from '../catalogue.js';
import { ask, useGateway } from '../harness.js';
import { addProject } from './project.js';

/** A Wednesday. */
const clock = new ManualClock(Date.parse('2026-11-18T15:00:00Z'));
const bench = useGateway({ clock, models: [model('dear', [route({ price: { input: 1_000, output: 1_000 } })])] });
const dayMs = 86_400_000;

/** Costs 0.01 USD. */
const request = ask({ model: 'acme/meta/dear', max_tokens: 1 });
const answer = json(completion({ usage: usage(9, 1) }));

const budgetOf = async (key: string) => {
  const reply = await bench.gateway.call('GET', '/v1/budget', undefined, { key });
  expect(reply.status, reply.text).toBe(200);
  return reply.json;
};
const none = { limit_usd: null, period: 'never', held_usd: '0', remaining_usd: null, ends_at: null };

describe('GET /v1/budget', () => {
  it('shows what was spent of all time where nothing has a limit, also to a management key', async () => {
    const { gateway, upstream } = bench;
    upstream.reply(answer);
    const account = await gateway.createAccount();
    expect((await gateway.chat(request, { key: account.key })).status).toBe(200);
    const spent = { ...none, spent_usd: '0.01' };
    expect(await budgetOf(account.key)).toEqual({ object: 'budget', key: spent, project: spent, account: spent });
    const { json: managing } = await gateway.admin('POST', `/accounts/${account.accountId}/keys`, {
      ...{ name: 'm', kind: 'management' },
    });
    const { key, account: whole } = await budgetOf(managing.token);
    expect([key.spent_usd, whole.spent_usd]).toEqual(['0', '0.01']);
  });

  it('shows each limit in its own period, what is held while a request is in flight, and what was spent elsewhere', async () => {
    const { gateway, upstream } = bench;
    const account = await gateway.createAccount();
    const weekly = { limitPico: '40000000000', period: 'weekly', alertAt: [] };
    const team = await addProject(gateway, account.accountId, { name: 'team', budget: weekly });
    await gateway.restart();
    const patch = (fields: object) => gateway.admin('PATCH', `/accounts/${account.accountId}`, fields);
    const { json: patched } = await patch({ budget: { limit_usd: '5' }, opening_spent_usd: '1.5' });
    expect(patched.budget).toEqual({ limit_usd: '5', period: 'monthly', alert_at: [0.8, 1] });
    upstream.enqueue(json(completion({ usage: usage(9, 1) }), { delayMs: 400 }));
    const calls = upstream.calls.length;
    const running = gateway.chat(request, { key: team.token });
    await upstream.waitForCalls(calls + 1);
    const during = await budgetOf(team.token);
    expect([during.project, during.account].map(({ held_usd }) => Number(held_usd) > 0)).toEqual([true, true]);
    expect((await running).status).toBe(200);
    const now = await budgetOf(team.token);
    expect(now.project).toEqual({
      ...{ limit_usd: '0.04', period: 'weekly', spent_usd: '0.01', held_usd: '0', remaining_usd: '0.03' },
      ends_at: '2026-11-23T00:00:00.000Z',
    });
    expect(now.account).toEqual({
      ...{ limit_usd: '5', period: 'monthly', spent_usd: '1.51', held_usd: '0', remaining_usd: '3.49' },
      ends_at: '2026-12-01T00:00:00.000Z',
    });
    // A changed period counts what was spent in it, and the next period begins with nothing.
    await patch({ budget: { limit_usd: '1.505', period: 'daily', alert_at: [1, 0.5, 1] } });
    const changed = (await budgetOf(account.key)).account;
    expect(changed).toMatchObject({ spent_usd: '1.51', remaining_usd: '0', ends_at: '2026-11-19T00:00:00.000Z' });
    expect((await gateway.chat(request, { key: account.key })).json.error.code).toBe('budget_exceeded');
    clock.advance(dayMs);
    upstream.reply(answer);
    expect((await gateway.chat(request, { key: account.key })).status).toBe(200);
    expect((await budgetOf(account.key)).account).toMatchObject({ spent_usd: '0.01', remaining_usd: '1.495' });
    await patch({ opening_spent_usd: '0' });
    await patch({ budget: null });
    expect((await budgetOf(account.key)).account).toEqual({ ...none, spent_usd: '0.02' });
    const { json: entries } = await gateway.admin('GET', '/audit?action=account.budget');
    expect(JSON.stringify(entries)).toContain('"opening_spent_usd":"1.5"');
  });
});

describe('a budget that is sent', () => {
  it.each([
    ['budget', { budget: '5' }],
    ['budget.limit_usd', { budget: {} }],
    ['budget.limit_usd', { budget: { limit_usd: 5 } }],
    ['budget.limit_usd', { budget: { limit_usd: '-5' } }],
    ['budget.limit_usd', { budget: { limit_usd: null } }],
    ['budget.period', { budget: { limit_usd: '5', period: 'yearly' } }],
    ['budget.alert_at', { budget: { limit_usd: '5', alert_at: 0.5 } }],
    ['budget.alert_at', { budget: { limit_usd: '5', alert_at: [0.5, 0] } }],
    ['budget.alert_at', { budget: { limit_usd: '5', alert_at: [1.5] } }],
    ['budget.alert_at', { budget: { limit_usd: '5', alert_at: ['1'] } }],
    ['budget.unknown', { budget: { limit_usd: '5', unknown: 1 } }],
    ['opening_spent_usd', { opening_spent_usd: '1' }],
    ['opening_spent_usd', { budget: null, opening_spent_usd: '1' }],
    ['opening_spent_usd', { budget: { limit_usd: '5' }, opening_spent_usd: '1,5' }],
  ])('is a 400 that names %s for %j, and changes nothing', async (param, fields) => {
    const account = await bench.gateway.createAccount();
    const reply = await bench.gateway.admin('PATCH', `/accounts/${account.accountId}`, fields);
    expect([reply.status, reply.json.error.param]).toEqual([400, param]);
    expect((await bench.gateway.admin('GET', `/accounts/${account.accountId}`)).json.budget).toBeNull();
  });
});
