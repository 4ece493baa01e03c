/** Every endpoint of an account, called by every role, in the own account and in another one. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BrowserSession } from '../../tests/support/browser-session.js';
import { type HttpFixture, httpFixture } from '../../tests/support/http-fixture.js';
import { type Role, roles } from '../domain/organisation.js';

type Cell = readonly Role[] | 'all' | 'none';

/** Who may read and who may change, by the first part of the path. What is not listed fails the test. */
const expected: Record<string, { read?: Cell; change?: Cell }> = {
  'change-password': { change: 'all' },
  'two-factor': { read: 'all', change: 'all' },
  catalogue: { read: 'all' },
  models: { read: 'all' },
  overview: { read: 'all' },
  usage: { read: 'all' },
  'usage.csv': { read: 'all' },
  activity: { read: 'all' },
  generations: { read: 'all' },
  generation: { read: 'all' },
  credits: { read: ['owner', 'admin', 'billing', 'auditor'], change: ['owner', 'billing'] },
  ledger: { read: ['owner', 'admin', 'billing', 'auditor'] },
  keys: { read: ['owner', 'admin', 'developer', 'auditor'], change: ['owner', 'admin', 'developer'] },
  playground: { change: ['owner', 'admin', 'developer'] },
  aliases: { read: ['owner', 'admin', 'developer', 'auditor'], change: ['owner', 'admin'] },
  fallback: { read: ['owner', 'admin', 'developer', 'auditor'], change: ['owner', 'admin'] },
  'routing-policy': { read: ['owner', 'admin', 'developer', 'auditor'], change: ['owner', 'admin'] },
  // Both only compute something from what is sent.
  policy: {
    read: ['owner', 'admin', 'developer', 'auditor'],
    change: ['owner', 'admin', 'developer', 'auditor'],
  },
  routes: { change: ['owner', 'admin', 'developer', 'auditor'] },
  members: { read: ['owner', 'admin', 'auditor'], change: ['owner', 'admin'] },
  invitations: { read: ['owner', 'admin', 'auditor'], change: ['owner', 'admin'] },
  // Operator rights are no matter of a role: everybody may show the admin token, and nobody here has.
  operator: { read: 'none', change: 'none' },
  key: { read: 'all' },
  account: { read: 'all', change: ['owner', 'admin', 'billing'] },
  'project-names': { read: 'all' },
  projects: { read: 'all', change: ['owner', 'admin', 'billing'] },
  audit: { read: ['owner', 'admin', 'auditor'] },
  credentials: { read: ['owner', 'admin', 'auditor'], change: ['owner', 'admin'] },
  budget: { read: 'all' },
  notices: { read: ['owner', 'admin', 'billing', 'auditor'], change: ['owner', 'admin', 'billing', 'auditor'] },
  sessions: { read: 'all', change: 'all' },
  identities: { read: 'all', change: 'all' },
};

/** Endpoints that need no session. */
const open =
  /^(oidc\/.*|session|sign-in|sign-in\/admin-token|sign-up|sign-out|claim|forgot-password|reset-password|invitations\/(accept|open))$/;
const prefix = '/dashboard/api/';

let fixture: HttpFixture;
const browsers = new Map<Role, BrowserSession>();
let otherAccount: string;

beforeAll(async () => {
  fixture = await httpFixture();
  const { store, deps, directory } = fixture;
  const other = await directory.createAccount('system', { email: 'other@example.com' });
  otherAccount = other.id;
  for (const role of roles) {
    const email = `${role}@members.example.com`;
    const operator = { actor: 'operator', standing: null } as const;
    await deps.members.add(operator, fixture.account, { email, role, projects: null });
    const person = (await store.people.findByEmail(email))!;
    await deps.dashboard!.signIns.setPassword(person, 'correct horse 77');
    const browser = new BrowserSession(fixture.app);
    expect((await browser.call('POST', 'sign-in', { email, password: 'correct horse 77' })).statusCode).toBe(200);
    browsers.set(role, browser);
  }
});

// The calls of all roles together are more than an account may make in a minute.
beforeEach(() => fixture.clock.advance(60_000));

interface Endpoint {
  method: string;
  path: string;
  first: string;
}

function endpointsUnder(start: string): Endpoint[] {
  return fixture.app.knownPaths.all().flatMap(({ pattern, methods }) => {
    if (!pattern.startsWith(start)) return [];
    const path = pattern
      .slice(start.length)
      .replace(/:(\w+)/g, 'some-$1')
      .replace('*', 'some/model');
    const [first = ''] = path.replace(/^v1\//, '').split('/');
    return methods.filter((method) => method !== 'HEAD').map((method) => ({ method, path, first }));
  });
}

function isExpected({ method, path, first }: Endpoint, role: Role): boolean {
  if (method === 'DELETE' && path === 'account') return role === 'owner';
  if (method === 'POST' && /^(v1\/)?projects$/.test(path)) return role === 'owner' || role === 'admin';
  if (/projects\/some-id\/keys$/.test(path)) return isExpected({ method, path: 'keys', first: 'keys' }, role);
  const cell = expected[first]?.[method === 'GET' ? 'read' : 'change'];
  if (cell === undefined) throw new Error(`${method} ${first} is not in the table of this test`);
  return cell === 'all' || (cell !== 'none' && cell.includes(role));
}

const isOperatorRight = ({ path }: Endpoint) => path === 'operator';

describe('every endpoint of the dashboard', () => {
  it.each(roles)('as %s: served or 403 role_required as the table says, and 404 in another account', async (role) => {
    const browser = browsers.get(role)!;
    const endpoints = endpointsUnder(prefix).filter(({ path }) => !open.test(path) && path !== 'change-password');
    expect(endpoints.length).toBeGreaterThan(60);
    for (const endpoint of endpoints) {
      const { method, path } = endpoint;
      const body = method === 'GET' || method === 'DELETE' ? undefined : {};
      const elsewhere = await browser.call(method, path, body, { headers: { 'x-lodestone-account': otherAccount } });
      expect([elsewhere.statusCode, elsewhere.json().error.code], `${method} ${path}`).toEqual([404, 'not_found']);
      const answer = await browser.call(method, path, body);
      const code = answer.statusCode >= 400 ? answer.json().error.code : null;
      if (isOperatorRight(endpoint)) continue;
      const refusal = endpoint.first === 'operator' ? 'operator_required' : 'role_required';
      expect(code === refusal, `${method} ${path}: ${answer.statusCode} ${code}`).toBe(!isExpected(endpoint, role));
      expect(answer.statusCode, `${method} ${path}`).not.toBe(401);
    }
  });

  it('names the role that would be allowed', async () => {
    const answer = await browsers.get('billing')!.call('GET', 'keys');
    expect(answer.json().error).toMatchObject({ type: 'permission_error', code: 'role_required' });
    expect(answer.json().error.message).toContain('owner, admin, developer or auditor');
  });
});

it('a role changes only its own fields of the account and of a project', async () => {
  const project = `projects/${[...fixture.account.projects.keys()][0]}`;
  const cases: [Role, string, string, Record<string, unknown> | undefined, number][] = [
    ['billing', 'PATCH', 'account', { budget: null }, 200],
    ['billing', 'PATCH', 'account', { name: 'x' }, 403],
    ['admin', 'PATCH', 'account', { settings_by_keys: true }, 200],
    ['admin', 'PATCH', 'account', { record_end_users: true }, 403],
    ['admin', 'PATCH', 'account', { budget: null }, 403],
    ['owner', 'PATCH', 'account', { record_end_users: false }, 200],
    ['billing', 'PATCH', project, { budget: null }, 200],
    ['billing', 'PATCH', project, { budget: null, name: 'x' }, 403],
    ['billing', 'DELETE', project, undefined, 403],
    ['billing', 'POST', 'projects', { name: 'x' }, 403],
    ['billing', 'POST', `${project}/keys`, { name: 'x' }, 403],
    ['billing', 'PUT', `${project}/routing-policy`, {}, 403],
    ['billing', 'GET', `${project}/keys`, undefined, 403],
    ['developer', 'GET', `${project}/keys`, undefined, 200],
    ['developer', 'POST', `${project}/keys`, { name: 'x' }, 201],
    ['developer', 'POST', `${project}/keys`, { name: 'x', kind: 'management' }, 403],
    ['auditor', 'POST', `${project}/keys`, { name: 'x' }, 403],
    ['auditor', 'GET', `${project}/keys`, undefined, 200],
  ];
  for (const [role, method, path, body, status] of cases) {
    const answer = await browsers.get(role)!.call(method, path, body);
    expect(answer.statusCode, `${role} ${method} ${path} ${JSON.stringify(body)}`).toBe(status);
  }
});

it('a developer who is bound to projects reads their usage only, and makes no key outside of them', async () => {
  const { deps, account, store } = fixture;
  const person = (await store.people.findByEmail('developer@members.example.com'))!;
  const operator = { actor: 'operator', standing: null } as const;
  await deps.members.change(operator, account, person.id, { projects: [] });
  const browser = browsers.get('developer')!;
  expect((await browser.call('GET', 'usage/report')).json().totals.requests).toBe(0);
  expect((await browser.call('POST', 'keys', { name: 'x' })).statusCode).toBe(404);
  expect((await browser.call('GET', 'projects')).json().data).toEqual([]);
  const unreached = `projects/${[...account.projects.keys()][0]}`;
  for (const [method, path] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['GET', '/keys'],
    ['POST', '/keys'],
  ] as const) {
    const answer = await browser.call(method, unreached + path, method === 'GET' ? undefined : { name: 'x' });
    expect([answer.statusCode, answer.json().error.code], `${method} ${path}`).toEqual([404, 'not_found']);
  }
  await deps.members.change(operator, account, person.id, { projects: null });
  const management = await browser.call('POST', 'keys', { name: 'x', kind: 'management' });
  expect(management.json().error.code).toBe('role_required');
  expect((await browser.call('POST', 'keys', { name: 'x' })).statusCode).toBe(201);
  const held = (await browser.call('GET', 'keys')).json().data.length;
  expect((await browser.call('GET', `${unreached}/keys`)).json().data).toHaveLength(held);
  expect((await browsers.get('auditor')!.call('GET', 'keys')).json().data.length).toBeGreaterThan(1);
});

describe('every endpoint under /v1', () => {
  it('with a management key: what an admin may; of one project: nothing that is of the whole account', async () => {
    const terms = { kind: 'management' } as const;
    const body = { name: 'manager', ...terms };
    const made = await fixture.app.inject({
      ...{
        method: 'POST',
        url: `/admin/v1/accounts/${fixture.account.id}/keys`,
        payload: body,
        headers: fixture.asAdmin,
      },
    });
    const { token, id } = made.json();
    const headers = { authorization: `Bearer ${token}` };
    const endpoints = endpointsUnder('/v1/').filter(({ first }) => expected[first] !== undefined);
    expect(endpoints.length).toBeGreaterThan(25);
    const call = async ({ method, path }: Endpoint) => {
      const payload = method === 'GET' || method === 'DELETE' ? undefined : {};
      const url = `/v1/${path}`;
      const answer = await fixture.app.inject({ method: method as 'GET', url, headers, ...(payload && { payload }) });
      return answer.statusCode >= 400 ? answer.json().error.code : null;
    };
    for (const endpoint of endpoints) {
      if (endpoint.path === `keys/${id}`) continue;
      expect(await call(endpoint), `${endpoint.method} ${endpoint.path}`).not.toBe('role_required');
    }
    const key = fixture.store.keyRows.get(id)!;
    fixture.store.keyRows.set(id, { ...key, projectId: [...fixture.account.projects.keys()][0]! });
    await fixture.directory.keysChanged(fixture.account.id, [id]);
    for (const endpoint of endpoints) {
      const { method, first } = endpoint;
      const isWide = ['members', 'invitations', 'credits', 'audit'].includes(first);
      const changes = ['aliases', 'fallback', 'routing-policy'].includes(first) && method !== 'GET';
      expect((await call(endpoint)) === 'role_required', `${method} ${endpoint.path}`).toBe(isWide || changes);
    }
  });
});
