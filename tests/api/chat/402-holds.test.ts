import { describe, expect, it } from 'vitest';
import { completion, json, usage } from '../../support/scripted-upstream.js';
import { model, route } from '../catalogue.js';
import { ask, useGateway } from '../harness.js';

const bench = useGateway({ models: [model('dear', [route({ price: { input: 1_000, output: 1_000 } })])] });

const parallel = 40;
/** Costs 0.01 USD, which is what it holds: nine tokens of the prompt are estimated higher, and one of the answer. */
const answer = json(completion({ usage: usage(9, 1) }));
const request = ask({ model: 'acme/meta/dear', max_tokens: 1 });

async function sendMany(key: string): Promise<string[]> {
  const replies = await Promise.all(Array.from({ length: parallel }, () => bench.gateway.chat(request, { key })));
  return replies.map(({ status, json: body }) => (status === 200 ? 'served' : `${status} ${body.error.code}`));
}

describe('requests at the same time', () => {
  it('take a bounded balance no further below zero than one of them costs', async () => {
    const { gateway, upstream } = bench;
    upstream.reply(answer);
    const account = await gateway.createAccount({ credit: '0.025' });
    await gateway.admin('PATCH', `/accounts/${account.accountId}`, { overdraft: 'bounded' });
    const outcomes = await sendMany(account.key);
    const served = outcomes.filter((outcome) => outcome === 'served').length;
    expect(new Set(outcomes)).toEqual(new Set(['served', '402 insufficient_credits']));
    expect(Number(await gateway.balance(account.accountId))).toBeCloseTo(0.025 - served * 0.01, 12);
    expect(Number(await gateway.balance(account.accountId))).toBeGreaterThan(-0.01);
    upstream.reset();
  });

  it('spend no more through a capped key than one of them beyond its limit, and the account is not affected', async () => {
    const { gateway, upstream } = bench;
    upstream.reply(answer);
    const account = await gateway.createAccount({ credit: '10' });
    const keys = `/accounts/${account.accountId}/keys`;
    const { json: key } = await gateway.admin('POST', keys, { name: 'capped', limit_usd: '0.025' });
    const outcomes = await sendMany(key.token);
    const served = outcomes.filter((outcome) => outcome === 'served').length;
    expect(new Set(outcomes)).toEqual(new Set(['served', '402 key_limit_exceeded']));
    expect(served).toBeGreaterThan(0);
    expect(served).toBeLessThanOrEqual(3);
    expect((await gateway.chat(request, { key: account.key })).status).toBe(200);
    upstream.reset();
  });

  it('of a key with a limit of 0 are all refused, and a raised limit holds for the next one', async () => {
    const { gateway, upstream } = bench;
    const account = await gateway.createAccount({ credit: '10' });
    const keys = `/accounts/${account.accountId}/keys`;
    const { json: key } = await gateway.admin('POST', keys, { name: 'capped', limit_usd: '0' });
    expect(new Set(await sendMany(key.token))).toEqual(new Set(['402 key_limit_exceeded']));
    await gateway.admin('PATCH', `${keys}/${key.id}`, { limit_usd: '1' });
    upstream.reply(answer);
    expect((await gateway.chat(request, { key: key.token })).status).toBe(200);
  });

  it('are named with what they hold where a bounded balance is spent meanwhile', async () => {
    const { gateway, upstream } = bench;
    const { key, accountId } = await gateway.createAccount({ credit: '1' });
    await gateway.admin('PATCH', `/accounts/${accountId}`, { overdraft: 'bounded' });
    const calls = upstream.calls.length;
    upstream.enqueue(json(completion({ usage: usage(9, 1) }), { delayMs: 1_500 }));
    const running = gateway.chat(request, { key });
    await upstream.waitForCalls(calls + 1);
    await gateway.admin('POST', `/accounts/${accountId}/credits`, { amount_usd: '-1' });
    const refused = await gateway.chat(request, { key });
    expect([refused.status, refused.json.error.code]).toEqual([402, 'insufficient_credits']);
    expect(refused.json.error.message).toMatch(/balance is 0 USD, 0\.\d+ USD are held for 1 requests in flight/);
    expect((await running).status).toBe(200);
  });

  it('show in /v1/credits while they are in flight, and not afterwards', async () => {
    const { gateway, upstream } = bench;
    const { key } = await gateway.createAccount({ credit: '10' });
    const held = async () => (await gateway.call('GET', '/v1/credits', undefined, { key })).json.data;
    const calls = upstream.calls.length;
    upstream.enqueue(json(completion({ usage: usage(9, 1) }), { delayMs: 400 }));
    const running = gateway.chat(request, { key });
    await upstream.waitForCalls(calls + 1);
    const during = await held();
    expect([during.requests_in_flight, Number(during.held_usd) > 0]).toEqual([1, true]);
    expect((await running).status).toBe(200);
    expect(await held()).toMatchObject({ held_usd: '0', requests_in_flight: 0 });
  });
});
