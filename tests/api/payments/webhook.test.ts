/** The webhook of the payment processor: one credit per payment, whatever is sent, in whatever order, by anybody. */
import { describe, expect, it } from 'vitest';
import { startGateway } from '../../support/gateway.js';
import { scaled } from '../../support/scaled.js';
import { completed, paidSession, signature, stripeEvent, webhookSecret } from '../../support/scripted-stripe.js';
import { query, takeAway } from '../database.js';
import { amountsOf, balanceOf, deliver, entriesOf, usePayments } from './bench.js';

const bench = usePayments();
/** Deliveries at once: more than the store has connections for. */
const atOnce = scaled(24, 100);
const newAccount = async () => (await bench.gateway.createAccount({ credit: null })).accountId;

describe('a payment is credited', () => {
  it('by the amount of the event, with a note that names the payment, and an audit entry', async () => {
    const accountId = await newAccount();
    const event = completed(accountId, { payment_intent: 'pi_named', amount_total: 1999 });
    const reply = await deliver(bench.gateway, event);
    expect({ status: reply.status, json: reply.json }).toEqual({
      status: 200,
      json: { received: true, outcome: 'recorded' },
    });
    expect(await entriesOf(bench.gateway, accountId)).toMatchObject([
      { kind: 'credit', amount_usd: '19.99', balance_usd: '19.99', note: 'Stripe payment pi_named' },
    ]);
    expect(await balanceOf(bench.gateway, accountId)).toBe('19.99');
    const { data } = (await bench.gateway.admin('GET', '/audit')).json;
    expect(data).toContainEqual(
      expect.objectContaining({
        actor: 'system',
        action: 'payment.credit',
        subject: accountId,
        details: { payment: 'pi_named', event: event.id, amount_usd: '19.99', note: 'Stripe payment pi_named' },
      }),
    );
  });

  it('and serves the next request, where there was a 402 before', async () => {
    const { accountId, key } = await bench.gateway.createAccount({ credit: null });
    const ask = { model: 'sandbox/lodestone/echo', messages: [{ role: 'user', content: 'Hi' }] };
    expect((await bench.gateway.chat(ask, { key })).status).toBe(402);
    await deliver(bench.gateway, completed(accountId));
    expect((await bench.gateway.chat(ask, { key })).status).toBe(200);
  });

  it('only when it is paid: a checkout that is completed unpaid waits for async_payment_succeeded', async () => {
    const accountId = await newAccount();
    const session = paidSession(accountId);
    const unpaid = stripeEvent('checkout.session.completed', { ...session, payment_status: 'unpaid' });
    expect((await deliver(bench.gateway, unpaid)).json.outcome).toBe('ignored');
    expect(await amountsOf(bench.gateway, accountId)).toEqual([]);
    await deliver(bench.gateway, stripeEvent('checkout.session.async_payment_succeeded', session));
    expect(await amountsOf(bench.gateway, accountId)).toEqual(['25']);
  });

  it('once where async_payment_succeeded comes before completed, and both say paid', async () => {
    const accountId = await newAccount();
    const session = paidSession(accountId);
    await deliver(bench.gateway, stripeEvent('checkout.session.async_payment_succeeded', session));
    const late = await deliver(bench.gateway, stripeEvent('checkout.session.completed', session));
    expect(late.status).toBe(200);
    expect(await amountsOf(bench.gateway, accountId)).toEqual(['25']);
  });

  it('also where Stripe gives the payment as an object instead of its id', async () => {
    const accountId = await newAccount();
    const session = paidSession(accountId);
    await deliver(
      bench.gateway,
      stripeEvent('checkout.session.completed', { ...session, payment_intent: { id: session.payment_intent } }),
    );
    await deliver(bench.gateway, stripeEvent('checkout.session.completed', session));
    expect(await amountsOf(bench.gateway, accountId)).toEqual(['25']);
  });
});

describe('one credit, ever', () => {
  it(`for ${atOnce} deliveries of the same event at once, and again one after the other`, async () => {
    const accountId = await newAccount();
    const event = completed(accountId);
    const replies = await Promise.all(Array.from({ length: atOnce }, () => deliver(bench.gateway, event)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    const outcomes = replies.map(({ json }) => json.outcome);
    expect(outcomes.filter((outcome) => outcome === 'recorded')).toHaveLength(1);
    expect((await deliver(bench.gateway, event)).json.outcome).toBe('repeated');
    expect(await amountsOf(bench.gateway, accountId)).toEqual(['25']);
    expect(await balanceOf(bench.gateway, accountId)).toBe('25');
  });

  it(`for ${atOnce} events of one payment, each with an id of its own`, async () => {
    const accountId = await newAccount();
    const session = paidSession(accountId);
    await Promise.all(
      Array.from({ length: atOnce }, () => deliver(bench.gateway, stripeEvent('checkout.session.completed', session))),
    );
    expect(await amountsOf(bench.gateway, accountId)).toEqual(['25']);
    expect(await balanceOf(bench.gateway, accountId)).toBe('25');
  });

  it(`from two gateways on one database, ${atOnce / 2} deliveries to each at once`, async () => {
    const config = { storage: { database_url: bench.gateway.files.databaseUrl }, payments: bench.stripe.config };
    const other = await startGateway({ config });
    try {
      const accountId = await newAccount();
      const session = paidSession(accountId);
      const same = stripeEvent('checkout.session.completed', session);
      const deliveries = Array.from({ length: atOnce }, (_, number) =>
        deliver(number % 2 === 0 ? bench.gateway : other, number % 4 < 2 ? same : { ...same, id: `evt_${number}` }),
      );
      const replies = await Promise.all(deliveries);
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
      expect(await amountsOf(bench.gateway, accountId)).toEqual(['25']);
      const rows = await query(bench.gateway, 'select balance_pico from lodestone.accounts where id = $1', [accountId]);
      expect(rows).toEqual([{ balance_pico: '25000000000000' }]);
    } finally {
      await other.stop();
    }
  });

  it('where the transaction fails half-way: 500, nothing is left of it, and the retry credits', async () => {
    const accountId = await newAccount();
    const event = completed(accountId);
    await query(
      bench.gateway,
      `create function public.fail() returns trigger language plpgsql as $$ begin
      raise exception 'cut off'; end $$`,
    );
    await query(
      bench.gateway,
      `create trigger fail before insert on lodestone.ledger_posts
      for each row execute function public.fail()`,
    );
    const reply = await deliver(bench.gateway, event);
    await query(bench.gateway, 'drop trigger fail on lodestone.ledger_posts');
    expect(reply.status).toBe(500);
    const left = await query(bench.gateway, 'select * from lodestone.payment_events where id = $1', [event.id]);
    expect(left).toEqual([]);
    expect(await balanceOf(bench.gateway, accountId)).toBe('0');
    expect((await deliver(bench.gateway, event)).json.outcome).toBe('recorded');
    expect((await deliver(bench.gateway, event)).json.outcome).toBe('repeated');
    expect(await amountsOf(bench.gateway, accountId)).toEqual(['25']);
  });

  it('where the store is unreachable: 500, so that Stripe sends it again, and the retry credits', async () => {
    const accountId = await newAccount();
    const event = completed(accountId);
    const bringBack = await takeAway(bench.gateway);
    try {
      expect((await deliver(bench.gateway, event)).status).toBe(500);
    } finally {
      await bringBack();
    }
    await expect.poll(async () => (await deliver(bench.gateway, event)).status).toBe(200);
    expect((await deliver(bench.gateway, event)).json.outcome).toBe('repeated');
    expect(await amountsOf(bench.gateway, accountId)).toEqual(['25']);
  });
});

describe('what is not Stripe’s is refused with 400, and credits nothing', () => {
  it.each([
    ['another secret', { secret: 'whsec_of_somebody_else_0123456789' }, 'webhook_signature_invalid'],
    ['the secret of another endpoint', { secret: `${webhookSecret}x` }, 'webhook_signature_invalid'],
    ['no header', { header: null }, 'webhook_signature_invalid'],
    ['an empty header', { header: '' }, 'webhook_signature_invalid'],
    ['only the time', { header: `t=${Math.floor(Date.now() / 1000)}` }, 'webhook_signature_invalid'],
    ['no time', { header: 'v1=0123456789abcdef' }, 'webhook_signature_invalid'],
    ['the test scheme v0', { scheme: 'v0' }, 'webhook_signature_invalid'],
    ['a time more than five minutes ago', { at: -302 }, 'webhook_time_invalid'],
    ['a time more than five minutes ahead', { at: 310 }, 'webhook_time_invalid'],
  ])('%s', async (_, delivery, code) => {
    const accountId = await newAccount();
    const reply = await deliver(bench.gateway, completed(accountId), delivery);
    expect({ status: reply.status, code: reply.json.error?.code }).toEqual({ status: 400, code });
    expect(reply.text).not.toContain('whsec');
    expect(await amountsOf(bench.gateway, accountId)).toEqual([]);
  });

  it('a body that was altered after signing, by one digit of the amount', async () => {
    const accountId = await newAccount();
    const body = JSON.stringify(completed(accountId));
    const reply = await deliver(bench.gateway, body.replace('2500', '9500'), { header: signature(body) });
    expect(reply.json.error.code).toBe('webhook_signature_invalid');
    expect(await amountsOf(bench.gateway, accountId)).toEqual([]);
  });

  it('a signature of the right time with a newer time written over it', async () => {
    const accountId = await newAccount();
    const body = JSON.stringify(completed(accountId));
    const old = signature(body, { at: -3600 });
    const header = old.replace(/^t=\d+/, `t=${Math.floor(Date.now() / 1000)}`);
    expect((await deliver(bench.gateway, body, { header })).json.error.code).toBe('webhook_signature_invalid');
    const both = `${old},t=${Math.floor(Date.now() / 1000)}`;
    expect((await deliver(bench.gateway, body, { header: both })).json.error.code).toBe('webhook_signature_invalid');
    expect(await amountsOf(bench.gateway, accountId)).toEqual([]);
  });

  it.each(['{', 'not json', '\u0000', '[]', 'null', '"text"', '{}', '{"type":"checkout.session.completed"}'])(
    'a body that is no JSON, or no event, signed as it is: %j',
    async (body) => {
      const { status, json } = await deliver(bench.gateway, body);
      expect({ status, code: json.error?.code }).toEqual({ status: 400, code: 'invalid_request_error' });
    },
  );

  it('an empty body', async () => {
    expect((await deliver(bench.gateway, '')).status).toBe(400);
  });

  it('a body over the cap of 256 KiB, signed or not', async () => {
    const accountId = await newAccount();
    const event = completed(accountId, { padding: 'x'.repeat(262_144) });
    const reply = await deliver(bench.gateway, event);
    expect(reply.status).toBe(400);
    expect(reply.json.error.message).toContain('262144 bytes');
    expect(await amountsOf(bench.gateway, accountId)).toEqual([]);
  });
});

describe('what a person has to see is acknowledged, logged, and credits nothing', () => {
  it.each([
    ['another currency', { currency: 'eur' }],
    ['no currency', { currency: null }],
    ['nothing', { amount_total: 0 }],
    ['a negative amount', { amount_total: -2500 }],
    ['more than Stripe charges', { amount_total: 100_000_000 }],
    ['a number that is none of cents', { amount_total: 25.5 }],
    ['a number as text', { amount_total: '2500' }],
    ['two accounts', { client_reference_id: 'acct-another' }],
  ])('%s', async (_, over) => {
    const accountId = await newAccount();
    const before = bench.errors.length;
    const reply = await deliver(bench.gateway, completed(accountId, over));
    expect({ status: reply.status, outcome: reply.json.outcome }).toEqual({ status: 200, outcome: 'refused' });
    expect(await amountsOf(bench.gateway, accountId)).toEqual([]);
    expect(bench.errors.slice(before)).toMatchObject([{ message: expect.stringContaining('handle it in Stripe') }]);
  });

  it('an account that is not there', async () => {
    const before = bench.errors.length;
    const reply = await deliver(bench.gateway, completed('acct-nobody', { payment_intent: 'pi_nobody' }));
    expect({ status: reply.status, outcome: reply.json.outcome }).toEqual({ status: 200, outcome: 'refused' });
    expect(bench.errors.slice(before)).toMatchObject([{ fields: { payment: 'pi_nobody', account: 'acct-nobody' } }]);
  });
});

describe('what is none of this service’s business is acknowledged and ignored', () => {
  it('a checkout that something else on the same Stripe account has opened, even with an account’s id', async () => {
    const accountId = await newAccount();
    const reply = await deliver(bench.gateway, completed(accountId, { metadata: {} }));
    expect({ status: reply.status, outcome: reply.json.outcome }).toEqual({ status: 200, outcome: 'ignored' });
    expect(await amountsOf(bench.gateway, accountId)).toEqual([]);
  });

  it.each(['customer.created', 'constructor', '__proto__'])('an event of the type %s', async (type) => {
    expect((await deliver(bench.gateway, stripeEvent(type, {}))).json.outcome).toBe('ignored');
  });
});

describe('without a processor', () => {
  it('there is no webhook: 404', async () => {
    const plain = await startGateway();
    try {
      expect((await deliver(plain, completed('acct-any'))).status).toBe(404);
    } finally {
      await plain.stop();
    }
  });
});
