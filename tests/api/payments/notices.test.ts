/** Notices: when a request takes a balance below its threshold, or uses a model that retires soon, the fleet sends one signed webhook. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { ManualClock } from '../../support/manual-clock.js';
import { registerSecret } from '../../support/secrets.js';

const secret = `whsec_${Buffer.from('the secret of the notices').toString('base64')}`;
registerSecret('the secret of the notices', secret);

const received: { headers: IncomingHttpHeaders; body: string; path: string }[] = [];
let receiver: Server;
let gateway: TestGateway;
let other: TestGateway;
let notices: object;

beforeAll(async () => {
  receiver = createServer(async (req, res) => {
    let body = '';
    for await (const piece of req) body += piece;
    received.push({ headers: req.headers, body, path: req.url ?? '' });
    res.writeHead(204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/notices`;
  notices = { low_balance_usd: '2.00', webhook: { url, secret }, interval: '50ms' };
  gateway = await startGateway({ config: { notices } });
  other = await startGateway({ config: { notices, storage: { database_url: gateway.files.databaseUrl } } });
});
afterAll(async () => {
  await gateway?.stop();
  await other?.stop();
  receiver?.close();
});

describe('notices.webhook', () => {
  it('is called once for a crossing, by two gateways on one database, with a signature that verifies', async () => {
    const { accountId, key } = await gateway.createAccount({ credit: '2.00' });
    const ask = { model: 'sandbox/lodestone/echo', messages: [{ role: 'user', content: 'Hi' }] };
    expect((await gateway.chat(ask, { key })).status).toBe(200);
    await gateway.admin('POST', `/accounts/${accountId}/credits`, { amount_usd: '-0.50' });
    await expect.poll(() => received.length, { timeout: 60_000 }).toBe(1);
    const { headers, body, path } = received[0]!;
    expect(path).toBe('/notices');
    await new OpenAI({ apiKey: 'none' }).webhooks.verifySignature(body, headers as Record<string, string>, secret);
    const told = JSON.parse(body);
    expect(told).toEqual({
      id: headers['webhook-id'],
      type: 'balance.low',
      timestamp: expect.any(String),
      data: { account_id: accountId, email: expect.any(String), balance_usd: expect.any(String), threshold_usd: '2' },
    });
    expect(Number(told.data.balance_usd)).toBeLessThan(2);
    await gateway.admin('POST', `/accounts/${accountId}/credits`, { amount_usd: '-5' });
    await expect.poll(() => received.length, { timeout: 60_000 }).toBeGreaterThan(1);
    // Many looks of both later, each crossing has been told once.
    expect(received.map(({ body: text }) => JSON.parse(text).type)).toEqual(['balance.low', 'balance.exhausted']);
  });

  it('is called once for a threshold of a budget, of several at once for the highest, by two gateways on one database', async () => {
    const { accountId } = await gateway.createAccount();
    const before = received.length;
    const set = (limit_usd: string) =>
      gateway.admin('PATCH', `/accounts/${accountId}`, {
        budget: { limit_usd, period: 'never', alert_at: [0.5, 0.8, 1] },
        opening_spent_usd: '9',
      });
    const told = () => received.slice(before).map(({ body }) => JSON.parse(body));
    await set('10');
    await expect.poll(() => told().length, { timeout: 60_000 }).toBe(1);
    expect(told()[0]).toEqual({
      ...{ id: expect.stringMatching(/^ntb-/), type: 'budget.threshold', timestamp: expect.any(String) },
      data: {
        ...{ account: accountId, project: null, threshold: 0.8, limit_usd: '10', spent_usd: '9' },
        ...{ period: 'never', ends_at: null },
      },
    });
    // Of 12 less than 0.8 are spent, which arms that threshold again, and not that of 0.5.
    await set('12');
    await set('9');
    await expect.poll(() => told().length, { timeout: 60_000 }).toBe(2);
    expect(told()[1].data).toMatchObject({ threshold: 1, limit_usd: '9' });
  });

  it('is called once for each account that uses a model that retires within 60 days, with what names the model', async () => {
    const retires = { date: '2026-10-16', source: 'their page', replaced_by: 'acme/next' };
    const route = { provider: 'inside', locode: 'global', upstream_model: 'echo', price: { input: 1, output: 1 } };
    const models = [
      { creator: 'acme', model: 'old', retires, routes: [route] },
      { creator: 'acme', model: 'next', routes: [route] },
    ];
    const clock = new ManualClock('2026-08-17T00:00:00Z');
    const catalogue = { providers: [{ id: 'inside', dialect: 'sandbox', auth: 'none' }], models };
    const gateway = await startGateway({ clock, catalogue, config: { notices } });
    try {
      received.length = 0;
      const [user, neighbour] = [await gateway.createAccount({}), await gateway.createAccount({})];
      const { key } = user;
      const call = (method: string, path: string, body: object) => gateway.call(method, path, body, { key });
      await call('POST', '/v1/aliases', { name: 'mine', target: 'auto/acme/old' });
      await call('POST', '/v1/aliases', { name: 'other', target: 'auto/acme/next' });
      const models = ['inside/acme/next/global', 'inside/acme/old/global'];
      await call('PUT', '/v1/fallback', { fallback: { models } });
      const ask = (model: string) => ({ model, messages: [{ role: 'user', content: 'Hi' }] });
      expect((await gateway.chat(ask('auto/acme/old'), { key })).status).toBe(200);
      expect((await gateway.chat(ask('auto/acme/next'), { key: neighbour.key })).status).toBe(200);
      const told = () => {
        clock.advance(3_600_000);
        return received.map(({ body }) => JSON.parse(body));
      };
      await expect.poll(() => told().length, { timeout: 60_000 }).toBe(1);
      expect(told()).toEqual([
        {
          ...{ id: expect.stringMatching(/^ntr-/), type: 'model.retiring', timestamp: expect.any(String) },
          data: {
            ...{ account_id: user.accountId, email: expect.any(String), model: 'acme/old' },
            retires: { date: '2026-10-16', replaced_by: 'acme/next' },
            routes: ['inside/acme/old/global'],
            names: ['alias/mine', 'inside/acme/old/global'],
          },
        },
      ]);
      // Many hours and another request later it is still the only one.
      expect((await gateway.chat(ask('auto/acme/old'), { key })).status).toBe(200);
      for (let hours = 0; hours < 10; hours++) {
        told();
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
      expect(received).toHaveLength(1);
    } finally {
      await gateway.stop();
    }
  });
});
