/** People who sign in at an identity provider: who they are, and what their groups give them. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { DashboardClient } from '../../support/dashboard-client.js';
import { newMember, password } from '../../support/people.js';
import { accountCount, type Rig, somebody, useProvider } from './rig.js';
import { arrive, begin, faultIn, visit } from './visit.js';

let provider: Rig['provider'];
let gateway: Rig['gateway'];
let clock: Rig['clock'];
let boss: Rig['boss'];
let search: string;
let warnings: string[];
useProvider((rig) => {
  ({ provider, gateway, clock, boss, search, warnings } = rig);
});

const memberOf = async (email: unknown): Promise<Json | undefined> => {
  const { json } = await gateway.admin('GET', `/accounts/${boss.accountId}/members?limit=200`);
  return json.data.find((member: Json) => member.email === email);
};

describe('a first sign-in', () => {
  it('makes the person a member by their group, in the projects that there are', async () => {
    const claims = somebody(['eng', 'unknown'], { name: 'Ann Example' });
    const { session, client } = await arrive(gateway, provider, claims);
    expect(session).toMatchObject({
      signed_in: true,
      role: 'developer',
      projects: [search],
      opened_by: 'provider',
      has_password: false,
    });
    expect(session.person).toMatchObject({ email: claims.email, name: 'Ann Example' });
    expect(await memberOf(claims.email)).toMatchObject({ role: 'developer', source: 'oidc:corp', projects: [search] });
    expect((await client.call('GET', 'keys')).status).toBe(200);
  });

  it('sends PKCE, state, nonce, scopes and acr_values, and keeps them in a sealed cookie for this alone', async () => {
    const client = new DashboardClient(gateway.url);
    const query = new URL(await begin(client)).searchParams;
    expect(Object.fromEntries(query)).toMatchObject({
      ...{
        client_id: 'lodestone',
        response_type: 'code',
        scope: 'openid email profile groups',
        acr_values: 'urn:strong',
      },
      ...{ code_challenge_method: 'S256', redirect_uri: `${gateway.url}/dashboard/api/oidc/corp/callback` },
    });
    expect(client.setCookies).toHaveLength(1);
    expect(client.setCookies[0]).toMatch(/^lodestone_oidc=[\w.-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(client.setCookies[0]).not.toContain(query.get('state'));
    await client.call(
      'GET',
      `oidc/corp/callback?${provider.back(String(new URL(await begin(client))), { claims: somebody(['eng']) })}`,
    );
    expect(client.setCookies.find((line) => line.startsWith('lodestone_session='))).toContain('SameSite=Strict');
    expect(client.cookies.has('lodestone_oidc')).toBe(false);
  });

  it('is refused after ten minutes', async () => {
    const client = new DashboardClient(gateway.url);
    const query = provider.back(await begin(client), { claims: somebody(['eng']) });
    clock.setWall(clock.now() + 11 * 60_000);
    expect(faultIn(await client.call('GET', `oidc/corp/callback?${query}`))).toBe('state_missing');
    clock.setWall(clock.now() - 11 * 60_000);
  });

  it('reads what the token lacks from userinfo, and asks for it only then', async () => {
    const { groups, email, ...claims } = somebody(['leads']);
    const client = new DashboardClient(gateway.url);
    const said = {
      claims: { ...claims, email_verified: undefined },
      userinfo: { groups, email, email_verified: true },
    };
    expect(faultIn(await visit(client, provider, said))).toBeNull();
    expect((await client.call('GET', 'session')).json.role).toBe('admin');
    provider.calls = [];
    await arrive(gateway, provider, somebody(['leads']));
    expect(provider.calls).not.toContain('/userinfo');
  });

  it('gives nothing for a group whose account or projects are unknown, and the start warns about them', async () => {
    for (const group of ['lost', 'elsewhere'])
      expect((await arrive(gateway, provider, somebody([group]))).fault).toBe('no_access');
    expect(warnings.filter((text) => text.includes('a grant of single sign-on'))).toHaveLength(6);
  });

  it('trusts a missing email_verified where it is told to, and never an explicit false', async () => {
    const claims = somebody(['eng'], { email: 'x@trusted.example.com', email_verified: undefined });
    expect((await arrive(gateway, provider, claims, 'trusting')).fault).toBeNull();
    const denied = { ...claims, sub: 'y', email_verified: false };
    expect((await arrive(gateway, provider, denied, 'trusting')).fault).toBe('email_not_verified');
  });
});

describe('groups', () => {
  it('give the highest role of several, and the projects of both', async () => {
    const both = somebody(['eng', 'chat']);
    expect((await arrive(gateway, provider, both)).session.projects).toHaveLength(2);
    expect((await arrive(gateway, provider, { ...both, groups: ['eng', 'leads'] })).session).toMatchObject({
      role: 'admin',
      projects: null,
    });
  });

  it('that are gone take their role with them, end every session and disable the keys of who has no other', async () => {
    const claims = somebody(['eng']);
    const { client } = await arrive(gateway, provider, claims);
    const key = await client.call('POST', 'keys', { name: 'mine', project: search });
    expect(key.status, key.text).toBe(201);
    expect((await arrive(gateway, provider, { ...claims, groups: [] })).fault).toBe('no_access');
    expect((await client.call('GET', 'session')).json.signed_in).toBe(false);
    expect(await memberOf(claims.email)).toBeUndefined();
    expect((await gateway.call('GET', '/v1/key', undefined, { key: key.json.token })).status).toBe(401);
    // The group is back.
    expect((await arrive(gateway, provider, claims)).session.role).toBe('developer');
  });

  it('stand beside a role by hand, and the higher one counts', async () => {
    const claims = somebody(['eng']);
    await gateway.admin('POST', `/accounts/${boss.accountId}/members`, { email: claims.email, role: 'auditor' });
    expect((await arrive(gateway, provider, claims)).session.role).toBe('developer');
    expect((await memberOf(claims.email))!.roles).toEqual([
      { role: 'auditor', source: 'manual' },
      { role: 'developer', source: 'oidc:corp' },
    ]);
    expect((await arrive(gateway, provider, { ...claims, groups: [] })).session.role).toBe('auditor');
  });

  it('give operator rights without an account, where a second factor was shown', async () => {
    const claims = somebody(['platform']);
    const weak = await arrive(gateway, provider, claims);
    expect(weak.session).toMatchObject({ account: null, operator: false, operator_by: 'group' });
    expect((await weak.client.call('GET', 'operator/accounts')).json.error.code).toBe('two_factor_enrolment_required');
    for (const more of [{ amr: ['pwd', 'mfa'] }, { acr: 'urn:strong' }]) {
      const strong = await arrive(gateway, provider, { ...claims, ...more });
      expect(strong.session.operator).toBe(true);
      expect((await strong.client.call('GET', 'operator/accounts')).status).toBe(200);
      expect((await strong.client.call('GET', 'keys')).json.error.code).toBe('no_membership');
    }
    expect((await arrive(gateway, provider, { ...claims, acr: 'urn:other' })).session.operator).toBe(false);
  });

  it('that are gone take operator rights from the sessions that are open', async () => {
    const claims = somebody(['platform', 'eng'], { amr: 'mfa' });
    const { client } = await arrive(gateway, provider, claims);
    expect((await client.call('GET', 'operator/accounts')).status).toBe(200);
    await arrive(gateway, provider, { ...claims, groups: ['eng'] });
    expect((await client.call('GET', 'operator/accounts')).json.error.code).toBe('operator_required');
    expect((await client.call('GET', 'session')).json).toMatchObject({ signed_in: true, operator: false });
  });

  it('leave the last owner, with a warning in the audit log', async () => {
    const claims = somebody(['owners']);
    const { session } = await arrive(gateway, provider, claims);
    const again = await arrive(gateway, provider, { ...claims, groups: [] });
    expect(again.session).toMatchObject({ role: 'owner', account: { id: session.account.id } });
    const { json } = await gateway.admin('GET', '/audit?limit=200');
    const entry = json.data.find(({ action }: Json) => action === 'member.last_owner_kept');
    expect(entry.details).toMatchObject({ account_id: session.account.id, source: 'oidc:corp', email: claims.email });
    expect(entry.details.warning).toContain('last owner');
    const about = (each: Json) => each.subject === entry.subject && each.action !== 'session.open';
    const by = `person:${entry.subject}`;
    const entryOf = (action: string, actor: string) => ({ action, actor, by, address: '127.0.0.1' });
    expect(json.data.filter(about)).toMatchObject([
      entryOf('member.last_owner_kept', 'system'),
      entryOf('member.add', 'system'),
      entryOf('identity.link', by),
    ]);
  });

  it('may make somebody a member of forty accounts, who chooses one', async () => {
    const { client, session } = await arrive(gateway, provider, somebody(['everywhere']));
    expect(session.accounts).toHaveLength(accountCount);
    for (const { id } of session.accounts.slice(0, 3)) {
      const answer = await client.call('GET', 'account', undefined, { headers: { 'x-lodestone-account': id } });
      expect(answer.json.id).toBe(id);
    }
    expect((await client.call('GET', 'session')).json.account.id).toBe(session.accounts[2].id);
  });
});

describe('a person who is known', () => {
  it('is found by issuer and subject, also with another email', async () => {
    const claims = somebody(['eng']);
    const first = await arrive(gateway, provider, claims);
    const again = await arrive(gateway, provider, { ...claims, email: `new-${claims.email}` });
    expect(again.session.person).toEqual(first.session.person);
  });

  it('with a password is not linked by email alone, and is after they have asked on their profile', async () => {
    const claims = somebody(['leads']);
    await gateway.admin('POST', '/accounts', { email: claims.email, password });
    expect((await arrive(gateway, provider, claims)).fault).toBe('identity_conflict');
    const client = new DashboardClient(gateway.url);
    await client.call('POST', 'sign-in', { email: claims.email, password });
    expect((await client.call('GET', 'identities')).json.data[0]).toMatchObject({ provider: 'corp', linked: false });
    const asked = await client.call('POST', 'identities', { provider: 'corp' });
    expect(asked.status, asked.text).toBe(200);
    const back = await client.call('GET', `oidc/corp/callback?${provider.back(asked.json.url, { claims })}`);
    expect(faultIn(back)).toBeNull();
    expect((await client.call('GET', 'identities')).json.data[0]).toMatchObject({ linked: true, email: claims.email });
    expect((await arrive(gateway, provider, claims)).session.person.email).toBe(claims.email);
  });

  it('is not linked to an identity or an email of somebody else', async () => {
    const [ann, bob] = [somebody(['eng']), somebody(['eng'])];
    await arrive(gateway, provider, ann);
    await gateway.admin('POST', '/accounts', { email: bob.email, password });
    const client = new DashboardClient(gateway.url);
    await client.call('POST', 'sign-in', { email: bob.email, password });
    for (const claims of [ann, { ...ann, sub: 'unknown' }]) {
      const { json } = await client.call('POST', 'identities', { provider: 'corp' });
      const back = await client.call('GET', `oidc/corp/callback?${provider.back(json.url, { claims })}`);
      expect(faultIn(back)).toBe('identity_conflict');
    }
    const unknown = await client.call('POST', 'identities', { provider: 'nobody' });
    expect([unknown.status, unknown.json.error.param]).toEqual([422, 'provider']);
  });

  it('with another subject is refused, until an operator asks for the link', async () => {
    const claims = somebody(['eng']);
    const { session, client } = await arrive(gateway, provider, claims);
    const moved = { ...claims, sub: `${claims.sub}-again` };
    expect((await arrive(gateway, provider, moved)).fault).toBe('identity_conflict');
    const asked = await gateway.admin('POST', `/people/${session.person.id}/link`, { provider: 'corp' });
    expect(asked.json).toMatchObject({ link_provider: 'corp', identities: [{ subject: claims.sub }] });
    expect((await arrive(gateway, provider, moved)).session.person).toEqual(session.person);
    const after = await gateway.admin('GET', `/people/${session.person.id}`);
    expect(after.json).toMatchObject({ link_provider: null, identities: [{ subject: moved.sub, provider: 'corp' }] });
    // The earlier subject is somebody unknown now, with an email that is taken.
    expect((await arrive(gateway, provider, claims)).fault).toBe('identity_conflict');
    expect((await client.call('GET', 'session')).json.signed_in).toBe(true);
    const wrong = await gateway.admin('POST', `/people/${session.person.id}/link`, { provider: 'nobody' });
    expect([wrong.status, wrong.json.error.param]).toEqual([400, 'provider']);
  });

  it('is let in by an invitation to their email', async () => {
    const claims = somebody();
    expect((await arrive(gateway, provider, claims)).fault).toBe('no_access');
    const owner = new DashboardClient(gateway.url);
    await owner.call('POST', 'sign-in', { email: boss.email, password });
    await owner.call('POST', 'invitations', { email: claims.email, role: 'billing' });
    expect((await arrive(gateway, provider, claims)).session.role).toBe('billing');
  });

  it('is refused while suspended', async () => {
    const claims = somebody(['eng']);
    const { session, client } = await arrive(gateway, provider, claims);
    await gateway.admin('PATCH', `/people/${session.person.id}`, { status: 'suspended' });
    expect((await client.call('GET', 'session')).json.signed_in).toBe(false);
    expect((await arrive(gateway, provider, claims)).fault).toBe('person_suspended');
  });
});

it('a member added by hand who has never signed in is linked by the verified email', async () => {
  const claims = somebody();
  await gateway.admin('POST', `/accounts/${boss.accountId}/members`, { email: claims.email, role: 'auditor' });
  expect((await arrive(gateway, provider, claims)).session.role).toBe('auditor');
  const other = await newMember(gateway, boss.accountId, 'auditor');
  const taken = { ...somebody(), email: other.email };
  expect((await arrive(gateway, provider, taken)).fault).toBe('email_domain');
});
