/** The billing country that the processor has verified: saved with the payment, and 451 on every request where it is sanctioned. */
import { describe, expect, it } from 'vitest';
import { completed } from '../../support/scripted-stripe.js';
import { amountsOf, deliver, usePayments } from './bench.js';

const bench = usePayments({ config: { territories: { sanctioned: ['CU', 'IR'] } } });
const from = (country: unknown) => ({ customer_details: { address: { country } } });
const countryOf = async (id: string) => (await bench.gateway.admin('GET', `/accounts/${id}`)).json.billing_country;

describe('the billing country of a payment', () => {
  it.each(['CU', 'cu', ' Cu '])(
    '%j is sanctioned: 451 on the next request, the payment recorded all the same',
    async (country) => {
      const { accountId, key } = await bench.gateway.createAccount();
      expect((await bench.gateway.call('GET', '/v1/models', undefined, { key })).status).toBe(200);
      const event = completed(accountId, from(country));
      expect((await deliver(bench.gateway, event)).json.outcome).toBe('recorded');
      for (const path of ['/v1/models', '/v1/credits', '/v1/key']) {
        const reply = await bench.gateway.call('GET', path, undefined, { key });
        expect({ path, status: reply.status, code: reply.json.error?.code }).toEqual({
          ...{ path, status: 451, code: 'unavailable_for_legal_reasons' },
        });
      }
      expect(await countryOf(accountId)).toBe('CU');
      expect(await amountsOf(bench.gateway, accountId)).toEqual(['10', '25']);
      const { data } = (await bench.gateway.admin('GET', '/audit')).json;
      expect(data).toContainEqual(
        expect.objectContaining({
          ...{ actor: 'system', action: 'payment.billing_country', subject: accountId },
          details: expect.objectContaining({ billing_country: 'CU', before: null, event: event.id }),
        }),
      );
    },
  );

  it('is saved in upper case, and a later payment from elsewhere replaces it', async () => {
    const { accountId, key } = await bench.gateway.createAccount();
    await deliver(bench.gateway, completed(accountId, from('de')));
    expect(await countryOf(accountId)).toBe('DE');
    await deliver(bench.gateway, completed(accountId, from('FR')));
    expect(await countryOf(accountId)).toBe('FR');
    expect((await bench.gateway.call('GET', '/v1/models', undefined, { key })).status).toBe(200);
  });

  it('that is sanctioned is not paid away by a card from elsewhere: only the operator lifts it', async () => {
    const { accountId, key } = await bench.gateway.createAccount();
    await Promise.all([
      deliver(bench.gateway, completed(accountId, from('IR'))),
      deliver(bench.gateway, completed(accountId, from('DE'))),
    ]);
    await deliver(bench.gateway, completed(accountId, from('DE')));
    expect(await countryOf(accountId)).toBe('IR');
    expect((await bench.gateway.call('GET', '/v1/models', undefined, { key })).status).toBe(451);
    await bench.gateway.admin('PATCH', `/accounts/${accountId}`, { billing_country: 'DE' });
    expect((await bench.gateway.call('GET', '/v1/models', undefined, { key })).status).toBe(200);
  });

  it.each([null, '', 'Cuba', 'X1', undefined])('%j is none: the payment counts, the country stays', async (country) => {
    const { accountId } = await bench.gateway.createAccount({ credit: null });
    await bench.gateway.admin('PATCH', `/accounts/${accountId}`, { billing_country: 'AT' });
    await deliver(bench.gateway, completed(accountId, from(country)));
    expect(await countryOf(accountId)).toBe('AT');
    expect(await amountsOf(bench.gateway, accountId)).toEqual(['25']);
  });
});
