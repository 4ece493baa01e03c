import { expect, it } from 'vitest';
import { DashboardClient } from '../../support/dashboard-client.js';
import { useGateway } from '../harness.js';

const bench = useGateway({ config: { registration: 'open', welcome_credit_usd: '1.00' } });

it('64 sign-ups from one address make at most 20 accounts; the rest get 429 with Retry-After', async () => {
  const replies = await Promise.all(
    Array.from({ length: 64 }, (_, index) =>
      new DashboardClient(bench.gateway.url).call('POST', 'sign-up', {
        email: `many-${index}@example.test`,
        password: 'correct horse 77',
      }),
    ),
  );
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(20);
  const refused = replies.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(44);
  for (const { headers, json } of refused) {
    expect(json.error.code).toBe('too_many_attempts');
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  }
  const { data } = (await bench.gateway.admin('GET', '/accounts')).json;
  expect(data).toHaveLength(20);
}, 180_000);

it('the audit log records each sign-up with the address it came from', async () => {
  const { data } = (await bench.gateway.admin('GET', '/audit?limit=1000')).json;
  const signUps = data.filter(({ action }: { action: string }) => action === 'account.sign_up');
  expect(signUps).toHaveLength(20);
  expect(signUps[0]).toMatchObject({ actor: `account:${signUps[0].subject}`, details: { address: '127.0.0.1' } });
  const own = data.filter(({ account }: { account: string }) => account === signUps[0].subject);
  const made = own.map(({ action, actor, address }: Record<string, string>) => `${actor} ${action} ${address}`);
  expect(made.sort()).toEqual([
    `account:${signUps[0].subject} account.sign_up 127.0.0.1`,
    'system account.create 127.0.0.1',
    'system credits.post 127.0.0.1',
  ]);
});
