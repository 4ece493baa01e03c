import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { ManualClock } from '../../support/manual-clock.js';
import { newAddress, newMember, newOwner, password, signIn } from '../../support/people.js';

const clock = new ManualClock(Date.now());
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ clock, config: { registration: 'closed' } });
});
afterAll(() => gateway?.stop());

const defaultProject = (accountId: string) => accountId.replace('acct-', 'proj-');

async function managementKey(accountId: string) {
  const made = await gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'manager', kind: 'management' });
  const asKey = { headers: { authorization: `Bearer ${made.json.token}`, 'content-type': 'application/json' } };
  return async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${gateway.url}/v1/${path}`, {
      ...asKey,
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, json: text === '' ? null : JSON.parse(text) };
  };
}

describe('a session of a person in several accounts', () => {
  it('acts in the account that the call names, else in the last one, and 404 for an account of others', async () => {
    const one = await newOwner(gateway);
    clock.advance(1);
    const two = await newOwner(gateway);
    await gateway.admin('POST', `/accounts/${two.accountId}/members`, { email: one.email, role: 'auditor' });
    const session = async (account?: string) =>
      (await one.client.call('GET', 'session', undefined, { headers: { 'x-lodestone-account': account } })).json;
    expect(await session()).toMatchObject({ account: { id: one.accountId }, role: 'owner', person: { id: one.id } });
    expect((await session()).accounts).toEqual([
      { id: one.accountId, email: one.email, name: null, role: 'owner' },
      { id: two.accountId, email: two.email, name: null, role: 'auditor' },
    ]);
    expect(await session(two.accountId)).toMatchObject({ account: { id: two.accountId }, role: 'auditor' });
    expect(await session(), 'remembered').toMatchObject({ account: { id: two.accountId } });
    const other = await newOwner(gateway);
    for (const path of ['keys', 'session', 'v1/aliases']) {
      const refused = await one.client.call('GET', path, undefined, {
        headers: { 'x-lodestone-account': other.accountId },
      });
      expect([refused.status, refused.json.error?.code], path).toEqual([404, 'not_found']);
    }
  });

  it('has no session and cannot sign in while suspended', async () => {
    const { id, client, email } = await newOwner(gateway);
    const suspended = await gateway.admin('PATCH', `/people/${id}`, { status: 'suspended' });
    expect([suspended.status, suspended.json.status]).toEqual([200, 'suspended']);
    expect((await client.call('GET', 'keys')).status).toBe(401);
    const refused = await client.call('POST', 'sign-in', { email, password });
    expect([refused.status, refused.json.error.code]).toEqual([403, 'person_suspended']);
    await gateway.admin('PATCH', `/people/${id}`, { status: 'active' });
    expect((await signIn(gateway, email)).id).toBe(id);
  });
});

describe('/v1/members', () => {
  it('lists members in pages with role, projects and source, for management keys and sessions alike', async () => {
    const { accountId, client, id, email } = await newOwner(gateway);
    clock.advance(1);
    const developer = await newMember(gateway, accountId, 'developer', [defaultProject(accountId)]);
    const call = await managementKey(accountId);
    const listed = await call('GET', 'members');
    expect(listed.json).toEqual({
      object: 'list',
      data: [
        {
          ...{ object: 'member', id, email, name: null, role: 'owner', projects: null, source: 'manual' },
          roles: [{ role: 'owner', source: 'manual' }],
          created_at: expect.stringMatching(/Z$/),
          last_seen_at: expect.stringMatching(/Z$/),
        },
        expect.objectContaining({
          ...{ id: developer.id, role: 'developer', projects: [defaultProject(accountId)], source: 'manual' },
        }),
      ],
    });
    expect(id).toMatch(/^per-/);
    for (const path of ['members', 'v1/members'])
      expect((await client.call('GET', path)).json.data.map((member: { id: string }) => member.id)).toEqual([
        id,
        developer.id,
      ]);
    expect((await call('GET', 'members?limit=1')).json.data).toHaveLength(1);
    expect((await call('GET', `members?limit=1&after=${id}`)).json.data).toMatchObject([{ id: developer.id }]);
    expect((await call('GET', `members/${developer.id}`)).json).toMatchObject({ id: developer.id });
    expect((await call('GET', 'members?limit=201')).json.error).toMatchObject({ param: 'limit' });
    for (const path of ['members?after=nobody', 'members?after=inv-1', 'invitations?after=per-1'])
      expect((await call('GET', path)).json.error, path).toMatchObject({ param: 'after' });
    expect((await call('GET', `members?after=${id.replace(/.$/, 'z')}`)).status, 'somebody who has left').toBe(200);
    const inference = await gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'plain' });
    const plain = await fetch(`${gateway.url}/v1/members`, {
      headers: { authorization: `Bearer ${inference.json.token}` },
    });
    expect([plain.status, ((await plain.json()) as { error: { code: string } }).error.code]).toEqual([
      403,
      'management_key_required',
    ]);
  });

  it('422 with the field for what is not valid, 400 in the admin API', async () => {
    const { accountId, client } = await newOwner(gateway);
    const { id } = await newMember(gateway, accountId, 'developer');
    for (const [body, param] of [
      [{ role: 'king' }, 'role'],
      [{ projects: ['proj-unknown'] }, 'projects'],
      [{ role: 'auditor', projects: [defaultProject(accountId)] }, 'projects'],
      [{ colour: 'red' }, 'colour'],
    ] as const) {
      const refused = await client.call('PATCH', `members/${id}`, body);
      expect([refused.status, refused.json.error.param], param).toEqual([422, param]);
      const asOperator = await gateway.admin('PATCH', `/accounts/${accountId}/members/${id}`, body);
      expect([asOperator.status, asOperator.json.error.param], param).toEqual([400, param]);
    }
    await client.call('PATCH', `members/${id}`, { role: 'billing' });
    const body = { projects: [defaultProject(accountId)] };
    const refused = await client.call('PATCH', `members/${id}`, body);
    expect([refused.status, refused.json.error.param], 'the role stays another').toEqual([422, 'projects']);
    const asOperator = await gateway.admin('PATCH', `/accounts/${accountId}/members/${id}`, body);
    expect([asOperator.status, asOperator.json.error.param]).toEqual([400, 'projects']);
    const noEmail = await gateway.admin('POST', `/accounts/${accountId}/members`, { email: 'nobody', role: 'admin' });
    expect([noEmail.status, noEmail.json.error.param]).toEqual([400, 'email']);
  });

  it('409 last_owner where nobody would own the account, also for two owners who remove each other at once', async () => {
    const { accountId, client, id } = await newOwner(gateway);
    for (const [method, body] of [
      ['PATCH', { role: 'admin' }],
      ['DELETE', undefined],
    ] as const) {
      const refused = await client.call(method, `members/${id}`, body);
      expect([refused.status, refused.json.error.code], method).toEqual([409, 'last_owner']);
      const asOperator = await gateway.admin(method, `/accounts/${accountId}/members/${id}`, body);
      expect([asOperator.status, asOperator.json.error.code], method).toEqual([409, 'last_owner']);
    }
    const second = await newMember(gateway, accountId, 'owner');
    const both = await Promise.all([
      client.call('DELETE', `members/${second.id}`),
      gateway.admin('DELETE', `/accounts/${accountId}/members/${id}`),
    ]);
    // Who was removed first has no session any more for the other removal.
    expect([
      [200, 409],
      [200, 401],
      [200, 404],
    ]).toContainEqual(both.map(({ status }) => status).sort());
  });

  it('changes what is sent; an admin changes members below admin only, and 403 names the owner', async () => {
    const { accountId, client } = await newOwner(gateway);
    const admin = await newMember(gateway, accountId, 'admin');
    const other = await newMember(gateway, accountId, 'auditor');
    const changed = await admin.client.call('PATCH', `members/${other.id}`, { role: 'developer', projects: [] });
    expect(changed.json).toMatchObject({ role: 'developer', projects: [] });
    expect((await admin.client.call('PATCH', `members/${other.id}`, { projects: null })).json).toMatchObject({
      ...{ role: 'developer', projects: null },
    });
    for (const call of [
      admin.client.call('PATCH', `members/${other.id}`, { role: 'admin' }),
      admin.client.call('DELETE', `members/${admin.id}`),
      admin.client.call('POST', 'invitations', { email: newAddress('x'), role: 'owner' }),
      (await managementKey(accountId))('DELETE', `members/${admin.id}`),
    ]) {
      const refused = await call;
      expect([refused.status, refused.json.error.type, refused.json.error.code]).toEqual([
        ...[403, 'permission_error', 'role_required'],
      ]);
      expect(refused.json.error.message).toContain('owner');
    }
    expect((await client.call('PATCH', `members/${other.id}`, { role: 'admin' })).json).toMatchObject({
      ...{ role: 'admin', projects: null },
    });
  });

  it('removing ends the sessions there at once and disables the keys that they hold; enabling takes the holder away', async () => {
    const { accountId, client } = await newOwner(gateway);
    const own = await newOwner(gateway);
    const leaving = await newMember(gateway, accountId, 'developer');
    await gateway.admin('POST', `/accounts/${accountId}/members`, { email: own.email, role: 'developer' });
    const inAccount = { headers: { 'x-lodestone-account': accountId } };
    const held = (await leaving.client.call('POST', 'keys', { name: 'mine' })).json;
    const stays = (await client.call('POST', 'keys', { name: 'of the project' })).json;
    const status = async (token: string) =>
      (await fetch(`${gateway.url}/v1/key`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect([await status(held.token), await status(stays.token)]).toEqual([200, 200]);
    const removed = await client.call('DELETE', `members/${leaving.id}`);
    expect([removed.status, removed.json]).toEqual([200, { removed: leaving.id, disabled_keys: [held.id] }]);
    expect([await status(held.token), await status(stays.token)]).toEqual([401, 200]);
    expect((await leaving.client.call('GET', 'keys')).status).toBe(401);
    const again = await leaving.client.call('POST', 'sign-in', { email: leaving.email, password });
    expect([again.status, again.json.error.code]).toEqual([403, 'no_membership']);
    expect((await own.client.call('GET', 'keys', undefined, inAccount)).status).toBe(200);
    await client.call('DELETE', `members/${own.id}`);
    expect((await own.client.call('GET', 'keys', undefined, inAccount)).status).toBe(404);
    expect((await own.client.call('GET', 'keys')).status, 'in their own account').toBe(200);
    await client.call('PATCH', `keys/${held.id}`, { disabled: false });
    expect(await status(held.token)).toBe(200);
    await gateway.admin('POST', `/accounts/${accountId}/members`, { email: leaving.email, role: 'developer' });
    const back = await signIn(gateway, leaving.email);
    expect((await back.client.call('GET', 'keys')).json.data, 'the key is the project’s now').toEqual([]);
    expect((await client.call('DELETE', 'members/per-unknown')).status).toBe(404);
  });
});

describe('/admin/v1/people', () => {
  it('finds people by email, changes them, and makes links for them', async () => {
    const { id, email, accountId } = await newOwner(gateway);
    const found = await gateway.admin('GET', `/people?email=${encodeURIComponent(email)}`);
    expect(found.json.data).toMatchObject([
      { object: 'person', id, email, status: 'active', operator: false, accounts: [{ id: accountId, role: 'owner' }] },
    ]);
    expect((await gateway.admin('GET', `/people/${id}`)).json).toEqual(found.json.data[0]);
    expect((await gateway.admin('GET', '/people?limit=1')).json.data).toHaveLength(1);
    expect((await gateway.admin('PATCH', `/people/${id}`, { operator: true })).json.operator).toBe(true);
    const refused = await gateway.admin('PATCH', `/people/${id}`, { status: 'gone' });
    expect([refused.status, refused.json.error.param]).toEqual([400, 'status']);
    expect((await gateway.admin('POST', `/people/${id}/link`, { provider: 'corp' })).json.link_provider).toBe('corp');
    expect((await gateway.admin('DELETE', `/people/${id}/two-factor`)).json.two_factor).toBe(false);
    expect((await gateway.admin('POST', `/people/${id}/password-reset`)).status).toBe(201);
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/password-reset'],
      ['DELETE', '/two-factor'],
    ] as const)
      expect((await gateway.admin(method, `/people/per-unknown${path}`)).status).toBe(404);
  });

  it('a new account with the email of a person without one makes them its owner', async () => {
    const { accountId } = await newOwner(gateway);
    const member = await newMember(gateway, accountId, 'auditor');
    const made = await gateway.admin('POST', '/accounts', { email: member.email });
    expect(made.status).toBe(201);
    const session = (
      await member.client.call('GET', 'session', undefined, {
        headers: { 'x-lodestone-account': made.json.id },
      })
    ).json;
    expect(session).toMatchObject({ person: { id: member.id }, account: { id: made.json.id }, role: 'owner' });
    const { data } = (await gateway.admin('GET', '/audit?limit=10')).json;
    const own = data.filter(({ account }: { account: string }) => account === made.json.id);
    expect(own).toMatchObject([
      { action: 'member.add', actor: 'operator', by: 'admin_token', subject: member.id, details: { role: 'owner' } },
      { action: 'account.create' },
    ]);
  });

  it('names the acting person in the audit log', async () => {
    const { accountId, client, id } = await newOwner(gateway);
    const member = await newMember(gateway, accountId, 'auditor');
    await client.call('PATCH', `members/${member.id}`, { role: 'billing' });
    await client.call('DELETE', `members/${member.id}`);
    const { data } = (await gateway.admin('GET', '/audit?limit=1000')).json;
    const actors = (action: string) =>
      data.filter(
        (entry: { subject: string; action: string }) => entry.subject === member.id && entry.action === action,
      );
    const details = { account_id: accountId, email: member.email };
    expect(actors('member.remove')).toMatchObject([{ actor: `person:${id}`, details }]);
    expect(actors('member.update')).toMatchObject([
      { actor: `person:${id}`, details: { ...details, role: 'billing' } },
    ]);
    expect(actors('member.add')).toMatchObject([{ actor: 'operator', details }]);
  });
});
