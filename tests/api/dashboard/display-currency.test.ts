import { describe, expect, it } from 'vitest';
import { DashboardClient } from '../../support/dashboard-client.js';
import { useGateway } from '../harness.js';

const euro = { code: 'EUR', rate: 1.17, source: 'European Central Bank', as_of: '2026-11-18' };
const bench = useGateway({
  config: { registration: 'open', welcome_credit_usd: '10.00', billing: { display_currency: euro } },
});

describe('billing.display_currency', () => {
  it('is beside USD in the credits and the ledger, with rate, source and date; the ledger stays in USD', async () => {
    const client = new DashboardClient(bench.gateway.url);
    await client.call('POST', 'sign-up', { email: 'euro@example.test', password: 'correct horse 77' });
    expect((await client.call('GET', 'credits')).json).toMatchObject({
      ...{ balance_usd: '10', currency: 'USD' },
      display: { ...euro, rate: '1.17', balance: '8.55', credited: '8.55', total_usage: '0.00' },
    });
    const { account } = (await client.call('GET', 'session')).json;
    expect((await client.call('GET', 'ledger')).json.data).toEqual([
      expect.objectContaining({ kind: 'credit', amount_usd: '10', amount_display: '8.55' }),
    ]);
    const { data } = (await bench.gateway.admin('GET', `/accounts/${account.id}/ledger`)).json;
    expect(data[0]).not.toHaveProperty('amount_display');
  });
});
