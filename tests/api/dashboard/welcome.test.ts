import { expect, it } from 'vitest';
import { DashboardClient } from '../../support/dashboard-client.js';
import { ask, useGateway } from '../harness.js';

const bench = useGateway({ config: { registration: 'open', welcome_credit_usd: '0.25' } });

it('an account that signs up has its welcome credit in the ledger, and its first request is admitted', async () => {
  const client = new DashboardClient(bench.gateway.url);
  await client.call('POST', 'sign-up', { email: 'welcome@example.test', password: 'correct horse 77' });
  const { account } = (await client.call('GET', 'session')).json;
  const { data } = (await bench.gateway.admin('GET', `/accounts/${account.id}/ledger`)).json;
  expect(data).toEqual([expect.objectContaining({ kind: 'credit', amount_usd: '0.25', note: 'Welcome' })]);
  const made = (await client.call('POST', 'keys', { name: 'first' })).json;
  expect((await bench.gateway.chat(ask(), { key: made.token })).status).toBe(200);
});
