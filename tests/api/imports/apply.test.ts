import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { AdminClient } from '../../../src/cli/admin-client.js';
import { applyPlan } from '../../../src/cli/import/apply.js';
import { Plan } from '../../../src/cli/import/plan.js';
import { CommandFailure } from '../../../src/cli/io.js';
import type { Json } from '../../support/client.js';
import { adminToken } from '../../support/gateway-files.js';
import { scaled } from '../../support/scaled.js';
import { ask, useGateway } from '../harness.js';

const bench = useGateway({ config: { limits: { ip_requests_per_minute: 1_000_000 } } });
const tokenOf = (run: string, n: number) => `sk-${run}-${n}`;
const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');

/** Two organisations, and keys in teams, in an organisation and in none. `run` keeps the ids of tests apart. */
function planOf(run: string, keys = 12): Plan {
  const plan = new Plan('litellm');
  const budget = { limit_usd: '50', period: 'monthly' } as const;
  for (const n of [1, 2]) plan.accounts.push({ id: `${run}-o${n}`, alias: `${run}-o${n}`, budget, openingUsd: '1.5' });
  const limits = { requestsPerMinute: 30, tokensPerMinute: null };
  for (const n of [1, 2, 3]) {
    const account = n === 3 ? null : `${run}-o${n}`;
    plan.projects.push({ id: `${run}-t${n}`, account, name: `team ${n}`, budget, openingUsd: '0.25', ...limits });
  }
  const memberships = [{ account: `${run}-o1`, role: 'developer', projects: [`${run}-t1`] }];
  plan.people.push({ id: `${run}-u`, email: `${run}@example.com`, memberships });
  for (let n = 0; n < keys; n++) {
    const team = n % 4;
    plan.keys.push({
      ...{ id: `${run}-k${n}`, account: team === 3 ? null : `${run}-o${(team % 2) + 1}` },
      ...{ project: team === 0 ? `${run}-t1` : null, holder: team === 0 ? `${run}-u` : null, name: `key ${n}` },
      ...{ sha256: sha256(tokenOf(run, n)), lastFour: 'wxyz', expiresAt: null, disabled: n === 1 },
      ...{ limitUsd: '5', limitReset: 'daily', openingUsd: '0.5', allowedModels: null },
      ...{ requestsPerMinute: n === 2 ? 7 : null, tokensPerMinute: null },
    } as const);
  }
  return plan;
}

const connection = () => ({ url: bench.gateway.url, token: adminToken, tokenSource: 'the test' });
const optionsOf = (run: string, client = new AdminClient(connection())) => ({
  ...{ client, account: { email: `${run}@ops.example.com` }, credit: { amountUsd: '10' } },
});

/** Everything that an import has made, without ids and times. */
async function stateOf(run: string) {
  const { data: accounts } = (await bench.gateway.admin('GET', '/accounts')).json;
  const own = (accounts as { id: string; email: string }[]).filter(
    ({ email }) => email.startsWith(run) && email.endsWith('@ops.example.com'),
  );
  const plain = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll(run, 'run'), (name, inner) =>
      ['id', 'created_at', 'project', 'holder', 'last_used_at'].includes(name) &&
      typeof inner === 'string' &&
      !inner.startsWith('run')
        ? undefined
        : inner,
    );
  const list = async (id: string, what: string) =>
    ((await bench.gateway.admin('GET', `/accounts/${id}/${what}`)).json.data as (Json & { projects?: string[] })[])
      .map(({ projects, ...each }) => plain({ ...each, projects: projects?.length }))
      .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return Promise.all(
    own.map(async ({ id, ...account }) => ({
      account: plain(account),
      projects: await list(id, 'projects'),
      members: await list(id, 'members'),
      keys: await list(id, 'keys'),
      ledger: await list(id, 'ledger'),
    })),
  );
}

/** Ends the work at its nth call, before the gateway has it or when it has answered. */
class DyingClient extends AdminClient {
  calls = 0;
  constructor(
    private readonly dieAt: number,
    private readonly isAnswered: boolean,
  ) {
    super(connection());
  }
  override async call<T>(...sent: Parameters<AdminClient['call']>): Promise<T> {
    const dies = ++this.calls >= this.dieAt;
    if (dies && !this.isAnswered) throw new CommandFailure('killed');
    const answer = await super.call<T>(...sent);
    if (dies) throw new CommandFailure('killed');
    return answer;
  }
}

describe('an import that is applied', () => {
  it('makes accounts with credit and budgets, projects, people and keys that work, each with its source', async () => {
    const applied = await applyPlan(planOf('first'), optionsOf('first'));
    expect(applied.made).toEqual({ accounts: 3, projects: 3, people: 1, keys: 12 });
    const state = await stateOf('first');
    expect(state.map(({ account }) => account.email)).toEqual([
      'run@ops.example.com',
      'run+run-o1@ops.example.com',
      'run+run-o2@ops.example.com',
    ]);
    expect(state[1]).toMatchObject({
      account: { balance_usd: '10', budget: { limit_usd: '50' }, imported_from: { system: 'litellm', id: 'run-o1' } },
      members: [{ email: 'run@example.com', role: 'developer', imported_from: { system: 'litellm', id: 'run-u' } }],
    });
    const team = state[1]!.projects.find(({ name }: Json) => name === 'team 1');
    expect(team).toMatchObject({ spent_usd: '0.25', requests_per_minute: 30, imported_from: { id: 'run-t1' } });
    const key = state[1]!.keys.find(({ name }: Json) => name === 'key 0');
    expect(key).toMatchObject({ usage_usd: '0.5', limit_usd: '5', expires_at: null, imported_from: { id: 'run-k0' } });
    expect((await bench.gateway.chat(ask(), { key: tokenOf('first', 0) })).status).toBe(200);
    const disabled = await bench.gateway.chat(ask(), { key: tokenOf('first', 1) });
    expect([disabled.status, disabled.json.error.code]).toEqual([401, 'api_key_disabled']);
  });

  it('a second run leaves everything as it is, and says what differs from the source by then', async () => {
    await applyPlan(planOf('twice', 210), optionsOf('twice'));
    const before = await stateOf('twice');
    const changed = planOf('twice', 210);
    changed.keys[0] = { ...changed.keys[0]!, limitUsd: '6' };
    const { made, there, differing } = await applyPlan(changed, optionsOf('twice'));
    expect([made.keys, there, differing.keys]).toEqual([0, { accounts: 3, projects: 3, people: 1, keys: 210 }, 1]);
    expect(await stateOf('twice')).toEqual(before);
    const others: Partial<Plan['keys'][number]>[] = [
      { expiresAt: '2099-01-01T00:00:00Z' },
      { project: null },
      { holder: null },
      { lastFour: 'abcd', sha256: sha256('another token') },
    ];
    for (const other of others) {
      changed.keys[0] = { ...planOf('twice').keys[0]!, ...other };
      expect((await applyPlan(changed, optionsOf('twice'))).differing.keys, JSON.stringify(other)).toBe(1);
    }
    changed.people[0] = {
      ...changed.people[0]!,
      memberships: [{ ...changed.people[0]!.memberships[0]!, projects: null }],
    };
    changed.keys[0] = planOf('twice').keys[0]!;
    const { differing: last } = await applyPlan(changed, optionsOf('twice'));
    expect(last).toEqual({ accounts: 0, projects: 0, people: 1, keys: 0 });
    expect(await stateOf('twice')).toEqual(before);
  });

  it('that ends at any call and is run again leaves the state of one that did not', async () => {
    const whole = new DyingClient(Number.POSITIVE_INFINITY, true);
    await applyPlan(planOf('whole'), optionsOf('whole', whole));
    const expected = await stateOf('whole');
    for (let dieAt = 1; dieAt <= whole.calls; dieAt += scaled(8, 1)) {
      for (const isAnswered of [false, true]) {
        const run = `dies${dieAt}${isAnswered ? 'late' : 'early'}`;
        await expect(applyPlan(planOf(run), optionsOf(run, new DyingClient(dieAt, isAnswered)))).rejects.toThrow(
          'killed',
        );
        await applyPlan(planOf(run), optionsOf(run));
        expect(await stateOf(run), run).toEqual(expected);
      }
    }
  });

  it('stops before the first call where an account of that address is there already, or no such account', async () => {
    await bench.gateway.admin('POST', '/accounts', { email: 'taken+taken-o2@ops.example.com' });
    await expect(applyPlan(planOf('taken'), optionsOf('taken'))).rejects.toThrow('Nothing was changed');
    expect(await stateOf('taken')).toHaveLength(1);
    const { client, credit } = optionsOf('nobody');
    const account = { id: 'acct-nobody' };
    await expect(applyPlan(planOf('nobody'), { client, credit, account })).rejects.toThrow('acct-nobody');
  });

  it('a token that another key has stays where it is, which is said', async () => {
    const plan = planOf('known');
    const { accountId } = await bench.gateway.account();
    const body = { name: 'mine', token_sha256: plan.keys[4]!.sha256 };
    await bench.gateway.admin('POST', `/accounts/${accountId}/keys`, body);
    const { made, remarks } = await applyPlan(plan, optionsOf('known'));
    expect([made.keys, remarks]).toEqual([11, [expect.stringContaining('"key 4"')]]);
  });

  it('names that the gateway does not have end it before the first call', async () => {
    const plan = planOf('names');
    plan.names.set('gpt-4o', { model: 'auto/meta/llama' });
    await expect(applyPlan(plan, optionsOf('names'))).rejects.toThrow('such as the name "gpt-4o"');
    expect(await stateOf('names')).toEqual([]);
  });

  it('names, routes and providers that the gateway has otherwise end it before the first call', async () => {
    const definition = { model: 'auto/meta/llama', provider: { only: ['acme'] } };
    await bench.gateway.admin('PUT', '/names/narrow', definition);
    const route = { provider: 'acme', locode: 'defra' };
    const faults: [words: string, (plan: Plan) => unknown][] = [
      ['the name "narrow"', ({ names }) => names.set('narrow', { model: 'auto/meta/llama' })],
      [
        'the route "acme/meta/new/defra"',
        ({ catalogue }) => catalogue.models.push({ creator: 'meta', model: 'new', routes: [route] }),
      ],
      [
        'the route "acme-2/meta/llama/defra"',
        ({ catalogue }) => catalogue.routes.push({ ...route, model: 'meta/llama', provider: 'acme-2' }),
      ],
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
      ['the provider "openai-2"', ({ providers }) => providers.set('openai-2', { api_key: '${A}' })],
      [
        'the key "A" of the provider "acme"',
        ({ providers }) => {
          const keys = ['A', 'B'].map((name) => ({ name, api_key: name }));
          providers.set('acme', { keys });
        },
      ],
    ];
    for (const [words, add] of faults) {
      const plan = planOf('otherwise');
      add(plan);
      await expect(applyPlan(plan, optionsOf('otherwise')), words).rejects.toThrow(words);
    }
    expect(await stateOf('otherwise')).toEqual([]);
    const plan = planOf('otherwise');
    plan.names.set('narrow', definition);
    plan.catalogue.routes.push({ ...route, model: 'meta/llama' });
    plan.providers.set('acme', {});
    // The variable is absent, which the gateway takes as not configured.
    plan.providers.set('keyless', { api_key: `\${KEYLESS_API_KEY}` });
    const { made, remarks } = await applyPlan(plan, optionsOf('otherwise'));
    expect([made.keys, remarks]).toEqual([12, [expect.stringContaining(`set \${KEYLESS_API_KEY} in its environment`)]]);
  });
});
