/**
 * Customers with good and bad credentials at the same providers, on both replicas, while the credentials change: each call carries the
 * key that an independent reading of the rules expects, and nobody else notices a bad one.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, Reply } from '../support/client.js';
import { catalogueOf } from '../support/gateway.js';
import type { YamlObject } from '../support/gateway-files.js';
import { inParallel, type Replicas } from '../support/replicas.js';
import { scaled } from '../support/scaled.js';
import { completion, json } from '../support/scripted-upstream.js';
import { SeededRandom } from '../support/seeded-random.js';

const requests = scaled(240, 20_000);
const tenants = scaled(6, 40);
/** Of each tenant, one after the other; then its credentials change. */
const requestsBetween = 6;

/** The operator has a key for the first. */
const providers = ['shared', 'private'] as const;
type Provider = (typeof providers)[number];
const operatorKey = 'operator-of-shared-0123456789';
const creator = 'owned';
const pin = (provider: Provider) => `${provider}/${creator}/m/defra`;

export const ownProviders = { shared: { api_key: operatorKey } };
export const ownCatalogue = (url: string) =>
  catalogueOf(
    { shared: url, private: url },
    {
      ...{ creator, model: 'm' },
      providers: { shared: { auth: 'key' }, private: { auth: 'key', api_key_env: 'NOT_SET_HERE' } },
    },
  ) as { providers: YamlObject[]; models: YamlObject[] };

/** What the provider does with a key, by its first word. */
const answers = { good: 200, revoked: 401, forbidden: 403, unpaid: 402, limited: 429, broken: 500 } as const;
type Kind = keyof typeof answers;
const kinds = Object.keys(answers) as Kind[];

interface Credential {
  id: string;
  provider: Provider;
  isProjects: boolean;
  use: 'only' | 'first' | 'last';
  secret: string;
}

interface Tenant {
  accountId: string;
  project: string;
  /** Of the project, and of the default project. */
  keys: { project: string; account: string };
  credentials: Credential[];
  nextSecret: number;
}

const statusOf = (key: string): number => answers[key.split('-')[0] as Kind] ?? 200;

/** The keys that a pin is tried with, in order: the project's, the account's, the operator's. Another is used only where it may be. */
function expectedKeys({ credentials }: Tenant, provider: Provider, inProject: boolean): string[] {
  const own = (isProjects: boolean) =>
    credentials.find((each) => each.provider === provider && each.isProjects === isProjects);
  const [ofProject, ofAccount] = [inProject ? own(true) : undefined, own(false)];
  const operator = provider === 'shared' ? [operatorKey] : [];
  let order: string[];
  if (ofProject?.use === 'only') order = [ofProject.secret];
  else {
    const both = [ofProject, ofAccount].filter((each) => each !== undefined);
    const before = both.filter(({ use }) => use !== 'last').map(({ secret }) => secret);
    const after = both.filter(({ use }) => use === 'last').map(({ secret }) => secret);
    order = [...before, ...(ofAccount?.use === 'only' ? [] : operator), ...after];
  }
  const tried: string[] = [];
  for (const key of order) {
    tried.push(key);
    if ([200, 500].includes(statusOf(key))) break;
  }
  return tried;
}

let fleet: Replicas;
/** The keys that calls carried, by the words of the request. */
const carried = new Map<string, string[]>();

export function ownCredentialsSuite(shared: () => Replicas): void {
  describe('own credentials of many customers, which change while both replicas serve', () => {
    beforeAll(() => {
      fleet = shared();
      fleet.upstream.reset();
      fleet.upstream.onRequest(({ headers, json: body }) => {
        const key = String(headers.authorization).replace('Bearer ', '');
        const { content } = (body as { messages: [{ content: string }] }).messages[0];
        carried.set(content, [...(carried.get(content) ?? []), key]);
        const status = statusOf(key);
        return status === 200 ? json(completion()) : json({ error: { message: `not with ${key}` } }, { status });
      });
    });

    afterAll(() => fleet.upstream.reset());

    it('each call carries the key that the rules say, and no breaker, hold, ranking or answer of others changes', async () => {
      const random = new SeededRandom(1);
      const all: Tenant[] = [];
      await inParallel(tenants, 4, async () => void all.push(await tenant()));
      const before = await routesSeen();
      const other = await fleet.a.createAccount();
      await inParallel(tenants, 8, (index) => run(all[index]!, new SeededRandom(random.below(1e9)), index));
      for (const replica of fleet.all) {
        const reply = await replica.chat(ask('another customer', pin('shared')), { key: other.key });
        expect(reply.status, reply.text).toBe(200);
      }
      expect(carried.get('another customer')).toEqual([operatorKey, operatorKey]);
      expect(await routesSeen()).toEqual(before);
      const { json: explained } = await fleet.b.call('POST', '/v1/routes/explain', ask('x', `auto/${creator}/m`), {
        key: other.key,
      });
      expect(explained.candidates[0]).toMatchObject({ id: pin('shared'), verdict: 'eligible', score: { failures: 1 } });
    });
  });
}

const ask = (content: string, model: string): Json => ({ model, messages: [{ role: 'user', content }] });

async function done(status: number, call: Promise<Reply>): Promise<Reply> {
  const reply = await call;
  expect(reply.status, reply.text).toBe(status);
  return reply;
}

/** What operators see of the two routes at each replica, without what only time changes. */
async function routesSeen() {
  const seen: Json[] = [];
  for (const replica of fleet.all) {
    const { json: routes } = await done(200, replica.admin('GET', '/routes'));
    for (const { provider, breaker, hold, error_rate: errors } of routes.data)
      if (providers.includes(provider)) seen.push({ provider, breaker, hold, hasFailed: errors > 0 });
  }
  return seen;
}

async function tenant(): Promise<Tenant> {
  const { accountId, key } = await fleet.a.createAccount();
  const path = `/accounts/${accountId}`;
  const { json: project } = await done(201, fleet.a.admin('POST', `${path}/projects`, { name: 'p' }));
  const made = await done(201, fleet.a.admin('POST', `${path}/keys`, { name: 'k', project: project.id }));
  return {
    ...{ accountId, project: project.id, credentials: [], nextSecret: 0 },
    keys: { account: key, project: made.json.token },
  };
}

async function run(one: Tenant, random: SeededRandom, index: number): Promise<void> {
  for (let sent = 0; sent < requests / tenants; sent++) {
    if (sent % requestsBetween === 0) await change(one, random, index);
    const provider = random.pick(providers);
    const inProject = random.chance(0.5);
    const words = `tenant ${index} request ${sent}`;
    const key = inProject ? one.keys.project : one.keys.account;
    const expected = expectedKeys(one, provider, inProject);
    const replica = random.pick(fleet.all);
    const isAuto = random.chance(0.3);
    const model = isAuto ? `auto/${creator}/m` : pin(provider);
    const body = isAuto ? { ...ask(words, model), provider: { only: [provider] } } : ask(words, model);
    const reply = await replica.chat(body, { key });
    const keys = carried.get(words) ?? [];
    const situation = `${words} at ${provider}${inProject ? ' in the project' : ''}: ${JSON.stringify(one.credentials)}: ${reply.text}`;
    // `auto/` leaves out what it knows to fail, so it tries a part of them, in their order.
    if (isAuto)
      expect(
        expected.filter((each) => keys.includes(each)),
        situation,
      ).toEqual(keys);
    else expect(keys, situation).toEqual(expected);
    const isServed = keys.length > 0 && statusOf(keys.at(-1)!) === 200;
    expect(reply.status, situation).toBe(isServed ? 200 : 503);
    if (isServed) expect(reply.json.usage.is_byok === true, situation).toBe(keys.at(-1) !== operatorKey);
    expect(reply.text).not.toMatch(/(good|revoked|forbidden|unpaid|limited|broken)-\d/);
  }
}

/** Makes, changes or deletes one credential, at any replica. It holds for the next request at both. */
async function change(one: Tenant, random: SeededRandom, index: number): Promise<void> {
  const replica = random.pick(fleet.all);
  const path = `/accounts/${one.accountId}/credentials`;
  const secret = `${random.chance(0.5) ? 'good' : random.pick(kinds)}-${index}-${one.nextSecret++}-0123456789`;
  const use = random.pick(['only', 'first', 'last'] as const);
  const provider = random.pick(providers);
  const isProjects = random.chance(0.5);
  const held = one.credentials.find((each) => each.provider === provider && each.isProjects === isProjects);
  if (held === undefined) {
    const body = { provider, name: 'n', use, secret: { api_key: secret }, project: isProjects ? one.project : null };
    const { json: made } = await done(201, replica.admin('POST', path, body));
    one.credentials.push({ id: made.id, provider, isProjects, use, secret });
  } else if (random.chance(0.3)) {
    await done(204, replica.admin('DELETE', `${path}/${held.id}`));
    one.credentials.splice(one.credentials.indexOf(held), 1);
  } else {
    await done(200, replica.admin('PATCH', `${path}/${held.id}`, { use, secret: { api_key: secret } }));
    Object.assign(held, { use, secret });
  }
}
