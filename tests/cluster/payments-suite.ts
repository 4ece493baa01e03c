/** Payments in a fleet: a report that one replica takes is in force on the next request at every other. */
import { beforeAll, describe, expect, it } from 'vitest';
import { deliver } from '../api/payments/bench.js';
import type { Replicas } from '../support/replicas.js';
import { scaled } from '../support/scaled.js';
import { completed, refundedCharge, stripeEvent } from '../support/scripted-stripe.js';

let fleet: Replicas;

/** Of a fleet that sells credit, and to which Cuba is sanctioned. */
export function paymentsSuite(shared: () => Replicas): void {
  describe('two replicas, one PostgreSQL, one Redis', () => {
    const atOnce = scaled(24, 100);
    beforeAll(() => {
      fleet = shared();
    });

    it(`${atOnce} deliveries of one payment to both at once: one credit, and both know the balance`, async () => {
      const { accountId, key } = await fleet.a.createAccount({ credit: null });
      const balances = async () =>
        Promise.all(
          fleet.all.map(async (replica) => {
            const { json } = await replica.call('GET', '/v1/credits', undefined, { key });
            return json.data.balance_usd;
          }),
        );
      // Both hold the account before anything is paid.
      expect(await balances()).toEqual(['0', '0']);
      const payment = `pi_fleet_${accountId}`;
      const event = completed(accountId, { payment_intent: payment });
      const deliveries = Array.from({ length: atOnce }, (_, n) => deliver(n % 2 ? fleet.a : fleet.b, event));
      const statuses = (await Promise.all(deliveries)).map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set([200]));
      expect(await balances()).toEqual(['25', '25']);
      await deliver(fleet.b, stripeEvent('charge.refunded', refundedCharge(payment, 1000)));
      expect(await balances()).toEqual(['15', '15']);
      const { json } = await fleet.b.admin('GET', `/accounts/${accountId}/ledger`);
      expect(json.data.map(({ amount_usd }: { amount_usd: string }) => amount_usd)).toEqual(['-10', '25']);
    });

    it('a sanctioned billing country that one learns of: 451 at the other, on the next request', async () => {
      const { accountId, key } = await fleet.a.createAccount();
      const statuses = () =>
        Promise.all(
          fleet.all.map(async (replica) => (await replica.call('GET', '/v1/models', undefined, { key })).status),
        );
      expect(await statuses()).toEqual([200, 200]);
      const event = completed(accountId, { customer_details: { address: { country: 'cu' } } });
      expect((await deliver(fleet.a, event)).status).toBe(200);
      expect(await statuses()).toEqual([451, 451]);
    });
  });
}
