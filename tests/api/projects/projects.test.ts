/** `/v1/projects`, the same in the dashboard and for operators, and the keys of projects. */
import { describe, expect, it } from 'vitest';
import type { Json, Reply } from '../../support/client.js';
import { completion, json, usage } from '../../support/scripted-upstream.js';
import { ask, expectError, useGateway } from '../harness.js';
import { managerOf } from './manager.js';

const bench = useGateway({ config: { limits: { key_requests_per_minute: 100_000 } } });
const manager = (fields?: Json) => managerOf(bench, fields);

const invalid = (param: string) => ({
  ...{ status: 422, type: 'invalid_request_error', code: 'invalid_request_error', param },
});
const notFound = { status: 404, type: 'not_found', code: 'not_found' };
const defaultOf = (accountId: string) => `proj-${accountId.replace(/^acct-/, '')}`;
const namesOf = ({ json: list }: Reply) => list.data.map(({ name }: Json) => name);

describe('/v1/projects', () => {
  it('every account has the default project, to which its keys belong', async () => {
    const { call, accountId } = await manager();
    const list = await call('GET', '/projects');
    expect(list.status, list.text).toBe(200);
    expect(list.json).toEqual({
      object: 'list',
      data: [
        {
          ...{ object: 'project', id: defaultOf(accountId), name: 'default', is_default: true, budget: null },
          ...{ requests_per_minute: null, tokens_per_minute: null, trust: [], keys: 1, spent_usd: '0' },
          created_at: expect.stringMatching(/^\d{4}-.*Z$/),
        },
      ],
    });
  });

  it('201, then get, change and delete with 204', async () => {
    const { call } = await manager();
    const budget = { limit_usd: '500', period: 'weekly', alert_at: [0.5, 1] };
    const trust = [{ issuer: 'https://token.actions.githubusercontent.com', subject: 'repo:acme/app:*' }];
    const fields = { budget, requests_per_minute: 10, tokens_per_minute: 1000, trust };
    const made = await call('POST', '/projects', { name: ' search ', ...fields });
    expect(made.status, made.text).toBe(201);
    expect(made.json).toEqual({
      ...{ object: 'project', id: expect.stringMatching(/^proj-[0-9a-z]{26}$/), name: 'search', is_default: false },
      ...{ ...fields, keys: 0, spent_usd: '0', created_at: expect.any(String) },
      trust: [{ ...trust[0], audience: null, claims: {}, allowed_models: null, allowed_providers: null }],
    });
    const path = `/projects/${made.json.id}`;
    expect((await call('GET', path)).json).toEqual(made.json);
    const changed = await call('PATCH', path, { name: 'find', budget: { limit_usd: '1.50' }, tokens_per_minute: null });
    expect(changed.status, changed.text).toBe(200);
    expect(changed.json).toEqual({
      ...{ ...made.json, name: 'find', tokens_per_minute: null },
      budget: { limit_usd: '1.5', period: 'monthly', alert_at: [0.8, 1] },
    });
    expect((await call('PATCH', path, { budget: null, trust: [] })).json).toMatchObject({ budget: null, trust: [] });
    expect((await call('PATCH', path, {})).json).toMatchObject({ name: 'find', requests_per_minute: 10 });
    expect((await call('DELETE', path)).status).toBe(204);
    for (const method of ['GET', 'DELETE']) expectError(await call(method, path), notFound);
    expectError(await call('PATCH', path, {}), notFound);
  });

  it('pages by limit and after, the default project first', async () => {
    const { call } = await manager();
    for (const name of ['a', 'b', 'c']) await call('POST', '/projects', { name });
    const first = await call('GET', '/projects?limit=2');
    expect(namesOf(first)).toEqual(['default', 'a']);
    expect(namesOf(await call('GET', `/projects?limit=2&after=${first.json.data[1].id}`))).toEqual(['b', 'c']);
    expect(namesOf(await call('GET', `/projects?after=${first.json.data[1].id}`))).toEqual(['b', 'c']);
    for (const limit of ['0', '201', 'x']) {
      expectError(await call('GET', `/projects?limit=${limit}`), { ...invalid('limit'), status: 400 });
    }
    expectError(await call('GET', '/projects?after=proj-x'), { ...invalid('after'), status: 400 });
  });

  it('409 project_exists for a taken name, also when two create it at once', async () => {
    const { call } = await manager();
    const row = { status: 409, type: 'invalid_request_error', code: 'project_exists', param: 'name' };
    expectError(await call('POST', '/projects', { name: 'default' }), row);
    const both = await Promise.all([1, 2].map(() => call('POST', '/projects', { name: 'twice' })));
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    const other = await call('POST', '/projects', { name: 'other' });
    expectError(await call('PATCH', `/projects/${other.json.id}`, { name: 'twice' }), row);
    expect((await call('PATCH', `/projects/${other.json.id}`, { name: 'other' })).status).toBe(200);
    const elsewhere = await manager();
    expect((await elsewhere.call('POST', '/projects', { name: 'twice' })).status).toBe(201);
  });

  it('changes nothing where the name is taken, and the budget is sent with it', async () => {
    const manager = await managerOf(bench);
    const [one, other] = await Promise.all(['one', 'other'].map((name) => manager.call('POST', '/projects', { name })));
    const change = { name: 'other', budget: { limit_usd: '5', period: 'monthly' } };
    const refused = await manager.call('PATCH', `/projects/${one!.json.id}`, change);
    expect([refused.status, refused.json.error.code], other!.text).toEqual([409, 'project_exists']);
    expect((await manager.call('GET', `/projects/${one!.json.id}`)).json).toMatchObject({ name: 'one', budget: null });
  });

  it('409 project_is_default and project_not_empty, until the last key is gone', async () => {
    const { call, accountId } = await manager();
    const row = { status: 409, type: 'invalid_request_error', code: 'project_is_default' };
    expectError(await call('DELETE', `/projects/${defaultOf(accountId)}`), row);
    const { id } = (await call('POST', '/projects', { name: 'busy' })).json;
    const key = await call('POST', '/keys', { name: 'k', project: id });
    expectError(await call('DELETE', `/projects/${id}`), { ...row, code: 'project_not_empty' });
    expect((await call('DELETE', `/keys/${key.json.id}`)).status).toBe(204);
    expect((await call('DELETE', `/projects/${id}`)).status).toBe(204);
  });

  const faults: [param: string, fields: Json][] = [
    ['name', {}],
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(101) }],
    ['name', { name: 5 }],
    ['colour', { name: 'a', colour: 'red' }],
    ['budget', { name: 'a', budget: 5 }],
    ['budget.limit_usd', { name: 'a', budget: {} }],
    ['budget.limit_usd', { name: 'a', budget: { limit_usd: 5 } }],
    ['budget.limit_usd', { name: 'a', budget: { limit_usd: '-5' } }],
    ['budget.period', { name: 'a', budget: { limit_usd: '5', period: 'hourly' } }],
    ['budget.alert_at', { name: 'a', budget: { limit_usd: '5', alert_at: [0] } }],
    ['budget.alert_at', { name: 'a', budget: { limit_usd: '5', alert_at: [1.5] } }],
    ['budget.color', { name: 'a', budget: { limit_usd: '5', color: 1 } }],
    ['requests_per_minute', { name: 'a', requests_per_minute: 0 }],
    ['tokens_per_minute', { name: 'a', tokens_per_minute: 1.5 }],
    ['trust', { name: 'a', trust: {} }],
    ['trust[0].subject', { name: 'a', trust: [{ issuer: 'https://x' }] }],
    ['trust[1].issuer', { name: 'a', trust: [{ issuer: 'https://x', subject: 's' }, { subject: 's' }] }],
  ];

  let shared: ReturnType<typeof manager> | undefined;
  it.each(faults)('422 with param %s for %j, in the admin API 400', async (param, fields) => {
    shared ??= manager();
    const { call, accountId } = await shared;
    expectError(await call('POST', '/projects', fields), invalid(param));
    const byOperator = await bench.gateway.admin('POST', `/accounts/${accountId}/projects`, fields);
    expectError(byOperator, { ...invalid(param), status: 400 });
    if (Object.keys(fields).length > 0) {
      expectError(await call('PATCH', `/projects/${defaultOf(accountId)}`, fields), invalid(param));
    }
  });

  it('403 management_key_required for an ordinary key; a project of another account does not exist', async () => {
    const { key, accountId } = await bench.gateway.createAccount();
    const row = { status: 403, type: 'permission_error', code: 'management_key_required' };
    const one = `/v1/projects/${defaultOf(accountId)}`;
    for (const [method, path] of [
      ...[
        ['GET', '/v1/projects'],
        ['GET', one],
        ['GET', `${one}/keys`],
        ['GET', `${one}/routing-policy`],
      ],
      ...[
        ['GET', '/v1/account'],
        ['DELETE', one],
      ],
    ] as [string, string][]) {
      expectError(await bench.gateway.call(method, path, undefined, { key }), row);
    }
    const { call } = await manager();
    for (const path of ['', '/keys', '/routing-policy']) {
      expectError(await call('GET', `/projects/${defaultOf(accountId)}${path}`), notFound);
    }
  });

  it('operators list, create, change and delete the projects of an account', async () => {
    const { call, accountId } = await manager();
    const path = `/accounts/${accountId}/projects`;
    const made = await bench.gateway.admin('POST', path, { name: 'ops', requests_per_minute: 5 });
    expect(made.status, made.text).toBe(201);
    expect(namesOf(await bench.gateway.admin('GET', path))).toEqual(['default', 'ops']);
    expect((await call('GET', `/projects/${made.json.id}`)).json).toEqual(made.json);
    const one = `${path}/${made.json.id}`;
    expect(
      (await bench.gateway.admin('PATCH', one, { requests_per_minute: null })).json.requests_per_minute,
    ).toBeNull();
    expect((await bench.gateway.admin('DELETE', one)).status).toBe(204);
    expectError(await bench.gateway.admin('GET', one), notFound);
    expectError(await bench.gateway.admin('GET', '/accounts/acct-x/projects'), notFound);
  });

  it('spent_usd is what its keys have spent in the period, and a new name changes nothing of it', async () => {
    const { call } = await manager();
    const { id } = (await call('POST', '/projects', { name: 'spender' })).json;
    const { token } = (await call('POST', `/projects/${id}/keys`, { name: 'k' })).json;
    bench.upstream.enqueue(json(completion({ usage: usage(1000, 500) })));
    const answer = await bench.gateway.chat(ask(), { key: token });
    expect(answer.status, answer.text).toBe(200);
    const before = (await call('GET', `/projects/${id}`)).json.spent_usd;
    expect(Number(before)).toBeGreaterThan(0);
    expect((await call('PATCH', `/projects/${id}`, { name: 'renamed' })).json.spent_usd).toBe(before);
    expect(
      (await call('PATCH', `/projects/${id}`, { budget: { limit_usd: '9', period: 'never' } })).json.spent_usd,
    ).toBe(before);
  });
});

describe('the keys of projects', () => {
  it('belong to the default project, or to the one that is named, for good', async () => {
    const { call, accountId, managerId } = await manager();
    const { id } = (await call('POST', '/projects', { name: 'team' })).json;
    const plain = (await call('POST', '/keys', { name: 'plain' })).json;
    expect(plain).toMatchObject({ project: defaultOf(accountId), holder: null });
    const own = (await call('POST', '/keys', { name: 'own', project: id })).json;
    expect(own.project).toBe(id);
    expect((await call('GET', `/keys/${managerId}`)).json.project).toBeNull();
    const listed = (await call('GET', `/projects/${id}/keys`)).json;
    const { token: _, ...shown } = own;
    expect(listed).toEqual({ object: 'list', data: [shown] });
    expect((await call('GET', `/projects/${id}`)).json.keys).toBe(1);
    for (const project of [id, null]) {
      expectError(await call('PATCH', `/keys/${plain.id}`, { project }), invalid('project'));
      const path = `/accounts/${accountId}/keys/${plain.id}`;
      expectError(await bench.gateway.admin('PATCH', path, { project }), invalid('project'));
    }
  });

  it('422 for an unknown project or holder, in every API of keys', async () => {
    const { call, accountId } = await manager();
    const other = await manager();
    const foreign = defaultOf(other.accountId);
    for (const project of ['proj-x', foreign, 5]) {
      expectError(await call('POST', '/keys', { name: 'k', project }), invalid('project'));
      const byOperator = await bench.gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'k', project });
      expectError(byOperator, invalid('project'));
    }
    for (const holder of ['per-x', 'a\0b', 7]) {
      expectError(await call('POST', '/keys', { name: 'k', holder }), invalid('holder'));
    }
  });

  it('are at most 200 in a project, whatever the others have', async () => {
    const { call, accountId } = await manager();
    const { id } = (await call('POST', '/projects', { name: 'full' })).json;
    const create = (project?: string) =>
      bench.gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'k', ...(project && { project }) });
    for (let n = 0; n < 200; n += 20) {
      const made = await Promise.all(Array.from({ length: 20 }, () => create(id)));
      expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201]));
    }
    const row = { status: 422, type: 'invalid_request_error', code: 'key_limit_reached', param: 'name' };
    expectError(await create(id), row);
    expect((await create()).status).toBe(201);
    expect((await call('GET', `/projects/${id}/keys`)).json.data).toHaveLength(100);
    expect((await call('GET', `/projects/${id}/keys?limit=200`)).json.data).toHaveLength(200);
  });

  it('a management key of a project reaches that project only', async () => {
    const { call, accountId } = await manager();
    const { id } = (await call('POST', '/projects', { name: 'mine' })).json;
    const bound = await managerOf(bench, { project: id }, accountId);
    const outside = (await call('POST', '/keys', { name: 'outside' })).json;
    expect(namesOf(await bound.call('GET', '/projects'))).toEqual(['mine']);
    expect((await bound.call('PATCH', `/projects/${id}`, { tokens_per_minute: 7 })).status).toBe(200);
    for (const path of ['', '/keys', '/routing-policy']) {
      expectError(await bound.call('GET', `/projects/${defaultOf(accountId)}${path}`), notFound);
    }
    expect((await bound.call('GET', '/keys')).json.data.map(({ name }: Json) => name)).toEqual(['manager']);
    for (const method of ['GET', 'DELETE']) expectError(await bound.call(method, `/keys/${outside.id}`), notFound);
    expectError(await bound.call('PATCH', `/keys/${outside.id}`, { disabled: true }), notFound);
    expect((await bound.call('POST', '/keys', { name: 'k' })).json.project).toBe(id);
    for (const project of [null, defaultOf(accountId)]) {
      expectError(await bound.call('POST', '/keys', { name: 'k', kind: 'management', project }), invalid('project'));
    }
    const row = { status: 403, type: 'permission_error', code: 'management_key_required' };
    expectError(await bound.call('POST', '/projects', { name: 'new' }), row);
    expectError(await bound.call('PATCH', '/account', { settings_by_keys: false }), row);
  });
});
