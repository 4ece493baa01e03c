/** `/v1/account`, and projects and settings in the dashboard. */
import { describe, expect, it } from 'vitest';
import { DashboardClient } from '../../support/dashboard-client.js';
import { badRequest, expectError, useGateway } from '../harness.js';
import { managerOf } from './manager.js';

const bench = useGateway({ config: { registration: 'open', limits: { key_requests_per_minute: 1000 } } });
const invalid = (param: string) => ({
  ...{ status: 422, type: 'invalid_request_error', code: 'invalid_request_error', param },
});

describe('/v1/account', () => {
  it('GET, and PATCH of what is sent', async () => {
    const { call, accountId } = await managerOf(bench);
    const before = await call('GET', '/account');
    expect(before.json).toEqual({
      ...{ object: 'account', id: accountId, email: expect.any(String), name: null, created_at: expect.any(String) },
      ...{ settings_by_keys: true, record_end_users: false, budgets_count_own_keys: true, budget: null },
    });
    const change = { name: 'Example', settings_by_keys: true };
    const forOthers = { record_end_users: true, budget: { limit_usd: '100', period: 'daily' } };
    for (const [name, value] of Object.entries(forOthers)) {
      // A management key has the rights of an admin.
      expect((await call('PATCH', '/account', { [name]: value })).json.error.code).toBe('role_required');
    }
    expect((await bench.gateway.admin('PATCH', `/accounts/${accountId}`, forOthers)).status).toBe(200);
    const after = await call('PATCH', '/account', change);
    expect(after.status, after.text).toBe(200);
    const budget = { ...forOthers.budget, alert_at: [0.8, 1] };
    expect(after.json).toEqual({ ...before.json, ...change, ...forOthers, budget });
    expect((await call('GET', '/account')).json).toEqual(after.json);
    const shown = (await bench.gateway.admin('GET', `/accounts/${accountId}`)).json;
    expect(shown).toMatchObject({ name: 'Example', record_end_users: true, settings_by_keys: true });
    expect((await bench.gateway.admin('PATCH', `/accounts/${accountId}`, { budget: null })).json.budget).toBeNull();
    expect((await call('GET', '/account')).json).toMatchObject({ budget: null, name: 'Example' });
  });

  it.each([
    ['name', { name: '' }],
    ['settings_by_keys', { settings_by_keys: 'no' }],
    ['record_end_users', { record_end_users: null }],
    ['budget.limit_usd', { budget: { limit_usd: 'x' } }],
    ['status', { status: 'active' }],
  ])('422 with param %s, and 400 for operators', async (param, fields) => {
    const { call, accountId } = await managerOf(bench);
    expectError(await call('PATCH', '/account', fields), invalid(param));
    if (param !== 'status') {
      expectError(await bench.gateway.admin('PATCH', `/accounts/${accountId}`, fields), badRequest(param));
    }
  });

  it('with settings_by_keys false an ordinary key reads the settings, and 403 management_key_required to change them', async () => {
    const { call, key, accountId } = await managerOf(bench);
    expect((await call('PATCH', '/account', { settings_by_keys: false })).status).toBe(200);
    const changes: [string, string, unknown?][] = [
      ['PUT', '/routing-policy', { deny_cloud_act: true }],
      ['DELETE', '/routing-policy'],
      ['PUT', '/fallback', { fallback: { models: ['auto/meta/llama'] } }],
      ['DELETE', '/fallback'],
      ['POST', '/aliases', { name: 'fast', target: 'auto/meta/llama' }],
      ['PUT', '/aliases/fast', { target: 'auto/meta/llama' }],
      ['PATCH', '/aliases/fast', { target: 'auto/meta/llama' }],
      ['DELETE', '/aliases/fast'],
    ];
    const row = { status: 403, type: 'permission_error', code: 'management_key_required', says: ['settings_by_keys'] };
    const { id } = (await call('GET', '/projects')).json.data[0];
    const bound = await managerOf(bench, { project: id }, accountId);
    for (const [method, path, body] of changes) {
      expectError(await bench.gateway.call(method, `/v1${path}`, body, { key }), row);
      expect((await bound.call(method, path, body)).json.error.code).toBe('role_required');
    }
    for (const path of ['/routing-policy', '/fallback', '/aliases']) {
      expect((await bench.gateway.call('GET', `/v1${path}`, undefined, { key })).status).toBe(200);
    }
    const statuses: number[] = [];
    for (const index of [0, 1, 2, 3, 4, 5, 6, 7]) {
      const [method, path, body] = changes[index]!;
      statuses.push((await call(method, path, body)).status);
    }
    expect(statuses).toEqual([200, 204, 200, 204, 201, 200, 200, 204]);
  });
});

describe('in the dashboard', () => {
  it('a session has projects, their keys and policies, and the settings of its account', async () => {
    const client = new DashboardClient(bench.gateway.url);
    const signUp = { email: 'owner@example.test', password: 'correct horse 77' };
    expect((await client.call('POST', 'sign-up', signUp)).status).toBe(201);
    const made = await client.call('POST', 'projects', { name: 'team' });
    expect(made.status, made.text).toBe(201);
    const { id } = made.json;
    for (const path of ['projects', 'v1/projects']) {
      const names = (await client.call('GET', path)).json.data.map(({ name }: { name: string }) => name);
      expect(names).toEqual(['default', 'team']);
    }
    const { account } = (await client.call('GET', 'session')).json;
    const holder = account.id.replace(/^acct-/, 'per-');
    const key = await client.call('POST', 'keys', { name: 'k', project: id, holder });
    expect(key.json).toMatchObject({ project: id, holder });
    expect((await client.call('PATCH', `keys/${key.json.id}`, { holder: null })).json.holder).toBeNull();
    expectError(await client.call('POST', 'keys', { name: 'k', project: 'proj-x' }), invalid('project'));
    expect((await client.call('GET', `projects/${id}/keys`)).json.data).toHaveLength(1);
    expect((await client.call('PUT', `projects/${id}/routing-policy`, { max_carbon: 5 })).status).toBe(200);
    expectError(await client.call('PATCH', `projects/${id}`, { name: 5 }), invalid('name'));
    expect((await client.call('DELETE', `projects/${id}`)).status).toBe(409);
    expect((await client.call('PATCH', 'account', { settings_by_keys: false })).json.settings_by_keys).toBe(false);
    const saved = await client.call('PUT', 'v1/routing-policy', { max_carbon: 500 });
    expect(saved.status, 'a session may change the settings').toBe(200);
  });
});
