import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Json, TestAccount } from '../../support/client.js';
import { json } from '../../support/scripted-upstream.js';
import { SeededRandom } from '../../support/seeded-random.js';
import { ask, useGateway } from '../harness.js';

const bench = useGateway();
let account: TestAccount;
let generations: Json[];
let twinId: string;

const activity = (query = '') => bench.gateway.call('GET', `/v1/activity${query}`, undefined, { key: account.key });
const sums = ['requests', 'errors', 'prompt_tokens', 'completion_tokens', 'cached_tokens'] as const;
const picoOf = (usd: unknown) => BigInt(Math.round(Number(usd) * 1e12));
const added = (rows: Json[]) => [
  ...sums.map((name) => rows.reduce((sum, row) => sum + Number(row[name]), 0)),
  rows.reduce((sum, row) => sum + picoOf(row.cost_usd), 0n),
];

beforeAll(async () => {
  const { gateway, upstream } = bench;
  account = await gateway.createAccount({ name: 'first' });
  const second = (await gateway.admin('POST', `/accounts/${account.accountId}/keys`, { name: 'second' })).json.token;
  const twin = (await gateway.admin('POST', `/accounts/${account.accountId}/keys`, { name: 'second' })).json;
  twinId = twin.id;
  await gateway.chat(ask(), { key: twin.token });
  const random = new SeededRandom(5);
  for (let count = 0; count < 20; count++) {
    const model = random.next() < 0.5 ? 'acme/meta/llama' : 'acme/meta/free/defra';
    if (random.next() < 0.3) upstream.enqueue(json({ error: { message: 'no' } }, { status: 400 }));
    await gateway.chat(ask({ model }), { key: random.next() < 0.4 ? second : account.key });
  }
  const list = await gateway.call('GET', '/v1/generations?limit=100', undefined, { key: account.key });
  generations = list.json.data;
});

describe('GET /v1/activity', () => {
  it('by key: keys of one name are two groups, told apart by their ids', async () => {
    const { json: answer } = await activity('?group_by=key');
    const groups = answer.data.map(({ group, requests }: Json) => [group, requests]);
    expect(groups).toHaveLength(3);
    expect(groups).toContainEqual([`second (${twinId})`, 1]);
    expect(groups.map(([group]: [string]) => group.replace(/ \(.*/, '')).sort()).toEqual(['first', 'second', 'second']);
  });

  it('by key: one that was renamed within the hour has the name that it has', async () => {
    const { gateway } = bench;
    for (const [before, after] of [
      ['a', 'z'],
      ['z', 'a'],
    ]) {
      const { accountId, key, keyId } = await gateway.createAccount({ name: before! });
      expect((await gateway.chat(ask(), { key })).status).toBe(200);
      const path = `/accounts/${accountId}/keys/${keyId}`;
      expect((await gateway.admin('PATCH', path, { name: after })).status).toBe(200);
      expect((await gateway.chat(ask(), { key })).status).toBe(200);
      const { data } = (await gateway.call('GET', '/v1/activity?group_by=key', undefined, { key })).json;
      expect(data.map(({ group, requests }: Json) => [group, requests])).toEqual([[after, 2]]);
    }
  });

  it.each(['', 'key', 'project', 'holder', 'end_user', 'model', 'provider', 'locode', 'status'])(
    'by "%s": the rows are the total, and the total is the records',
    async (group) => {
      const { status, json: answer } = await activity(group && `?group_by=${group}`);
      expect([status, answer.object, Object.keys(answer)]).toEqual([200, 'list', ['object', 'data', 'total']]);
      expect(added(answer.data)).toEqual(added([answer.total]));
      expect(answer.total.requests).toBe(generations.length);
      expect(answer.total.errors).toBe(generations.filter((row) => Number(row.status) >= 400).length);
      expect(picoOf(answer.total.cost_usd)).toBe(generations.reduce((sum, row) => sum + picoOf(row.cost_usd), 0n));
      expect(Object.keys(answer.data[0])).toEqual(['interval', 'group', ...Object.keys(answer.total)]);
      const failed = answer.data
        .filter((row: Json) => row.group === null)
        .reduce((sum: number, row: Json) => sum + Number(row.requests), 0);
      if (['model', 'provider', 'locode'].includes(group))
        expect(failed).toBe(generations.filter((row) => row.provider === null).length);
    },
  );

  it('includes `from` and excludes `to`, to the millisecond', async () => {
    const times = generations.map((row) => Date.parse(String(row.created_at))).sort((a, b) => a - b);
    const [from, to] = [times[4]!, times[12]!];
    const expected = times.filter((time) => time >= from && time < to).length;
    const query = `?interval=hour&from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;
    expect((await activity(query)).json.total.requests).toBe(expected);
    expect((await activity('?from=2020-01-01&to=2020-02-01')).json).toMatchObject({
      data: [],
      total: { requests: 0, cost_usd: '0' },
    });
  });

  it.each(['?interval=week', '?group_by=account', '?from=soon', '?from=2026-02-30', '?from=2026-02-01&to=2026-01-01'])(
    '%s: 400',
    async (query) => {
      const { status, json: answer } = await activity(query);
      expect([status, answer.error.code]).toEqual([400, 'invalid_request_error']);
    },
  );

  it('a query that is too slow is a 500 that says what to narrow, not that the store is away', async () => {
    const client = new pg.Client(bench.gateway.files.databaseUrl!);
    await client.connect();
    // Somebody else has the rollups, so that the query waits for longer than it may.
    await client.query('begin; lock table lodestone.usage_rollups in access exclusive mode');
    const { status, json: answer } = await activity();
    await client.query('rollback');
    await client.end();
    expect([status, answer.error.code]).toEqual([500, 'api_error']);
    expect(answer.error.message).toMatch(/took longer than 5 seconds\. Narrow it: .*\(from, to\)/);
    expect((await activity()).status).toBe(200);
  }, 60_000);

  it('shows an operator all accounts, and needs a key or the admin token', async () => {
    const all = (await bench.gateway.admin('GET', '/activity?group_by=account')).json;
    expect(added(all.data)).toEqual(added([all.total]));
    expect(all.data.find((row: Json) => row.group === account.accountId).requests).toBe(generations.length);
    expect((await bench.gateway.call('GET', '/v1/activity', undefined, { key: null })).status).toBe(401);
  });
});

describe('the stored records', () => {
  it('agree, and nothing is pruned where everything is kept', async () => {
    expect((await bench.gateway.admin('GET', '/storage/check')).json).toMatchObject({ ok: true, faults: [] });
    const pruned = await bench.gateway.admin('POST', '/storage/prune', { dry_run: true });
    expect(pruned.json).toEqual({ object: 'storage_prune', dry_run: true, retention: null, months: [] });
  });

  it('are exported line by line, in every format', async () => {
    const { gateway } = bench;
    const lines = (await gateway.admin('GET', `/export/generations?account=${account.accountId}`)).text
      .trim()
      .split('\n');
    expect(lines.map((line) => JSON.parse(line).id).sort()).toEqual(generations.map(({ id }) => id).sort());
    const csv = (await gateway.admin('GET', '/export/ledger?format=csv')).text;
    expect(csv.split('\n')[0]).toBe('id,created_at,kind,amount_usd,balance_usd,generation_id,note,account_id');
    expect((await gateway.admin('GET', '/export/audit?format=parquet')).text.startsWith('PAR1')).toBe(true);
    expect((await gateway.admin('GET', '/export/audit?format=xml')).status).toBe(400);
    expect((await gateway.admin('GET', '/export/everything')).status).toBe(404);
  });

  it('have every field of a generation in the export', async () => {
    const { gateway } = bench;
    const [line] = (await gateway.admin('GET', `/export/generations?account=${account.accountId}`)).text.split('\n');
    const exported = JSON.parse(line!);
    const shown = (await gateway.call('GET', `/v1/generation/${exported.id}`, undefined, { key: account.key })).json
      .data;
    const asText = (value: unknown) => (value !== null && typeof value === 'object' ? JSON.stringify(value) : value);
    const { providers_attempted: providers, ...rest } = shown;
    const expected = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, asText(value)]));
    expect(exported).toMatchObject({ ...expected, providers_attempted: providers });
    expect(JSON.parse(exported.usage)).toEqual(shown.usage);
  });

  it.each([
    ['after=nope', 400, 'after', '`since`'],
    ['account=nope', 400, 'account', '"nope"'],
    ['since=2026-02-02&until=2026-02-01', 400, 'since', '`until`'],
  ])('are not exported with %s', async (query, status, param, words) => {
    for (const kind of ['generations', 'ledger', 'audit']) {
      const refused = await bench.gateway.admin('GET', `/export/${kind}?${query}`);
      expect([kind, refused.status, refused.json.error.param]).toEqual([kind, status, param]);
      expect(refused.json.error.message).toContain(words);
    }
  });

  it('go on after a line, also of the ledger and of the audit', async () => {
    for (const kind of ['generations', 'ledger', 'audit']) {
      const read = async (query: string) =>
        (await bench.gateway.admin('GET', `/export/${kind}${query}`)).text.split('\n').slice(0, -1);
      const all = await read('');
      const after = JSON.parse(all[1]!).id;
      expect([kind, await read(`?after=${after}`)]).toEqual([kind, all.slice(2)]);
    }
  });

  it('have the changes of keys and of the account itself in the audit of an account', async () => {
    const [head, ...lines] = (await bench.gateway.admin('GET', `/export/audit?account=${account.accountId}`)).text
      .trim()
      .split('\n');
    expect(JSON.parse(head!).type).toBe('lodestone-audit-export/1');
    const actions = lines.map((line) => JSON.parse(line).action);
    expect(actions).toEqual(expect.arrayContaining(['account.create', 'key.create']));
    const other = lines.filter((line) => !line.includes(account.accountId));
    expect(other).toEqual([]);
  });
});
