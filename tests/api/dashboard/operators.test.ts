import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DashboardClient } from '../../support/dashboard-client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { adminToken } from '../../support/gateway-files.js';
import { ManualClock } from '../../support/manual-clock.js';

const hour = 3_600_000;
const password = 'correct horse 77';
const clock = new ManualClock(Date.now());
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ clock });
});
afterAll(() => gateway?.stop());

let count = 0;
async function signedIn(): Promise<{ id: string; client: DashboardClient; email: string }> {
  const email = `operator-${++count}@example.test`;
  const { id } = (await gateway.admin('POST', '/accounts', { email, password })).json;
  const client = new DashboardClient(gateway.url);
  expect((await client.call('POST', 'sign-in', { email, password })).status).toBe(200);
  return { id, client, email };
}

const elevate = (client: DashboardClient, token = adminToken) =>
  client.call('POST', 'operator', { admin_token: token });
const readsAccounts = async (client: DashboardClient) => (await client.call('GET', 'operator/accounts')).status;

describe('a suspended operator', () => {
  it('reads nothing of other accounts, by its flag or by the admin token it has shown, until it is active again', async () => {
    const flagged = await signedIn();
    const elevated = await signedIn();
    await gateway.admin('PATCH', `/accounts/${flagged.id}`, { operator: true });
    expect((await elevate(elevated.client)).status).toBe(200);
    for (const { id, client } of [flagged, elevated]) {
      expect(await readsAccounts(client)).toBe(200);
      await gateway.admin('PATCH', `/accounts/${id}`, { status: 'suspended' });
      for (const path of ['operator/accounts', 'operator/audit', 'operator/routes', `operator/accounts/${id}/ledger`])
        expect((await client.call('GET', path)).json.error, path).toMatchObject({ code: 'operator_required' });
      expect((await client.call('GET', 'session')).json).toMatchObject({ operator: false, operator_by: null });
      expect((await elevate(client)).json.error).toMatchObject({ code: 'account_suspended' });
      await gateway.admin('PATCH', `/accounts/${id}`, { status: 'active' });
      expect(await readsAccounts(client)).toBe(200);
    }
  });
});

describe('a session that has shown the admin token', () => {
  it('has operator rights for 12 hours; the session itself goes on', async () => {
    const { client } = await signedIn();
    await elevate(client);
    clock.advance(12 * hour - 1);
    expect(await readsAccounts(client)).toBe(200);
    clock.advance(1);
    expect(await readsAccounts(client)).toBe(403);
    expect((await client.call('GET', 'session')).json).toMatchObject({ signed_in: true, operator: false });
    await elevate(client);
    expect(await readsAccounts(client), 'shown again').toBe(200);
  });

  it('ends when the admin token has changed, and no other session does', async () => {
    const [elevated, gaveBack, plain] = [await signedIn(), await signedIn(), await signedIn()];
    await elevate(elevated.client);
    await elevate(gaveBack.client);
    await gaveBack.client.call('DELETE', 'operator');
    const storage = { database_url: gateway.files.databaseUrl };
    const newToken = 'another-admin-token-of-no-value';
    const restarted = await startGateway({ embedded: true, clock, config: { storage, admin_token: newToken } });
    try {
      const there = ({ cookies }: DashboardClient) => {
        const client = new DashboardClient(restarted.url);
        for (const [name, value] of cookies) client.cookies.set(name, value);
        return client;
      };
      const client = there(elevated.client);
      expect((await client.call('GET', 'operator/accounts')).json.error).toMatchObject({ code: 'session_required' });
      expect((await there(gaveBack.client).call('GET', 'session')).json.signed_in).toBe(true);
      const other = there(plain.client);
      expect((await other.call('GET', 'session')).json.signed_in).toBe(true);
      expect((await elevate(other, newToken)).status).toBe(200);
      expect(await readsAccounts(other)).toBe(200);
      expect(await readsAccounts(elevated.client), 'gone also where the old token is still in use').toBe(401);
    } finally {
      await restarted.stop();
    }
  });
});

describe('a session', () => {
  it('ends 30 days after the sign-in, however often it is used', async () => {
    const { client } = await signedIn();
    clock.setWall(Date.now() + 29 * 24 * hour);
    expect((await client.call('GET', 'session')).json.signed_in).toBe(true);
    clock.setWall(Date.now() + 30 * 24 * hour);
    expect((await client.call('GET', 'session')).json.signed_in).toBe(false);
    expect((await client.call('GET', 'keys')).status).toBe(401);
    clock.setWall(Date.now());
    expect((await client.call('GET', 'keys')).status, 'for good').toBe(401);
  });
});

it('failed attempts with the admin token count with those at the admin API, and are audited', async () => {
  const { client } = await signedIn();
  for (let i = 0; i < 5; i++)
    expect((await elevate(client, 'a-wrong-admin-token-of-no-value')).json.error.code).toBe('admin_token_wrong');
  const replies = await Promise.all(
    Array.from({ length: 20 }, () =>
      gateway.call('GET', '/admin/v1/routes', undefined, { key: 'a-wrong-admin-token-of-no-value' }),
    ),
  );
  expect(replies.filter(({ status }) => status === 401)).toHaveLength(15);
  clock.advance(60_000);
  // No answer waits for its entry.
  const refused = async () => {
    const { data } = (await gateway.admin('GET', '/audit?limit=100')).json;
    return data.filter(({ action }: { action: string }) => action === 'admin.refused');
  };
  await expect.poll(refused, { timeout: 20_000 }).toHaveLength(20);
});
