/** Refunds and disputes: each changes the balance once, in whatever order Stripe reports them. */
import { describe, expect, it } from 'vitest';
import { scaled } from '../../support/scaled.js';
import { paidSession, refundedCharge, stripeEvent } from '../../support/scripted-stripe.js';
import { balanceOf, deliver, entriesOf, usePayments } from './bench.js';

const bench = usePayments();

async function scene() {
  const { accountId } = await bench.gateway.createAccount({ credit: null });
  const session = paidSession(accountId);
  const pi = session.payment_intent;
  const now = Math.floor(Date.now() / 1000);
  return {
    accountId,
    pi,
    paid: stripeEvent('checkout.session.completed', session),
    refunded: (total: number, at = 0) =>
      stripeEvent('charge.refunded', refundedCharge(pi, total), { created: now + at }),
    failed: (id: string, amount: number, at = 0, type = 'refund.failed') =>
      stripeEvent(
        type,
        { id, object: 'refund', amount, currency: 'usd', payment_intent: pi, status: 'failed' },
        { created: now + at },
      ),
    dispute: (what: 'funds_withdrawn' | 'funds_reinstated', id = 'dp_1') =>
      stripeEvent(`charge.dispute.${what}`, {
        ...{ id: `${id}_${accountId}`, object: 'dispute', amount: 2500, currency: 'usd', payment_intent: pi },
      }),
    told: async (...events: unknown[]) => {
      for (const event of events) expect((await deliver(bench.gateway, event)).status).toBe(200);
    },
    books: async () => {
      const entries = await entriesOf(bench.gateway, accountId);
      return {
        balance: await balanceOf(bench.gateway, accountId),
        entries: entries.map(({ kind, amount_usd }) => `${kind} ${amount_usd}`),
      };
    },
  };
}

describe('a refund', () => {
  it('takes its amount off the balance, once, with a note that names the payment', async () => {
    const { accountId, pi, paid, refunded, told, books } = await scene();
    const refund = refunded(1000);
    await told(paid, refund, refund, refunded(1000));
    expect(await books()).toEqual({ balance: '15', entries: ['credit 25', 'adjustment -10'] });
    const entries = await entriesOf(bench.gateway, accountId);
    expect(entries[1]?.note).toBe(`Stripe payment ${pi}: refunded`);
  });

  const atOnce = scaled(24, 100);
  it(`told ${atOnce} times at once counts once`, async () => {
    const { paid, refunded, told, books } = await scene();
    await told(paid);
    const refund = refunded(1000);
    await Promise.all(
      Array.from({ length: atOnce }, (_, n) => deliver(bench.gateway, n % 2 ? refund : refunded(1000))),
    );
    expect(await books()).toEqual({ balance: '15', entries: ['credit 25', 'adjustment -10'] });
  });

  it('in two parts comes to their sum, also where the second is told first: Stripe tells the total', async () => {
    const inOrder = await scene();
    await inOrder.told(inOrder.paid, inOrder.refunded(1000), inOrder.refunded(2500, 1));
    expect(await inOrder.books()).toEqual({
      balance: '0',
      entries: ['credit 25', 'adjustment -10', 'adjustment -15'],
    });
    const reordered = await scene();
    await reordered.told(reordered.paid, reordered.refunded(2500, 1), reordered.refunded(1000));
    expect(await reordered.books()).toEqual({ balance: '0', entries: ['credit 25', 'adjustment -25'] });
  });

  it('told before the payment waits for it, and both are in the ledger', async () => {
    const { paid, refunded, told, books } = await scene();
    await told(refunded(2500));
    expect(await books()).toEqual({ balance: '0', entries: [] });
    await told(paid);
    expect(await books()).toEqual({ balance: '0', entries: ['credit 25', 'adjustment -25'] });
  });

  it('told at the same time as the payment comes to the same, 20 times', async () => {
    for (let time = 0; time < 20; time++) {
      const { paid, refunded, books } = await scene();
      const replies = await Promise.all(
        [paid, refunded(2500), paid, refunded(2500)].map((event) => deliver(bench.gateway, event)),
      );
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(await books()).toEqual({ balance: '0', entries: ['credit 25', 'adjustment -25'] });
    }
  });

  it('takes back what was spent already: the balance falls below zero, and the next request gets 402', async () => {
    const { accountId, paid, refunded, told } = await scene();
    const { token } = (await bench.gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'k' })).json;
    await told(paid);
    await bench.gateway.admin('POST', `/accounts/${accountId}/credits`, { amount_usd: '-5.00' });
    await told(refunded(2500));
    expect(await balanceOf(bench.gateway, accountId)).toBe('-5');
    const ask = { model: 'sandbox/lodestone/echo', messages: [{ role: 'user', content: 'Hi' }] };
    expect((await bench.gateway.chat(ask, { key: token })).status).toBe(402);
  });

  it('that fails gives the credit back, once, and the next one counts whole', async () => {
    const { paid, refunded, failed, told, books } = await scene();
    const fault = failed('re_a', 1000, 10);
    await told(paid, refunded(1000), fault, fault, failed('re_a', 1000, 10, 'refund.updated'));
    expect((await books()).balance).toBe('25');
    // Stripe's total no longer has the one that failed.
    await told(refunded(700, 20));
    expect(await books()).toEqual({
      balance: '18',
      entries: ['credit 25', 'adjustment -10', 'adjustment 10', 'adjustment -7'],
    });
  });

  it('that fails before it was told comes to the same', async () => {
    const { paid, refunded, failed, told, books } = await scene();
    await told(failed('re_b', 1000, 10), refunded(700, 20), paid, refunded(1000));
    expect((await books()).balance).toBe('18');
  });

  it('in another currency changes nothing and is logged', async () => {
    const { pi, paid, told, books } = await scene();
    await told(paid, stripeEvent('charge.refunded', refundedCharge(pi, 1000, { currency: 'eur' })));
    expect((await books()).balance).toBe('25');
    expect(bench.errors.at(-1)?.fields.payment).toBe(pi);
  });

  it('of a payment that nobody here has heard of changes no balance', async () => {
    const { refunded, told, books } = await scene();
    await told(refunded(1000));
    expect(await books()).toEqual({ balance: '0', entries: [] });
  });
});

describe('a dispute', () => {
  it('takes the amount off when Stripe withdraws it, once, and gives it back when it is won', async () => {
    const { paid, dispute, told, books } = await scene();
    const withdrawn = dispute('funds_withdrawn');
    await told(paid, withdrawn, withdrawn, dispute('funds_withdrawn'));
    expect(await books()).toEqual({ balance: '0', entries: ['credit 25', 'adjustment -25'] });
    await told(dispute('funds_reinstated'), dispute('funds_reinstated'));
    expect(await books()).toEqual({ balance: '25', entries: ['credit 25', 'adjustment -25', 'adjustment 25'] });
  });

  it('in any order comes to the same', async () => {
    const { paid, dispute, told, books } = await scene();
    await told(dispute('funds_reinstated'), dispute('funds_withdrawn'), paid);
    expect((await books()).balance).toBe('25');
  });
});
