import { afterAll, beforeAll, expect, it } from 'vitest';
import { dashboardCall, type Member, newEmail, password, signUp } from '../../support/dashboard.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';

let gateway: TestGateway;
let owner: Member;

beforeAll(async () => {
  gateway = await startGateway({ config: { registration: 'open' } });
  owner = await signUp(gateway, newEmail('owner'));
});
afterAll(() => gateway?.stop());

const statusOf = async (call: Promise<Response>) =>
  call.then(
    ({ status }) => status,
    (error: Error) => Number(/: (\d{3}) /.exec(error.message)?.[1]),
  );

it('an account that its owner closes serves nobody, keeps its books, and stays closed after a restart', async () => {
  const path = `/accounts/${owner.accountId}`;
  const { token } = (await gateway.admin('POST', `${path}/keys`, { name: 'production' })).json as { token: string };
  const echo = { model: 'sandbox/lodestone/echo', messages: [{ role: 'user', content: 'Hello' }] };
  expect((await gateway.call('POST', '/v1/chat/completions', echo, { key: token })).status).toBe(200);
  const invited = { email: newEmail('grace'), role: 'admin', projects: null };
  const invitation = (await (await dashboardCall(gateway, 'POST', 'invitations', invited, owner)).json()) as {
    token: string;
  };
  await dashboardCall(gateway, 'DELETE', 'account', { email: owner.email, password }, owner);
  const later = async () => {
    expect((await gateway.call('POST', '/v1/chat/completions', echo, { key: token })).status).toBe(401);
    expect(await statusOf(dashboardCall(gateway, 'GET', 'usage/facets', undefined, owner))).toBe(401);
    const accept = { token: invitation.token, password };
    expect(await statusOf(dashboardCall(gateway, 'POST', 'invitations/accept', accept))).toBeGreaterThanOrEqual(400);
    expect((await gateway.admin('GET', path)).json).toMatchObject({
      ...{ status: 'suspended', name: null, email: `closed-${owner.accountId}@account.invalid`, balance_usd: '20' },
    });
    expect((await gateway.ledger(owner.accountId)).map(({ kind }) => kind)).toContain('credit');
    expect((await gateway.admin('GET', `${path}/members`)).json.data).toEqual([]);
  };
  await later();
  await gateway.restart();
  await later();
  expect((await gateway.admin('GET', `/people?email=${owner.email}`)).json.data).toEqual([]);
  const again = await signUp(gateway, owner.email);
  expect(again.accountId).not.toBe(owner.accountId);
});
