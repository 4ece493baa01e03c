/** The balance: any positive one admits, every settlement applies, and sums are exact to the pico-dollar however many there are. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { usdText } from '../../src/base/money.js';
import * as up from '../support/scripted-upstream.js';
import { ask, costOf, expectBooks, expectServes, pico, type Rig, scaled, startRig } from './fixture.js';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    catalogue: { routes: { beta: { price: { input: 0.000001, output: 0 } } } },
  });
});
afterAll(() => rig.stop());
beforeEach(() => {
  rig.upstream.reset();
  rig.other.reset();
});

it('parallel calls on the last unit of credit are all settled, and the next one gets 402 without an upstream call', async () => {
  const account = await rig.gateway.createAccount({ credit: '0.000000000001' });
  const count = scaled(50, 200);
  // No answer leaves before every call has come in, so that all of them met the one unit.
  rig.upstream.reply(async (exchange) => {
    await rig.upstream.waitForCalls(count);
    await up.json(up.completion())(exchange);
  });
  const replies = await Promise.all(Array.from({ length: count }, () => rig.gateway.chat(ask(), { key: account.key })));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(count);
  const costs = Array.from({ length: count }, () => costOf(9, 3));
  await expectBooks(rig.gateway, account, { records: count, costs });
  const refused = await rig.gateway.chat(ask(), { key: account.key });
  const balance = usdText(1n - costOf(9, 3) * BigInt(count));
  expect(refused).toMatchObject({
    status: 402,
    json: { error: { code: 'insufficient_credits', type: 'invalid_request_error' } },
  });
  expect(refused.json.error.message).toContain(`The account balance is ${balance} USD`);
  expect(rig.upstream.calls).toHaveLength(count);
  await expectServes(rig);
});

it('a call that costs more than the balance is settled in full; the next gets 402 that states the balance, until credit is added', async () => {
  const account = await rig.gateway.createAccount({ credit: '0.0000006' });
  rig.upstream.reply(up.json(up.completion({ usage: up.usage(1_000, 0) })));
  expect((await rig.gateway.chat(ask(), { key: account.key })).status).toBe(200);
  await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(1_000, 0)] });
  expect(await rig.gateway.balance(account.accountId)).toBe('-0.0005994');
  for (const stream of [false, true]) {
    const refused = await rig.gateway.chat(ask({ stream }), { key: account.key });
    expect([refused.status, refused.json.error.message]).toEqual([402, expect.stringContaining('-0.0005994 USD')]);
  }
  expect(rig.upstream.calls).toHaveLength(1);
  await rig.gateway.admin('POST', `/accounts/${account.accountId}/credits`, { amount_usd: '0.000599400001' });
  expect(await rig.gateway.balance(account.accountId)).toBe('0.000000000001');
  expect((await rig.gateway.chat(ask(), { key: account.key })).status).toBe(200);
});

it('calls of one token at the smallest price add up to the exact product, and every amount is text that reads back the same', async () => {
  const count = scaled(250, 100_000);
  const account = await rig.gateway.createAccount({ credit: '0.3' });
  rig.other.reply(up.json(up.completion({ usage: up.usage(1, 0) })));
  const body = ask({ model: 'beta/meta/llama-3.3-70b/defra' });
  let left = count;
  const caller = async () => {
    while (left-- > 0) expect((await rig.gateway.chat(body, { key: account.key })).status).toBe(200);
  };
  await Promise.all(Array.from({ length: 16 }, caller));
  const { json: ledger } = await rig.gateway.admin('GET', `/accounts/${account.accountId}/ledger?limit=100000`);
  const entries = ledger.data as { kind: string; amount_usd: string; balance_usd: string }[];
  const usage = entries.filter(({ kind }) => kind === 'usage');
  expect(usage).toHaveLength(Math.min(count, 100_000));
  expect(new Set(usage.map(({ amount_usd }) => amount_usd))).toEqual(new Set(['-0.000000000001']));
  const exact = 300_000_000_000n - BigInt(count);
  expect(await rig.gateway.balance(account.accountId)).toBe(usdText(exact));
  expect(entries[0]!.balance_usd).toBe(usdText(exact));
  for (const { balance_usd } of entries.slice(0, 500)) expect(usdText(pico(balance_usd))).toBe(balance_usd);
  const credits = await rig.gateway.call('GET', '/v1/credits', undefined, { key: account.key });
  expect(credits.json.data).toMatchObject({
    balance_usd: usdText(exact),
    total_credits: 0.3,
    total_usage: Number(usdText(BigInt(count))),
  });
}, 900_000);
