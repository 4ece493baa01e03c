/**
 * Every endpoint of an account, called by each role and each kind of key: about what is theirs, about what is another account's, and about
 * a project that they do not reach. The endpoints come from the routes, the expectations from a table that was written by hand.
 */
import { expect, it } from 'vitest';
import type { Json, Reply } from '../../support/client.js';
import { DashboardClient } from '../../support/dashboard-client.js';
import { httpFixture } from '../../support/http-fixture.js';
import { newAddress, newMember, newOwner, password, type SignedIn } from '../../support/people.js';
import { makeSecretsKey } from '../../support/secrets-key.js';
import { route } from '../catalogue.js';
import { ask, llama, messages, useGateway } from '../harness.js';
import { ofKeys, ofSessions } from './roles-table.js';

const ofKind = (kind: string) => ({
  ...{ creator: 'meta', model: kind, kind },
  routes: [route({ default: true, price: { input: 0.1, output: 0 }, capabilities: undefined })],
});

const bench = useGateway({
  models: [ofKind('embedding'), ofKind('rerank')],
  config: { secrets: { key_file: makeSecretsKey() }, limits: { key_requests_per_minute: 1_000_000 } },
});

/** Endpoints that are about no account, or about a session before there is one. */
const ofNobody =
  /^\/(dashboard\/api\/(operator\b|oidc\/|session$|sign-|claim$|forgot-|reset-|invitations\/(open|accept)$)|v1\/(token|status|catalogue\/changes)$)/;

const roleNames = { o: 'owner', a: 'admin', b: 'billing', d: 'developer', u: 'auditor' } as const;

interface Company {
  owner: SignedIn & { accountId: string };
  /** A project beside the default one. */
  search: string;
  defaultProject: string;
  inferenceKey: string;
  generation: string;
}

async function newCompany(): Promise<Company> {
  const { gateway } = bench;
  const owner = await newOwner(gateway);
  const { accountId } = owner;
  await gateway.admin('POST', `/accounts/${accountId}/credits`, { amount_usd: '100' });
  const search = (await owner.client.call('POST', 'projects', { name: 'search' })).json.id;
  const key = (await owner.client.call('POST', 'keys', { name: 'production' })).json.token;
  const served = await gateway.chat(ask(), { key });
  expect(served.status, served.text).toBe(200);
  const defaultProject = accountId.replace('acct-', 'proj-');
  return { owner, search, defaultProject, inferenceKey: key, generation: String(served.headers['x-generation-id']) };
}

const kindOf = (path: string): string => path.replace(/^v1\//, '').split('/')[0]!;

const newCredential = () => ({ provider: 'keyed', name: newAddress('key'), secret: { api_key: 'k'.repeat(30) } });

/** Something new of the account for the path to be about, so that a call that deletes it takes nothing from the next one. */
async function thingFor(path: string, company: Company, { client } = company.owner as { client: DashboardClient }) {
  const { owner, search, generation, defaultProject } = company;
  const make = async (at: string, fields: Json) => {
    const made = await client.call('POST', at, fields);
    expect(made.status, `${at}: ${made.text}`).toBe(201);
    return String(made.json.id);
  };
  switch (kindOf(path)) {
    case 'projects':
      return /\/(keys|routing-policy)$/.test(path) ? search : make('projects', { name: newAddress('project') });
    case 'keys':
      return make('keys', { name: 'of this call', project: defaultProject });
    case 'members': {
      const fields = { email: newAddress('member'), role: 'auditor' };
      return (await bench.gateway.admin('POST', `/accounts/${owner.accountId}/members`, fields)).json.id;
    }
    case 'invitations':
      return make('invitations', { email: newAddress('invited'), role: 'auditor' });
    case 'credentials':
      // A project has one credential for a provider.
      for (const { id } of (await client.call('GET', 'credentials')).json.data)
        await client.call('DELETE', `credentials/${id}`);
      return make('credentials', { ...newCredential(), project: defaultProject });
    case 'aliases': {
      // An account has five at most.
      for (const alias of (await client.call('GET', 'v1/aliases')).json.data)
        await client.call('DELETE', `v1/aliases/${alias.name}`);
      const name = newAddress('alias').replace(/@.*/, '');
      const made = await owner.client.call('POST', 'v1/aliases', { name, target: llama });
      expect(made.status, made.text).toBe(201);
      return name;
    }
    case 'generation':
      return generation;
    default:
      return 'nothing';
  }
}

/** What is sent, so that whoever may gets what they want. */
function bodyFor(endpoint: string, { defaultProject }: Company): Json | undefined {
  const bodies: Record<string, () => Json> = {
    'PATCH account': () => ({ name: 'Acme' }),
    'PATCH projects/:id': () => ({ budget: null }),
    'POST projects': () => ({ name: newAddress('project') }),
    'PATCH members/:id': () => ({ role: 'billing' }),
    'POST invitations': () => ({ email: newAddress('invited'), role: 'auditor' }),
    'POST credentials': () => ({ ...newCredential(), project: defaultProject }),
    'POST aliases': () => ({ name: newAddress('alias').replace(/@.*/, ''), target: llama }),
    'PUT aliases/:name': () => ({ target: llama }),
    'PATCH aliases/:name': () => ({ target: llama }),
    'PUT fallback': () => ({ fallback: { models: [] } }),
    'POST routes/explain': () => ask(),
    'POST playground/chat': () => ask(),
    'POST chat/completions': () => ask(),
    'POST playground/messages': () => ({ model: llama, messages, max_tokens: 9 }),
    'POST messages': () => ({ model: llama, messages, max_tokens: 9 }),
    'POST messages/count_tokens': () => ({ model: llama, messages }),
    'POST embeddings': () => ({ model: 'acme/meta/embedding', input: 'hello' }),
    'POST rerank': () => ({ model: 'acme/meta/rerank', query: 'hello', documents: ['hello'] }),
    'POST responses/compact': () => ({ model: llama, input: 'Say hello.' }),
    'POST playground/responses': () => ({ model: llama, input: 'Say hello.' }),
    'POST responses': () => ({ model: llama, input: 'Say hello.' }),
  };
  const named = endpoint.replace(' v1/', ' ');
  if (/^(POST|PATCH) (projects\/:id\/)?keys/.test(named)) return { name: 'a key' };
  if (/^(GET|DELETE)/.test(named)) return undefined;
  return bodies[named]?.() ?? {};
}

async function endpointsUnder(prefix: string): Promise<string[]> {
  const { app } = await httpFixture();
  return app.knownPaths
    .all()
    .flatMap(({ pattern, methods }) =>
      pattern.startsWith(prefix) && !ofNobody.test(pattern)
        ? methods.filter((method) => method !== 'HEAD').map((method) => `${method} ${pattern.slice(prefix.length)}`)
        : [],
    );
}

/** The path with the thing in its place. */
function pathTo(endpoint: string, thing: string, { generation }: Company): [method: string, path: string] {
  const [method = '', pattern = ''] = endpoint.split(' ');
  const path = pattern
    .replace(':creator/:model', 'meta/llama')
    .replace(/:(id|name)/, thing || 'nothing')
    .replace('*', llama);
  return [method, /(^|\/)generation$/.test(path) ? `${path}?id=${generation}` : path];
}

/** A payment page is the payment provider's, and there is none here. Sessions are of the person, whatever the account. */
const isAbout = (endpoint: string): boolean => /:(id|name)/.test(endpoint) && !/checkout|sessions/.test(endpoint);
const codeOf = (reply: Reply): string => reply.json.error?.code ?? '';
const shown = (reply: Reply): string => `${reply.status} ${codeOf(reply)}`;

it('every endpoint of sessions and of keys is in the table, and nothing else is', async () => {
  const dashboard = await endpointsUnder('/dashboard/api/');
  // The same endpoints are there with and without `v1/`, as the dashboard came to call them.
  const named = dashboard.map((endpoint) => (endpoint in ofSessions ? endpoint : endpoint.replace(' v1/', ' ')));
  expect([...new Set(named)].sort()).toEqual(Object.keys(ofSessions).sort());
  expect((await endpointsUnder('/v1/')).sort()).toEqual(Object.keys(ofKeys).sort());
});

it('as each role: what the table says of the own account, 404 for another account and for what is another account’s', async () => {
  const own = await newCompany();
  const other = await newCompany();
  const { gateway } = bench;
  const callers = new Map<string, DashboardClient>([['o', own.owner.client]]);
  for (const [letter, role] of Object.entries(roleNames)) {
    if (letter !== 'o') callers.set(letter, (await newMember(gateway, own.owner.accountId, role)).client);
  }
  const faults: string[] = [];
  let cells = 0;
  for (const listed of await endpointsUnder('/dashboard/api/')) {
    const may = ofSessions[listed] ?? ofSessions[listed.replace(' v1/', ' ')]!;
    for (const [letter, client] of callers) {
      const about = `${listed} as ${roleNames[letter as keyof typeof roleNames]}`;
      const call = async (company: Company, account?: string) => {
        // A developer has the keys that they hold.
        const isTheirs = letter === 'd' && company === own && /keys\/:id$/.test(listed);
        const maker = isTheirs ? { client } : company.owner;
        const thing = isAbout(listed) ? await thingFor(listed.split(' ')[1]!, company, maker) : '';
        const [method, path] = pathTo(listed, thing, company);
        return client.call(method, path, bodyFor(listed, company), { headers: { 'x-lodestone-account': account } });
      };
      cells += 3;
      const mine = await call(own);
      const isRefused = codeOf(mine) === 'role_required';
      if (isRefused === may.includes(letter)) faults.push(`${about}: ${shown(mine)}`);
      else if (isRefused && (mine.status !== 403 || mine.json.error.type !== 'permission_error'))
        faults.push(`${about}: ${mine.text}`);
      else if (!isRefused && [401, 403, 500].includes(mine.status) && !/_not_(offered|set_up)$/.test(codeOf(mine)))
        faults.push(`${about}: ${shown(mine)}`);
      else if (!isRefused && isAbout(listed) && mine.status === 404)
        faults.push(`${about}, of the own account: ${shown(mine)}`);
      const elsewhere = await call(other, other.owner.accountId);
      if (elsewhere.status !== 404) faults.push(`${about}, in another account: ${shown(elsewhere)}`);
      if (!isAbout(listed) && !/generation$/.test(listed)) continue;
      const foreign = await call(other);
      const expected = may.includes(letter) ? [404] : [403, 404];
      if (!expected.includes(foreign.status)) faults.push(`${about}, of another account: ${shown(foreign)}`);
    }
  }
  expect(faults).toEqual([]);
  console.log(`${cells} cells of sessions`);
}, 300_000);

it('as each kind of key: what the table says, and 404 for what is another account’s', async () => {
  const own = await newCompany();
  const other = await newCompany();
  const { gateway } = bench;
  const keyOf = async (fields: Json) => {
    const terms = { name: 'k', kind: 'management', expires: 'never', ...fields };
    return (await gateway.admin('POST', `/accounts/${own.owner.accountId}/keys`, terms)).json.token as string;
  };
  const callers = new Map([
    ['i', own.inferenceKey],
    ['m', await keyOf({})],
    ['p', await keyOf({ project: own.defaultProject })],
  ]);
  const faults: string[] = [];
  for (const [endpoint, may] of Object.entries(ofKeys)) {
    for (const [letter, key] of callers) {
      const about = `${endpoint} with ${letter}`;
      const call = async (company: Company) => {
        const ofDefault = letter === 'p' && kindOf(endpoint.split(' ')[1]!) === 'projects';
        const made = isAbout(endpoint) ? await thingFor(endpoint.split(' ')[1]!, company) : '';
        const thing = ofDefault ? company.defaultProject : made;
        const [method, path] = pathTo(endpoint, thing, company);
        return gateway.call(method, `/v1/${path}`, bodyFor(endpoint, company), { key });
      };
      const mine = await call(own);
      if ((mine.status === 403) === may.includes(letter)) faults.push(`${about}: ${shown(mine)}`);
      else if (
        mine.status !== 403 &&
        [401, 404, 500].includes(mine.status) &&
        !/rerank|embeddings|compact/.test(endpoint)
      )
        faults.push(`${about}: ${shown(mine)}`);
      if (!isAbout(endpoint) && !/generation$/.test(endpoint)) continue;
      const foreign = await call(other);
      const expected = may.includes(letter) ? [404] : [403, 404];
      if (!expected.includes(foreign.status)) faults.push(`${about}, of another account: ${shown(foreign)}`);
    }
  }
  expect(faults).toEqual([]);
}, 300_000);

it('a developer of one project: 404 for each endpoint about another one', async () => {
  const own = await newCompany();
  const { gateway } = bench;
  const { accountId } = own.owner;
  const { client } = await newMember(gateway, accountId, 'developer', [own.search]);
  const faults: string[] = [];
  const ofProject = (await endpointsUnder('/dashboard/api/')).filter((each) =>
    /(projects|keys|generation)\/:id|generation$/.test(each),
  );
  expect(ofProject.length).toBeGreaterThan(20);
  for (const endpoint of ofProject) {
    const thing = /projects\/:id/.test(endpoint) ? own.defaultProject : await thingFor(endpoint.split(' ')[1]!, own);
    const [method, path] = pathTo(endpoint, thing, own);
    const reply = await client.call(method, path, bodyFor(endpoint, own));
    if (reply.status !== 404) faults.push(`${endpoint}: ${shown(reply)}`);
  }
  const preview = (project: string) => client.call('POST', 'policy/preview', { model: '', policy: {}, project });
  expect([(await preview(own.defaultProject)).status, (await preview(own.search)).status]).toEqual([404, 200]);
  expect((await client.call('GET', 'overview')).json.balance_usd).toBe(null);
  const names = (await client.call('GET', 'project-names')).json as { data: object[] };
  expect(names.data).toEqual([{ id: own.search, name: expect.any(String), is_default: false }]);
  const signedOut = new DashboardClient(gateway.url);
  await signedOut.call('POST', 'sign-in', { email: 'nobody@example.test', password });
  for (const endpoint of await endpointsUnder('/dashboard/api/')) {
    const [method, path] = pathTo(endpoint, 'x', own);
    const reply = await signedOut.call(method, path, bodyFor(endpoint, own));
    if (reply.status !== 401) faults.push(`${endpoint} without a session: ${shown(reply)}`);
  }
  expect(faults).toEqual([]);
}, 120_000);
