/** Buying credit from the dashboard: what Stripe is asked for, what the page gets, and what is refused. */
import { afterEach, describe, expect, it } from 'vitest';
import { DashboardClient } from '../../support/dashboard-client.js';
import { startGateway } from '../../support/gateway.js';
import { completed, secretKey } from '../../support/scripted-stripe.js';
import { deliver, usePayments } from './bench.js';

const bench = usePayments({ config: { registration: 'open' } });
let visitors = 0;

async function visitor(url = bench.gateway.url) {
  const client = new DashboardClient(url);
  const email = `buyer-${++visitors}@example.test`;
  const { json } = await client.call('POST', 'sign-up', { email, password: 'correct horse battery' });
  return { client, email, accountId: json.account.id as string };
}

const attempt = () => `attempt-${Math.random().toString(36).slice(2)}`;

afterEach(() => {
  bench.stripe.failWith = null;
});

describe('POST /dashboard/api/credits/checkout', () => {
  it('opens a Stripe checkout for the account and answers its address', async () => {
    const { client, email, accountId } = await visitor();
    const calls = bench.stripe.calls.length;
    const reply = await client.call('POST', 'credits/checkout', {
      amount_usd: '25.00',
      attempt: 'attempt-of-one-click',
    });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.json).toEqual({
      id: expect.stringMatching(/^cs_test_/),
      url: `${bench.stripe.url}/pay/${(reply.json as { id: string }).id}`,
    });
    const [call, ...more] = bench.stripe.calls.slice(calls);
    expect(more).toEqual([]);
    expect(call?.authorization).toBe(`Bearer ${secretKey}`);
    expect(call?.idempotencyKey).toContain(accountId);
    expect(call?.fields).toEqual({
      mode: 'payment',
      client_reference_id: accountId,
      customer_email: email,
      'metadata[lodestone_account]': accountId,
      'payment_intent_data[description]': 'Lodestone credits',
      'payment_intent_data[metadata][lodestone_account]': accountId,
      'line_items[0][quantity]': '1',
      'line_items[0][price_data][currency]': 'usd',
      'line_items[0][price_data][unit_amount]': '2500',
      'line_items[0][price_data][product_data][name]': 'Credits',
      billing_address_collection: 'required',
      'adaptive_pricing[enabled]': 'false',
      success_url: `${bench.gateway.url}/dashboard/credits?payment={CHECKOUT_SESSION_ID}`,
      cancel_url: `${bench.gateway.url}/dashboard/credits?payment=cancelled`,
    });
  });

  it('one click that is sent twice opens one checkout', async () => {
    const { client } = await visitor();
    const body = { amount_usd: '10', attempt: attempt() };
    const [one, two] = await Promise.all([
      client.call('POST', 'credits/checkout', body),
      client.call('POST', 'credits/checkout', body),
    ]);
    expect(one?.json).toEqual(two?.json);
  });

  it.each(['4.99', '0', '-25', '10000.01', '25.001', '1e3', '', '99999999999999999999', 'ten'])(
    '400 for the amount %j, and Stripe is not asked',
    async (amount_usd) => {
      const { client } = await visitor();
      const calls = bench.stripe.calls.length;
      const reply = await client.call('POST', 'credits/checkout', { amount_usd, attempt: attempt() });
      expect(reply).toMatchObject({ status: 400, json: { error: { param: 'amount_usd' } } });
      expect(bench.stripe.calls.length).toBe(calls);
    },
  );

  it('401 without a session, 403 from another site', async () => {
    const body = { amount_usd: '25', attempt: attempt() };
    const stranger = new DashboardClient(bench.gateway.url);
    expect((await stranger.call('POST', 'credits/checkout', body)).status).toBe(401);
    const { client } = await visitor();
    for (const headers of [{ 'x-lodestone-dashboard': undefined }, { origin: 'https://elsewhere.example' }]) {
      const reply = await client.call('POST', 'credits/checkout', body, { headers });
      expect(reply).toMatchObject({ status: 403, json: { error: { code: 'csrf_refused' } } });
    }
  });

  it.each([
    [
      'a wrong key',
      { status: 401, error: { type: 'invalid_request_error', message: `Invalid API Key: ${secretKey}` } },
    ],
    ['its own fault', { status: 500, error: { type: 'api_error', message: 'boom' } }],
    ['no answer', 'hang_up' as const],
  ])('503 where Stripe answers with %s; the log has no secret', async (_, failure) => {
    const { client } = await visitor();
    bench.stripe.failWith = failure;
    const reply = await client.call('POST', 'credits/checkout', { amount_usd: '25', attempt: attempt() });
    expect(reply).toMatchObject({ status: 503, json: { error: { code: 'payment_processor_unavailable' } } });
    expect(JSON.stringify(bench.errors.at(-1))).not.toContain(secretKey);
    expect(bench.errors.at(-1)?.message).toBe('a checkout could not be opened');
  });
});

describe('GET /dashboard/api/credits', () => {
  it('offers the top-up with its bounds, and the checkout says when it is credited', async () => {
    const { client, accountId } = await visitor();
    const { json } = await client.call('GET', 'credits');
    expect(json).toMatchObject({ top_up: { processor: 'stripe', available: true, min_usd: '5', max_usd: '10000' } });
    expect((await client.call('GET', 'credits/checkout/cs_mine')).json).toEqual({
      state: 'confirming',
      amount_usd: null,
    });
    await deliver(bench.gateway, completed(accountId, { id: 'cs_mine' }));
    expect((await client.call('GET', 'credits/checkout/cs_mine')).json).toEqual({
      state: 'credited',
      amount_usd: '25',
    });
    // Nobody else learns of it.
    const other = await visitor();
    expect((await other.client.call('GET', 'credits/checkout/cs_mine')).json).toMatchObject({ state: 'confirming' });
  });

  it('has a threshold for the notice, which its owner can set', async () => {
    const { client } = await visitor();
    expect((await client.call('GET', 'credits')).json).toMatchObject({ low_balance_usd: '1' });
    for (const low_balance_usd of ['-1', 'x', '1000000.01']) {
      const reply = await client.call('PUT', 'credits/notice', { low_balance_usd });
      expect(reply).toMatchObject({ status: 400, json: { error: { param: 'low_balance_usd' } } });
    }
    expect((await client.call('PUT', 'credits/notice', { low_balance_usd: '7.50' })).json).toEqual({
      low_balance_usd: '7.5',
    });
    expect((await client.call('GET', 'credits')).json).toMatchObject({ low_balance_usd: '7.5' });
    expect((await client.call('GET', 'session')).json).toMatchObject({ account: { low_balance_usd: '7.5' } });
  });
});

describe('payments.processor: none, the default', () => {
  it('offers no checkout: the page says how credit is added, and a call gets 403', async () => {
    const gateway = await startGateway({ config: { registration: 'open' } });
    try {
      const { client } = await visitor(gateway.url);
      const { json } = await client.call('GET', 'credits');
      expect(json).toMatchObject({ top_up: { processor: 'none', available: false } });
      const reply = await client.call('POST', 'credits/checkout', { amount_usd: '25', attempt: attempt() });
      expect(reply).toMatchObject({ status: 403, json: { error: { code: 'checkout_not_offered' } } });
    } finally {
      await gateway.stop();
    }
  });
});
