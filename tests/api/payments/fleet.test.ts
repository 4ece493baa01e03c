/** Payments in a fleet: a report that one replica takes is in force on the next request at every other. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Replicas, startReplicas } from '../../support/replicas.js';
import { scaled } from '../../support/scaled.js';
import {
  completed,
  refundedCharge,
  type ScriptedStripe,
  startStripe,
  stripeEvent,
} from '../../support/scripted-stripe.js';
import { deliver } from './bench.js';

let stripe: ScriptedStripe;
let fleet: Replicas;

beforeAll(async () => {
  stripe = await startStripe();
  fleet = await startReplicas({ config: { payments: stripe.config, territories: { sanctioned: ['CU'] } } });
}, 180_000);
afterAll(async () => {
  await fleet?.stop();
  await stripe?.stop();
});

describe('two replicas, one PostgreSQL, one Redis', () => {
  const atOnce = scaled(24, 100);
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
    const event = completed(accountId, { payment_intent: 'pi_fleet' });
    const deliveries = Array.from({ length: atOnce }, (_, n) => deliver(n % 2 ? fleet.a : fleet.b, event));
    const statuses = (await Promise.all(deliveries)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await balances()).toEqual(['25', '25']);
    await deliver(fleet.b, stripeEvent('charge.refunded', refundedCharge('pi_fleet', 1000)));
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
