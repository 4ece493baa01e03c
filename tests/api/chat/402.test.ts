import { describe, expect, it } from 'vitest';
import { completion, json, usage } from '../../support/scripted-upstream.js';
import { model, route } from '../catalogue.js';
import { ask, expectRefused, useGateway } from '../harness.js';

const bench = useGateway({ models: [model('dear', [route({ price: { input: 1_000, output: 1_000 } })])] });

const insufficient = (balance: string) => ({
  status: 402,
  type: 'invalid_request_error',
  code: 'insufficient_credits',
  says: [`${balance} USD`, 'above zero', 'Add credits'],
});

describe('402 insufficient_credits', () => {
  it('when the balance is zero: the message states it, and no upstream is called', async () => {
    const account = await bench.gateway.createAccount({ credit: null });
    await expectRefused(bench, ask(), insufficient('0'), account);
  });

  it('when the balance is below zero', async () => {
    const account = await bench.gateway.createAccount({ credit: '-2.5' });
    await expectRefused(bench, ask(), insufficient('-2.5'), account);
  });

  it('for a stream and for a free route as well', async () => {
    const { gateway } = bench;
    const account = await gateway.createAccount({ credit: null });
    await expectRefused(bench, ask({ stream: true }), insufficient('0'), account);
    await expectRefused(bench, ask({ model: 'acme/meta/free' }), insufficient('0'), account);
  });

  it('any positive balance admits a request, even one pico-dollar; it may take the balance below zero, and then 402 until credits are added', async () => {
    const { gateway, upstream } = bench;
    const account = await gateway.createAccount({ credit: '0.000000000001' });
    upstream.reply(json(completion({ usage: usage(1_000, 1_000) })));
    const first = await gateway.chat(ask({ model: 'acme/meta/dear' }), { key: account.key });
    expect([first.status, first.json.usage.cost]).toEqual([200, 2]);
    expect(await gateway.balance(account.accountId)).toBe('-1.999999999999');
    await expectRefused(bench, ask(), insufficient('-1.999999999999'), account);
    const credit = (amount_usd: string) =>
      gateway.admin('POST', `/accounts/${account.accountId}/credits`, { amount_usd });
    await credit('1.999999999999');
    await expectRefused(bench, ask(), insufficient('0'), account);
    await credit('0.000000000001');
    expect((await gateway.chat(ask({ model: 'acme/meta/free' }), { key: account.key })).status).toBe(200);
  });

  it('a debit of the operator counts at once', async () => {
    const { gateway } = bench;
    const account = await gateway.createAccount({ credit: '1' });
    expect((await gateway.chat(ask({ model: 'acme/meta/free' }), { key: account.key })).status).toBe(200);
    await gateway.admin('POST', `/accounts/${account.accountId}/credits`, { amount_usd: '-1' });
    await expectRefused(bench, ask(), insufficient('0'), account);
  });

  it('is for chat only: an account without credit may still read and set up', async () => {
    const { gateway } = bench;
    const { key } = await gateway.createAccount({ credit: null });
    for (const path of ['/v1/models', '/v1/aliases', '/v1/generations', '/v1/credits', '/v1/key']) {
      expect((await gateway.call('GET', path, undefined, { key })).status, path).toBe(200);
    }
    const alias = { name: 'a', target: 'acme/meta/llama/defra' };
    expect((await gateway.call('POST', '/v1/aliases', alias, { key })).status).toBe(201);
  });
});
