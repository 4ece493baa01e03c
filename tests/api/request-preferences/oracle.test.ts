/**
 * Policies of accounts and wishes of requests, for every form of an id: each gate alone against a table of what it removes, then random
 * combinations against an oracle that knows only a table of facts. The oracle, the dry run and the upstream that was really called must agree.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, Reply } from '../../support/client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { full, scaled } from '../../support/scaled.js';
import { type ScriptedUpstream, startUpstream } from '../../support/scripted-upstream.js';
import { SeededRandom } from '../../support/seeded-random.js';
import {
  askedFor,
  type Cell,
  cellsOf,
  gridForms,
  gridModels,
  gridRows,
  gridSetters,
  removalOf,
  subjects,
} from './grid.js';
import { catalogueAt, expectedOutcome, facts, keyless, type Rules, randomPolicy, randomWishes } from './oracle.js';

const bench = {} as { gateway: TestGateway; upstream: ScriptedUpstream; accountId: string; key: string };
const keysByScope = new Map<string, string>();
const scopes = [null, ['good', 'worldwide'], ['silent', 'mixed', 'keyless']] as const;
/** An account for each route of the grid, because an account has few aliases. */
const keysBySubject = new Map<string, string>();

beforeAll(async () => {
  bench.upstream = await startUpstream();
  const gateway = await startGateway({ catalogue: catalogueAt(bench.upstream.url, gridModels()) });
  const { key, accountId } = await gateway.createAccount({ credit: '1000.00' });
  Object.assign(bench, { gateway, key, accountId });
  for (const scope of scopes) {
    const made = await gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'own', allowed_providers: scope });
    keysByScope.set(String(scope), made.json.token);
  }
  const alias = async (owner: string, name: string, target: string) => {
    const reply = await call('POST', '/v1/aliases', { name, target }, owner);
    expect(reply.status, reply.text).toBe(201);
  };
  await alias(key, 'auto', 'auto/meta/gated');
  await alias(key, 'pin', pinOf('meta/gated', 'good', 'defra'));
  for (const [name, { provider, creator, locode }] of Object.entries(subjects)) {
    const owner = (await gateway.createAccount()).key;
    keysBySubject.set(name, owner);
    await alias(owner, 'auto', `auto/${creator}/alone-${name}`);
    await alias(owner, 'pin', pinOf(`${creator}/alone-${name}`, provider, locode));
  }
});
afterAll(async () => {
  await bench.gateway?.stop();
  await bench.upstream?.stop();
});

const pinOf = (model: string, provider: string, locode: string) => `${provider}/${model}/${locode}`;
const call = (method: string, path: string, body: unknown, key: string) =>
  bench.gateway.call(method, path, body, { key });

async function put(path: string, body: object, key: string): Promise<void> {
  const reply = await call('PUT', path, body, key);
  expect(reply.status, reply.text).toBe(200);
}

interface Asked {
  dry: Reply['json'];
  reply: Reply;
  /** The names of the providers that were called for this request. */
  called: string[];
  sent: string;
}

/** The dry run, the request, and who was called for it: `marker` is in the request and nowhere else. */
async function ask(marker: string, body: Json, key: string): Promise<Asked> {
  const whole = { ...body, messages: [{ role: 'user', content: marker }] };
  const dry = (await call('POST', '/v1/routes/explain', whole, key)).json;
  const earlier = bench.upstream.calls.length;
  const reply = await bench.gateway.chat(whole, { key });
  const calls = bench.upstream.calls
    .slice(earlier)
    .map((one) => String(one.body))
    .filter((text) => text.includes(JSON.stringify(marker)));
  return { dry, reply, called: calls.map((text) => JSON.parse(text).model), sent: calls.join() };
}

interface Candidate {
  id: string;
  entry: string;
  verdict: string;
  gate: string | null;
}
const gatedOf = (dry: Reply['json'], except = 'keyless') =>
  (dry.candidates as Candidate[])
    .filter(({ id, verdict }) => verdict === 'gated' && !id.startsWith(`${except}/`))
    .map(({ id, gate }) => [id.split('/')[0]!, gate] as const)
    .sort();

describe('each gate alone', () => {
  const cells = gridRows
    .flatMap((row) => gridSetters.map((setBy) => cellsOf(row, setBy)))
    .filter(({ length }) => length);

  it('has a cell for every gate, state, setter and form', () => {
    const pairs = gridRows.reduce((sum, { passes, removes, account, request }) => {
      return sum + (passes.length + removes.length) * (account && request ? 3 : 1);
    }, 0);
    expect(cells.flat()).toHaveLength(pairs * gridForms.length);
  });

  /** An ordinary run tries each state of each gate and setter with two forms of an id, each time others, and LODESTONE_FULL=1 with all. */
  const isTried = (at: number, group: number) => (at + Math.floor(at / gridForms.length) + group) % 3 === 0;

  it('removes what is bad or not known, and nothing else', async () => {
    for (const [number, all] of cells.entries()) {
      const group = full ? all : all.filter((_, at) => isTried(at, number));
      const { row, setBy } = group[0]!;
      bench.upstream.calls.length = 0;
      const policy = setBy === 'request' ? {} : row.account!.policy;
      for (const subject of new Set(group.map((cell) => cell.subject)))
        await put('/v1/routing-policy', policy, keysBySubject.get(subject)!);
      await Promise.all(group.map(checkCell));
    }
  }, 600_000);

  async function checkCell(cell: Cell): Promise<void> {
    const { row, setBy, subject, form } = cell;
    const gates = `${row.account?.gate} ${row.request?.gate} ${JSON.stringify(row.request?.wishes ?? row.account?.policy)}`;
    const where = `${gates} of ${setBy}, ${subject}, ${form}`;
    const provider = setBy === 'account' ? {} : { provider: row.request!.wishes };
    const { dry, reply, called } = await ask(where, { ...askedFor(cell), ...provider }, keysBySubject.get(subject)!);
    const removal = removalOf(cell);
    const isEntry = form.startsWith('chain');
    if (isEntry && subject === 'unpriced') {
      // A model that nobody can serve is no entry of a chain in the first place.
      expect([reply.status, reply.json.error.code, called], where).toEqual([400, 'invalid_fallback_model', []]);
      return;
    }
    expect(gatedOf(dry), where).toEqual(removal ? [[subjects[subject].provider, removal.gate]] : []);
    if (removal === null && subject !== 'unpriced') {
      expect(reply.status, `${where}: ${reply.text}`).toBe(200);
      expect(called, where).toEqual([subjects[subject].provider]);
      expect(dry.would_serve, where).toBe(reply.json.router_metadata.served_model);
      return;
    }
    expect(called, where).toEqual([]);
    expect(dry.would_serve, where).toBeNull();
    expect(dry.error.error, where).toEqual(reply.json.error);
    const { code, param, message } = reply.json.error;
    if (removal === null || isEntry) {
      // The error is that of the id that comes first, or of a route that cannot be billed.
      expect([reply.status, code], where).toEqual([503, expect.not.stringContaining('policy')]);
    } else {
      expect([reply.status, code, param], where).toEqual([403, 'routing_policy_exhausted', removal.param]);
      expect(message, where).toContain(`: ${removal.gate} removed 1 route. Relax`);
    }
  }
});

/** Parts of one count, each with seeds of its own. */
const parts = 5;
describe.each(Array.from({ length: parts }, (_, part) => part))('random combinations, part %i', (part) => {
  it('oracle, dry run and real calls agree', async () => {
    const count = scaled(100, 10_000);
    for (let seed = part + 1; seed <= count; seed += parts) {
      bench.upstream.calls.length = 0;
      await checkSeed(seed);
    }
  }, 3_600_000);
});

async function checkSeed(seed: number): Promise<void> {
  const random = new SeededRandom(seed);
  const form = random.pick(gridForms);
  const pinned = random.pick(facts);
  const isPin = form.endsWith('pin');
  // A key without the provider of a pin gets another error, which is a subject of its own.
  const scope = isPin || random.chance(0.7) ? null : random.pick(scopes);
  const rules: Rules = { scope, policy: randomPolicy(random), wishes: randomWishes(random) };
  await put('/v1/routing-policy', rules.policy, bench.key);
  const pin = pinOf('meta/gated', pinned.provider, pinned.locode);
  const target = { provider: pinned.provider, canonical_id: 'meta/gated', locode: pinned.locode };
  if (isPin) await put('/v1/aliases/pin', { target }, bench.key);
  const chain = (entry: string) => ({ model: 'keyless/meta/other/defra', fallback: { models: [entry] } });
  const asked = {
    auto: { model: 'auto/meta/gated' },
    pin: { model: pin },
    'alias to auto': { model: 'alias/auto' },
    'alias to a pin': { model: 'alias/pin' },
    'chain to auto': chain(random.pick(['auto/meta/gated', 'alias/auto'])),
    'chain to a pin': chain(random.pick([pin, 'alias/pin'])),
  }[form];
  const where = `seed ${seed}, ${form}, scope ${scope}`;
  const key = keysByScope.get(String(scope))!;
  const { dry, reply, called, sent } = await ask(`marker-${seed}`, { ...asked, provider: rules.wishes }, key);
  const isEntry = form.startsWith('chain');
  const first = isEntry ? expectedOutcome(rules, keyless) : null;
  if (isEntry && scope !== null && !scope.some((one) => one === 'keyless')) {
    expect([reply.status, reply.json.error?.code, called], where).toEqual([403, 'key_scope', []]);
    return;
  }
  // A chain is not entered where the first id fails a wish.
  const isEntered = first !== null && first.served !== null;
  const expected = first !== null && !isEntered ? first : expectedOutcome(rules, isPin ? pinned : null);
  expect(gatedOf(dry, isEntered ? 'keyless' : 'nobody'), where).toEqual(expected.removed);
  if (expected.served === null) {
    expect([called, dry.would_serve], where).toEqual([[], null]);
    expect(dry.error.error, where).toEqual(reply.json.error);
    const { code, param, message } = reply.json.error;
    if (isEntered) {
      expect([reply.status, code], where).toEqual([503, 'provider_not_configured']);
      return;
    }
    expect([reply.status, code, param], where).toEqual([403, 'routing_policy_exhausted', expected.param]);
    expect(message, where).toContain(`: ${expected.counts}. Relax`);
    return;
  }
  expect(reply.status, `${where}: ${reply.text}`).toBe(200);
  const { served_model, provider, request_policy } = reply.json.router_metadata;
  expect(expected.served, where).toContain(provider);
  expect(dry.would_serve, where).toBe(served_model);
  expect(called, where).toEqual([provider]);
  expect(sent, where).not.toContain('"provider"');
  expect(request_policy, where).toBe(expected.hasWishes);
}
