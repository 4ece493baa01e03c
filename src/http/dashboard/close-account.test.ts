import { beforeEach, expect, it } from 'vitest';
import { BrowserSession } from '../../../tests/support/browser-session.js';
import { adminToken, type HttpFixture, httpFixture } from '../../../tests/support/http-fixture.js';

const ada = { email: 'ada@example.com', password: 'correct horse 77' };

let fixture: HttpFixture;
let browser: BrowserSession;
let id: string;

beforeEach(async () => {
  fixture = await httpFixture();
  browser = new BrowserSession(fixture.app);
  id = (await browser.call('POST', 'sign-up', ada)).json().account.id;
});

const admin = (method: string, path: string, body?: object) =>
  fixture.app.inject({
    ...{ method: method as 'GET', url: `/admin/v1${path}`, headers: { authorization: `Bearer ${adminToken}` } },
    ...(body && { payload: body }),
  });

it('ends keys and sign-in, erases email and name, and keeps the ledger', async () => {
  await admin('POST', `/accounts/${id}/credits`, { amount_usd: '3.00' });
  const made = await admin('POST', `/accounts/${id}/keys`, { name: 'production' });
  expect((await browser.call('DELETE', 'account', ada)).statusCode).toBe(204);
  const headers = { authorization: `Bearer ${made.json().token}` };
  const refused = await fixture.app.inject({ method: 'GET', url: '/v1/models', headers });
  expect([refused.statusCode, refused.json().error.code]).toEqual([401, 'api_key_not_registered']);
  expect((await browser.call('GET', 'session')).json().signed_in).toBe(false);
  expect((await new BrowserSession(fixture.app).call('POST', 'sign-in', ada)).statusCode).toBe(401);
  const closed = (await admin('GET', `/accounts/${id}`)).json();
  expect(closed).toMatchObject({
    status: 'suspended',
    name: null,
    balance_usd: '3',
    email: `closed-${id}@account.invalid`,
  });
  expect((await admin('GET', `/accounts/${id}/ledger`)).json().data).toMatchObject([
    { kind: 'credit', amount_usd: '3' },
  ]);
  const [entry] = (await fixture.store.audit.list(20)).filter(({ action }) => action === 'account.close');
  expect(entry?.details).toEqual({ keys: 1, members: 1, balance_usd: '3' });
  expect(JSON.stringify(entry)).not.toContain(ada.email);
});

it('the email is free again, for an account that has nothing of the old one', async () => {
  await browser.call('DELETE', 'account', ada);
  const again = new BrowserSession(fixture.app);
  const answer = await again.call('POST', 'sign-up', ada);
  expect([answer.statusCode, answer.json().account?.id === id]).toEqual([201, false]);
});

it('needs the email of the account and the password of its owner', async () => {
  const wrong = await browser.call('DELETE', 'account', { ...ada, password: 'wrong horse 77' });
  expect([wrong.statusCode, wrong.json().error.param]).toEqual([401, 'password']);
  const other = await browser.call('DELETE', 'account', { ...ada, email: 'eve@example.com' });
  expect([other.statusCode, other.json().error.param]).toEqual([400, 'email']);
  expect((await browser.call('GET', 'session')).json().signed_in).toBe(true);
});

it('is for owners alone; a member of two accounts stays in the other', async () => {
  const invited = await browser.call('POST', 'invitations', {
    email: 'grace@example.com',
    role: 'admin',
    projects: null,
  });
  const grace = new BrowserSession(fixture.app);
  await grace.call('POST', 'invitations/accept', { token: invited.json().token, password: ada.password });
  const refused = await grace.call('DELETE', 'account', ada);
  expect([refused.statusCode, refused.json().error.code]).toEqual([403, 'role_required']);
  const second = await admin('POST', '/accounts', { email: 'second@example.com' });
  await admin('POST', `/accounts/${second.json().id}/members`, { email: 'grace@example.com', role: 'auditor' });
  expect((await browser.call('DELETE', 'account', ada)).statusCode).toBe(204);
  expect((await grace.call('GET', 'session')).json()).toMatchObject({
    signed_in: true,
    account: { id: second.json().id },
  });
});
