/** With `sign_in.password: false` only single sign-on and the admin token open the dashboard. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { DashboardClient } from '../../support/dashboard-client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { adminToken } from '../../support/gateway-files.js';
import { ManualClock } from '../../support/manual-clock.js';
import { newAddress, newOwner, password } from '../../support/people.js';
import { type FreshDatabase, freshDatabase } from '../../support/postgres.js';
import { ScriptedProvider } from '../../support/scripted-provider.js';
import { arrive } from './visit.js';

let database: FreshDatabase;
let gateway: TestGateway;
let provider: ScriptedProvider;
const clock = new ManualClock(Date.now());
let owner: Awaited<ReturnType<typeof newOwner>>;

beforeAll(async () => {
  provider = await new ScriptedProvider().start();
  provider.now = () => clock.now();
  database = await freshDatabase();
  const storage = { database_url: database.databaseUrl };
  const before = await startGateway({ clock, embedded: true, config: { storage } });
  owner = await newOwner(before);
  await before.stop();
  const signIn = { password: false, oidc: [provider.settings()] };
  gateway = await startGateway({ clock, embedded: true, config: { storage, registration: 'open', sign_in: signIn } });
}, 120_000);
afterAll(async () => {
  await gateway?.stop();
  await provider?.stop();
  await database?.drop();
});

const expectRefused = (answer: { status: number; json: Json }) =>
  expect([answer.status, (answer.json.error as Json | undefined)?.code]).toEqual([403, 'single_sign_on_required']);

it('403 for sign-up, sign-in, resets and new passwords, and for sessions that a password opened', async () => {
  const client = new DashboardClient(gateway.url);
  const { email } = owner;
  expectRefused(await client.call('POST', 'sign-up', { email: newAddress('new'), password }));
  expectRefused(await client.call('POST', 'sign-in', { email, password }));
  expectRefused(await client.call('POST', 'claim', { token: 'x' }));
  expectRefused(await client.call('POST', 'forgot-password', { email }));
  expectRefused(await client.call('POST', 'reset-password', { token: 'x', password }));
  expectRefused(await gateway.admin('POST', `/people/${owner.id}/password-reset`));
  expectRefused(await gateway.admin('POST', `/accounts/${owner.accountId}/password-reset`));
  expectRefused(await gateway.admin('PUT', `/accounts/${owner.accountId}/password`, { password }));
  expectRefused(await gateway.admin('POST', '/accounts', { email: newAddress('new'), password }));
  expect((await gateway.admin('POST', '/accounts', { email: newAddress('new') })).status).toBe(201);
  for (const [name, value] of owner.client.cookies) client.cookies.set(name, value);
  const { json } = await client.call('GET', 'session');
  expect(json).toMatchObject({ signed_in: false, registration: 'closed' });
  expect(json.sign_in).toEqual({ password: false, providers: [{ id: 'corp', name: 'Example Corp' }] });
});

it('lets people in who are added and invited, without a password', async () => {
  const members = `/accounts/${owner.accountId}/members`;
  await gateway.admin('POST', members, { email: 'ann@example.com', role: 'admin' });
  const ann = await arrive(gateway, provider, { sub: 'ann', email: 'ann@example.com' });
  expect(ann.session.role).toBe('admin');
  expectRefused(await ann.client.call('POST', 'change-password', { new_password: password }));
  expectRefused(await ann.client.call('POST', 'two-factor', { password }));
  const invited = await ann.client.call('POST', 'invitations', { email: 'bob@example.com', role: 'auditor' });
  const guest = new DashboardClient(gateway.url);
  expectRefused(await guest.call('POST', 'invitations/accept', { token: invited.json.token, password }));
  const bob = await arrive(gateway, provider, { sub: 'bob', email: 'bob@example.com' });
  expect(bob.session.role).toBe('auditor');
});

it('the admin token opens an operator’s session without an account for twelve hours', async () => {
  const client = new DashboardClient(gateway.url);
  const wrong = await client.call('POST', 'sign-in/admin-token', { token: 'a wrong token' });
  expect([wrong.status, wrong.json.error.code]).toEqual([401, 'admin_token_wrong']);
  const opened = await client.call('POST', 'sign-in/admin-token', { token: adminToken });
  expect(opened.json).toMatchObject({ signed_in: true, account: null, operator: true, opened_by: 'admin_token' });
  expect((await client.call('GET', 'operator/accounts')).status).toBe(200);
  expect((await client.call('GET', 'keys')).json.error.code).toBe('no_membership');
  expect((await client.call('POST', 'identities', { provider: 'corp' })).json.error.code).toBe('no_membership');
  const people = await gateway.admin('GET', '/people?limit=200');
  expect(people.json.data.map(({ email }: Json) => email)).not.toContain('admin-token');
  const { json } = await gateway.admin('GET', '/audit?limit=100');
  const entry = json.data.find(({ action, subject }: Json) => action === 'session.open' && subject === 'admin_token');
  expect(entry).toMatchObject({ actor: 'operator', by: 'admin_token' });
  clock.advance(12 * 3_600_000);
  expect((await client.call('GET', 'session')).json.signed_in).toBe(false);
});
