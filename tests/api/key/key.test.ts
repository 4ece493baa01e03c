import { describe, expect, it } from 'vitest';
import { completion, json, usage } from '../../support/scripted-upstream.js';
import { ask, useGateway } from '../harness.js';

const bench = useGateway({
  config: { limits: { key_requests_per_minute: 777_777, key_tokens_per_minute: 88_888_888 } },
});
const about = async (key: string) => (await bench.gateway.call('GET', '/v1/key', undefined, { key })).json;

describe('GET /v1/key', () => {
  it('tells name, label, expiry, usage and limits; never the token', async () => {
    const { gateway } = bench;
    const { key } = await gateway.createAccount({ name: 'my key' });
    expect(await about(key)).toEqual({
      data: {
        name: 'my key',
        label: `sk-lr-…${key.slice(-4)}`,
        expires_at: null,
        usage: 0,
        rate_limit: { requests_per_minute: 777_777, tokens_per_minute: 88_888_888 },
      },
    });
    expect(JSON.stringify(await about(key))).not.toContain(key.slice(6, 30));
  });

  it('usage is the key’s own, exact, and counted at once', async () => {
    const { gateway, upstream } = bench;
    const account = await gateway.createAccount();
    const second = (
      await gateway.admin('POST', `/accounts/${account.accountId}/keys`, { name: 'second', expires: '7d' })
    ).json;
    upstream.reply(json(completion({ usage: usage(10, 10) })));
    await gateway.chat(ask(), { key: account.key });
    await gateway.chat(ask(), { key: account.key });
    await gateway.chat(ask(), { key: second.token });
    expect((await about(account.key)).data.usage).toBe(0.000028);
    expect((await about(second.token)).data).toMatchObject({ usage: 0.000014, expires_at: second.expires_at });
  });

  it('limits are the account’s where it has its own', async () => {
    const { gateway } = bench;
    const { key, accountId } = await gateway.createAccount();
    await gateway.admin('PATCH', `/accounts/${accountId}`, { limits: { requests_per_minute: 12 } });
    expect((await about(key)).data.rate_limit).toEqual({ requests_per_minute: 12, tokens_per_minute: 88_888_888 });
  });
});
