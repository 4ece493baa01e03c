/** The reports, lists of requests and the audit log behind the pages, against `/v1/activity` and the records. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Json, TestAccount } from '../../support/client.js';
import { DashboardClient } from '../../support/dashboard-client.js';
import { completion, json, slowBody } from '../../support/scripted-upstream.js';
import { ask, useGateway } from '../harness.js';

const bench = useGateway();
const password = 'correct horse 77';
let client: DashboardClient;
let account: TestAccount;
let generations: Json[];

const sums = ['requests', 'errors', 'prompt_tokens', 'completion_tokens', 'cached_tokens'] as const;
const added = (rows: Json[]) => sums.map((name) => rows.reduce((sum, row) => sum + Number(row[name]), 0));
const picoOf = (rows: Json[], name: string) =>
  rows.reduce((sum, row) => sum + BigInt(Math.round(Number(row[name]) * 1e12)), 0n);
const get = async (path: string) => (await client.call('GET', path)).json;

beforeAll(async () => {
  const { gateway, upstream } = bench;
  account = await gateway.createAccount({ name: 'first' });
  const path = `/accounts/${account.accountId}`;
  await gateway.admin('PUT', `${path}/password`, { password });
  await gateway.admin('PATCH', path, { operator: true });
  const second = (await gateway.admin('POST', `${path}/keys`, { name: 'second' })).json.token;
  for (let count = 0; count < 12; count++) {
    const model = count % 2 === 0 ? 'acme/meta/llama' : 'acme/meta/free/defra';
    if (count % 4 === 3) upstream.enqueue(json({ error: { message: 'no' } }, { status: 400 }));
    await gateway.chat(ask({ model }), { key: count % 3 === 0 ? second : account.key });
  }
  const list = await gateway.call('GET', '/v1/generations?limit=100', undefined, { key: account.key });
  generations = list.json.data;
  client = new DashboardClient(gateway.url);
  const owner = (await gateway.admin('GET', path)).json.email;
  expect((await client.call('POST', 'sign-in', { email: owner, password })).status).toBe(200);
});

describe('usage/report', () => {
  it.each(['key', 'model', 'provider', 'locode', 'status'])(
    'by %s: members and steps are the total of the records',
    async (by) => {
      const report = await get(`usage/report?by=${by}&compare=previous`);
      expect(report.totals.requests).toBe(generations.length);
      expect(added(report.groups[by])).toEqual(added([report.totals]));
      expect(added(report.series)).toEqual(added([report.totals]));
      expect(picoOf(report.groups[by], 'spend_usd')).toBe(picoOf(generations, 'cost_usd'));
      expect(report.previous).toMatchObject({ requests: 0, spend_usd: '0' });
      const activity = await get(`v1/activity?from=${report.from}&to=${report.to}&group_by=${by}`);
      expect(added([report.totals])).toEqual(added([activity.total]));
      // A report counts what nobody served at the model that was asked for.
      const ids = new Set(
        (activity.data as Json[]).map(({ group }) => group).filter((id) => by !== 'model' || id !== null),
      );
      const silent = (report.groups[by] as Json[]).filter(({ requests }) => requests === 0);
      expect(new Set((report.groups[by] as Json[]).filter((row) => !silent.includes(row)).map(({ id }) => id))).toEqual(
        ids,
      );
    },
  );

  it('filters as the list of requests does', async () => {
    for (const filter of [
      'key=second',
      'status=error',
      'status=400',
      'served=no',
      'model=meta/llama',
      'for_model=meta/llama',
      'provider=acme',
      'locode=defra',
      'key=second&status=ok',
    ]) {
      const { totals } = await get(`usage/report?${filter}`);
      const { data } = await get(`usage/requests?limit=100&${filter}`);
      expect([filter, totals.requests]).toEqual([filter, data.length]);
      expect(picoOf([totals], 'spend_usd')).toBe(picoOf(data, 'cost_usd'));
      expect(data.length).toBeGreaterThan(0);
    }
  });

  it('has the grid intensity of each step only where it is asked for, and of no earlier period', async () => {
    const plain = await get('usage/report?compare=previous');
    const asked = await get('usage/report?compare=previous&carbon=steps');
    for (const { totals, previous } of [plain, asked]) {
      expect(totals.carbon_requests).toBeGreaterThan(0);
      expect(previous).not.toHaveProperty('carbon');
    }
    for (const step of plain.series as Json[]) expect(step).not.toHaveProperty('carbon');
    const known = (asked.series as Json[]).reduce((sum, step) => sum + Number(step.carbon_requests), 0);
    expect(known).toBe(asked.totals.carbon_requests);
  });

  it('shows a provider the requests that it failed and nobody served', async () => {
    const { groups, totals } = await get('usage/report?by=provider');
    const acme = (groups.provider as Json[]).find(({ id }) => id === 'acme')!;
    expect(acme).toMatchObject({ errors: 0, failed_attempts: totals.errors });
    expect((groups.provider as Json[]).find(({ id }) => id === null)).toMatchObject({
      name: 'Not served',
      errors: totals.errors,
    });
  });

  it.each(['by=account', 'by=door', 'from=2026-02-02&to=2026-02-01', 'from=2020-01-01', 'served=maybe', 'carbon=all'])(
    '%s: 400',
    async (query) => {
      expect((await client.call('GET', `usage/report?${query}`)).status).toBe(400);
    },
  );

  it('operators read all accounts, or one of them', async () => {
    const all = await get('operator/report?by=account');
    expect(added(all.groups.account)).toEqual(added([all.totals]));
    const one = await get(`operator/report?account=${account.accountId}`);
    expect(one.totals.requests).toBe(generations.length);
    expect((await get('operator/report?account=acct-none')).totals.requests).toBe(0);
  });
});

describe('lists of requests', () => {
  it.each([
    ['oldest', (row: Json) => Date.parse(String(row.created_at))],
    ['cost', (row: Json) => -Number(row.cost_usd)],
    ['latency', (row: Json) => -Number(row.latency_ms)],
    ['tokens', (row: Json) => -Number(row.prompt_tokens) - Number(row.completion_tokens)],
  ])('sort=%s', async (sort, figure) => {
    const { data } = await get(`usage/requests?limit=100&sort=${sort}`);
    const figures = (data as Json[]).map(figure);
    expect(figures).toEqual([...figures].sort((a, b) => a - b));
    expect(data).toHaveLength(generations.length);
  });

  it('an operator reads the requests of an account, and one by either of its ids', async () => {
    const { data } = await get(`operator/requests?account=${account.accountId}&limit=100`);
    expect((data as Json[]).map(({ id }) => id)).toEqual(generations.map(({ id }) => id));
    const { id, request_id: requestId } = generations[0]!;
    for (const name of [id, requestId]) {
      expect((await get(`operator/requests/${name}?account=${account.accountId}`)).data.id).toBe(id);
      const own = await bench.gateway.call('GET', `/v1/generation/${name}`, undefined, { key: account.key });
      expect(own.json.data.id).toBe(id);
    }
    const other = await bench.gateway.createAccount({ name: 'other' });
    for (const name of [id, requestId]) {
      const reply = await bench.gateway.call('GET', `/v1/generation/${name}`, undefined, { key: other.key });
      expect(reply.status).toBe(404);
    }
    expect((await client.call('GET', 'operator/requests?account=acct-none')).status).toBe(404);
    const found = await bench.gateway.call('GET', `/v1/generations?request_id=${requestId}`, undefined, {
      key: account.key,
    });
    expect(found.json.data.map((row: Json) => row.id)).toEqual([id]);
  });

  it('first_byte_ms is from arrival to the first byte for the caller; an attempt has the provider’s', async () => {
    const { gateway, upstream } = bench;
    // The provider begins at once and takes its time: the caller gets the whole answer after its last byte.
    upstream.enqueue(slowBody(completion(), { pieceBytes: 32, gapMs: 60 }));
    const reply = await gateway.chat(ask(), { key: account.key });
    const { data } = (
      await gateway.call('GET', `/v1/generation/${reply.headers['x-request-id']}`, undefined, { key: account.key })
    ).json;
    expect(data.status).toBe(200);
    expect(data.first_byte_ms).toBeGreaterThan(data.attempts[0].first_byte_ms + 200);
    expect(data.latency_ms).toBeGreaterThanOrEqual(data.first_byte_ms);
  });
});

describe('operator/audit-log', () => {
  it('names accounts and keys, filters, and pages', async () => {
    const { data } = await get('operator/audit-log?action=key&limit=1000');
    const entry = (data as Json[]).find(({ subject_name: name }) => name === 'second')!;
    expect(entry).toMatchObject({ action: 'key.create', actor: 'operator', account_id: account.accountId });
    expect(entry.account_name).toMatch(/@/);
    expect(new Set((data as Json[]).map(({ action }) => String(action).split('.')[0]))).toEqual(new Set(['key']));
    await client.call('POST', 'invitations', { email: 'new@example.test', role: 'auditor', projects: null });
    const [made] = (await get('operator/audit-log?action=invitation.create')).data as Json[];
    expect([made!.actor, made!.actor_name]).toEqual([expect.stringMatching(/^person:per-/), entry.account_name]);
    const first = await get('operator/audit-log?limit=1');
    const next = await get(`operator/audit-log?limit=1&after=${first.data[0].id}`);
    expect([first.has_more, next.data[0].id < first.data[0].id]).toEqual([true, true]);
    expect((await get('operator/audit-log?actor=system')).data.every(({ actor }: Json) => actor === 'system')).toBe(
      true,
    );
  });
});
