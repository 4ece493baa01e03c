import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DashboardClient } from '../../support/dashboard-client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { ManualClock } from '../../support/manual-clock.js';
import { newAddress, newOwner, password } from '../../support/people.js';

const day = 86_400_000;
const clock = new ManualClock(Date.now());
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ clock, config: { registration: 'closed' } });
});
afterAll(() => gateway?.stop());

describe('/v1/invitations', () => {
  const accept = (client: DashboardClient, token: string, more: object = { password }) =>
    client.call('POST', 'invitations/accept', { token, ...more });

  it('makes a link that is shown once, works once, and makes the person also where registration is closed', async () => {
    const { accountId, client } = await newOwner(gateway);
    const email = newAddress('invited');
    const made = await client.call('POST', 'invitations', { email, role: 'billing' });
    expect([made.status, made.json]).toMatchObject([
      201,
      { object: 'invitation', email, role: 'billing', projects: null },
    ]);
    const token = new URL(made.json.url).hash.slice(1);
    const { url: _url, token: _token, mailed: _mailed, ...shown } = made.json;
    expect((await client.call('GET', 'invitations')).json).toEqual({ object: 'list', data: [shown] });
    const visitor = new DashboardClient(gateway.url);
    expect((await accept(visitor, token, {})).json.error).toMatchObject({ param: 'password' });
    expect((await accept(visitor, token, { password: 'password1' })).status).toBe(422);
    const joined = await accept(visitor, token);
    expect([joined.status, joined.json]).toMatchObject([201, { account: { id: accountId }, role: 'billing' }]);
    expect((await visitor.call('GET', 'credits')).status).toBe(200);
    const { data } = (await gateway.admin('GET', '/audit?limit=10')).json;
    const entry = data.find(({ action }: { action: string }) => action === 'invitation.accept');
    expect(entry).toMatchObject({ account: accountId, actor: entry.by, address: '127.0.0.1' });
    expect(entry.by).toBe(`person:${entry.subject}`);
    const twice = await accept(new DashboardClient(gateway.url), token);
    expect([twice.status, twice.json.error.code]).toEqual([409, 'invitation_used']);
    expect((await client.call('GET', 'invitations')).json.data).toMatchObject([{ status: 'accepted' }]);
    const again = await client.call('POST', 'invitations', { email, role: 'auditor' });
    expect([again.status, again.json.error.code]).toEqual([409, 'member_exists']);
  });

  it('joins with the session of that email, and not with the session of another', async () => {
    const { accountId, client } = await newOwner(gateway);
    const invited = await newOwner(gateway);
    const forwarded = await newOwner(gateway);
    const made = await client.call('POST', 'invitations', { email: invited.email, role: 'developer', projects: [] });
    const refused = await accept(forwarded.client, made.json.token, {});
    expect([refused.status, refused.json.error.code]).toEqual([403, 'invitation_for_another']);
    const wrong = await accept(new DashboardClient(gateway.url), made.json.token, { password: 'not the right one' });
    expect([wrong.status, wrong.json.error.code], 'a stranger with the link').toEqual([401, 'sign_in_failed']);
    const joined = await accept(invited.client, made.json.token, {});
    expect([joined.status, joined.json]).toMatchObject([200, { account: { id: accountId }, role: 'developer' }]);
    expect(joined.json.accounts).toHaveLength(2);
  });

  it('sets no password of a person who is a member, an operator or known to an identity provider: they sign in', async () => {
    const { client } = await newOwner(gateway);
    const elsewhere = await newOwner(gateway);
    const bare = newAddress('bare');
    const members = `/accounts/${elsewhere.accountId}/members`;
    const { json: member } = await gateway.admin('POST', members, { email: bare, role: 'admin' });
    const { json: link } = await client.call('POST', 'invitations', { email: bare, role: 'developer' });
    const opened = await new DashboardClient(gateway.url).call('POST', 'invitations/open', { token: link.token });
    expect(opened.json).toMatchObject({ has_password: false, sign_in_first: true });
    const stranger = new DashboardClient(gateway.url);
    const refused = await accept(stranger, link.token);
    expect([refused.status, refused.json.error.code], refused.text).toEqual([401, 'session_required']);
    expect(refused.json.error.message).toContain(bare);
    expect(stranger.cookies.size).toBe(0);
    expect((await gateway.admin('GET', `/people/${member.id}`)).json.has_password).toBe(false);

    await elsewhere.client.call('DELETE', `members/${member.id}`);
    await gateway.admin('PATCH', `/people/${member.id}`, { operator: true });
    expect((await accept(stranger, link.token)).status, 'an operator').toBe(401);
    await gateway.admin('PATCH', `/people/${member.id}`, { operator: false });
    expect((await accept(stranger, link.token)).status, 'nobody who is anything yet').toBe(200);
  });

  it('ends after 7 days, when it is revoked, and when a newer one replaces it', async () => {
    const { client } = await newOwner(gateway);
    const other = await newOwner(gateway);
    const invite = async (email: string) => (await client.call('POST', 'invitations', { email, role: 'admin' })).json;
    const email = newAddress('late');
    const replaced = await invite(email);
    const expired = await invite(email);
    const revoked = await invite(newAddress('revoked'));
    expect((await other.client.call('DELETE', `invitations/${revoked.id}`)).status, 'of another account').toBe(404);
    expect((await client.call('DELETE', `invitations/${revoked.id}`)).status).toBe(204);
    clock.advance(7 * day - 1000);
    expect((await accept(new DashboardClient(gateway.url), expired.token, {})).json.error.param).toBe('password');
    clock.advance(1000);
    for (const [token, status, code] of [
      [replaced.token, 404, 'invitation_not_found'],
      [revoked.token, 404, 'invitation_not_found'],
      [expired.token, 410, 'invitation_expired'],
    ]) {
      const refused = await accept(new DashboardClient(gateway.url), token);
      expect([refused.status, refused.json.error.code]).toEqual([status, code]);
    }
  });
});
