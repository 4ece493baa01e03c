import { describe, expect, it } from 'vitest';
import { completion, json, usage } from '../../support/scripted-upstream.js';
import { ask, useGateway } from '../harness.js';

const bench = useGateway();

const nothingHeld = { held_usd: '0', requests_in_flight: 0 };

describe('GET /v1/credits', () => {
  it('states the balance as exact text, credits and usage as numbers, at once after each answer', async () => {
    const { gateway, upstream } = bench;
    const { key } = await gateway.createAccount({ credit: '10' });
    const credits = async () => (await gateway.call('GET', '/v1/credits', undefined, { key })).json;
    expect(await credits()).toEqual({
      data: { balance_usd: '10', ...nothingHeld, total_credits: 10, total_usage: 0, currency: 'USD' },
    });
    upstream.reply(json(completion({ usage: usage(1_001, 7) })));
    for (const [balance_usd, total_usage] of [
      ['9.9993938', 0.0006062],
      ['9.9987876', 0.0012124],
      ['9.9981814', 0.0018186],
    ]) {
      expect((await gateway.chat(ask(), { key })).status).toBe(200);
      const data = { balance_usd, ...nothingHeld, total_credits: 10, total_usage, currency: 'USD' };
      expect(await credits()).toEqual({ data });
    }
  });

  it('an account without credit has zero, one in debt a negative balance', async () => {
    const { gateway } = bench;
    const poor = await gateway.createAccount({ credit: null });
    const indebted = await gateway.createAccount({ credit: '-0.000000000001' });
    const credits = async (key: string) => (await gateway.call('GET', '/v1/credits', undefined, { key })).json.data;
    expect(await credits(poor.key)).toMatchObject({ balance_usd: '0', total_credits: 0, total_usage: 0 });
    expect(await credits(indebted.key)).toMatchObject({ balance_usd: '-0.000000000001' });
  });

  it('is the account’s: two keys of it see the same, another account’s does not', async () => {
    const { gateway } = bench;
    const account = await gateway.createAccount({ credit: '3' });
    const other = await gateway.createAccount({ credit: '4' });
    const second = (await gateway.admin('POST', `/accounts/${account.accountId}/keys`, { name: 'second' })).json.token;
    const balance = async (key: string) =>
      (await gateway.call('GET', '/v1/credits', undefined, { key })).json.data.balance_usd;
    expect([await balance(account.key), await balance(second), await balance(other.key)]).toEqual(['3', '3', '4']);
  });
});
