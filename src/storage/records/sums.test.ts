import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { aGeneration } from '../../../tests/support/generation.js';
import { type FreshDatabase, freshDatabase } from '../../../tests/support/postgres.js';
import { scaled } from '../../../tests/support/scaled.js';
import { silentLogger as logger } from '../../base/logger.js';
import { type SettlementRow, settlementRow } from '../../domain/settlement-row.js';
import { openStore } from '../open-store.js';
import { type ReportFilter, type ReportGroup, type ReportQuery, type Store, StoreUnavailable } from '../store.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const days = 24;
const first = Date.parse('2026-03-01T00:00:00Z');
const end = first + days * dayMs;
const accounts = ['account-1', 'account-2'];
const groups: ReportGroup[] = ['key', 'project', 'model', 'provider', 'locode', 'status', 'account'];

const intensities = new Map([
  ['acme/meta/m0/defra', 380.5],
  ['acme/meta/m1/nlams', 12],
]);

let seed = 7;
const below = (limit: number): number => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed % limit;
};

let database: FreshDatabase;
let store: Store;
let client: pg.Client;
beforeAll(async () => {
  database = await freshDatabase();
  store = await openStore({ connection: database.connection, logger });
  client = new pg.Client({ ...database.connection });
  await client.connect();
  await client.query(
    `insert into lodestone.key_projects (id, project_id) values ('k1', 'proj-team'), ('k3', 'proj-other')`,
  );
  for (const id of accounts)
    await store.accounts.create({ id, email: `${id}@example.com`, name: null, billingCountry: null, createdAt: first });
  await store.ledger.settle(Array.from({ length: 400 }, () => settlementRow(generation(below(days * dayMs)))));
});
afterAll(async () => {
  await client.end();
  await store.close();
  await database.drop();
});

function generation(offsetMs: number) {
  const [model, region, key] = [`m${below(3)}`, ['defra', 'nlams'][below(2)]!, below(4)];
  const isServed = below(5) > 0;
  return aGeneration({
    ...{ accountId: accounts[below(2)]!, keyId: `k${key}`, keyName: `key ${key}`, createdAt: first + offsetMs },
    ...{ requestedModel: `auto/meta/${model}`, servedModel: isServed ? `acme/meta/${model}/${region}` : null },
    ...{ provider: isServed ? 'acme' : null, locode: isServed ? region : null, status: isServed ? 200 : 503 },
    ...{ billed: isServed, costPico: isServed ? BigInt(below(1_000_000)) : 0n, promptTokens: below(5000) },
    ...{ firstByteMs: isServed ? below(3000) + 0.5 : null },
  });
}

const filters: ReportFilter[] = [
  {},
  {},
  { model: 'meta/m1' },
  { status: 'error' },
  { served: true },
  { key: 'k2' },
  { projects: ['proj-team', 'proj-1'] },
  { projects: ['proj-team'], model: 'meta/m1' },
  { locode: 'defra', provider: 'acme' },
];

/** Periods that begin and end anywhere, with every step, filter and set of groups. */
function someQuery(): ReportQuery {
  const accountId = [null, ...accounts][below(3)]!;
  const stepMs = [hourMs, 6 * hourMs, dayMs, 7 * dayMs, 400 * dayMs][below(5)]!;
  const unit = [1, 1000, hourMs, 6 * hourMs, dayMs][below(5)]!;
  const fromMs = first + Math.floor((below(days * dayMs) * 0.6) / unit) * unit;
  const toMs = fromMs + Math.ceil(below(days * dayMs) / unit + 1) * unit;
  const chosen = groups.filter((group) => below(2) === 0 && (group !== 'account' || accountId === null));
  return {
    ...{ accountId, fromMs, toMs, stepMs, groups: chosen, filter: filters[below(filters.length)]! },
    ...{ routes: below(2) === 0, ...(below(2) === 0 && { intensities }) },
  };
}

const sorted = (rows: readonly object[]) =>
  rows.map((row) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value))).sort();

async function summedBefore(): Promise<number | null> {
  const { rows } = await client.query<{ hour: number | null }>(
    'select sums_before as hour from lodestone.records_state',
  );
  return rows[0]!.hour;
}

/** The sums are left out while nothing is said to be in them. */
async function expectSameWithoutSums(): Promise<void> {
  const hour = await summedBefore();
  expect(hour).not.toBeNull();
  const queries = Array.from({ length: scaled(10, 25) }, someQuery);
  const withSums = [];
  for (const query of queries) withSums.push(sorted(await store.usage.report(query)));
  const facets = () => Promise.all(accounts.map((account) => store.usage.facets(account, first, end)));
  const facetsWithSums = await facets();
  expect(facetsWithSums[0]!.keys.length).toBeGreaterThan(0);
  await client.query('update lodestone.records_state set sums_before = null');
  for (const [i, query] of queries.entries())
    expect(sorted(await store.usage.report(query)), JSON.stringify(query)).toEqual(withSums[i]);
  expect(await facets()).toEqual(facetsWithSums);
  await client.query('update lodestone.records_state set sums_before = $1', [hour]);
}

/** Every group of a report that is not filtered adds up to its total. */
async function expectGroupsToAddUp(): Promise<void> {
  for (const accountId of [null, ...accounts]) {
    const asked = groups.filter((group) => group !== 'account' || accountId === null);
    const query = {
      accountId,
      fromMs: first,
      toMs: end,
      stepMs: dayMs,
      groups: asked,
      filter: {},
      routes: true,
      intensities,
    };
    const rows = await store.usage.report(query);
    const sumOf = (name: string) => {
      const some = rows.filter(({ group }) => group === name);
      return [
        some.reduce((sum, { requests }) => sum + requests, 0),
        some.reduce((sum, { costPico }) => sum + costPico, 0n),
      ];
    };
    expect(sumOf('period')[0]).toBeGreaterThan(0);
    for (const name of ['step', 'route', ...asked]) expect([name, ...sumOf(name)]).toEqual([name, ...sumOf('period')]);
    expect(sumOf('step_intensity')[0]).toBe(sumOf('period')[0]);
  }
}

it('adds finished hours, and none twice', async () => {
  const { rows } = await client.query<{ hour: number }>(
    'select min(from_hour) as hour from lodestone.usage_rollups where hours = 1',
  );
  const { hour } = rows[0]!;
  // The hour lasts, has just ended, and is over.
  for (const nowMs of [(hour + 1) * hourMs - 1, (hour + 1) * hourMs]) {
    await store.records.sumHours(nowMs);
    expect(await summedBefore()).toBeNull();
  }
  await store.records.sumHours((hour + 1) * hourMs + 10 * 60_000);
  expect(await summedBefore()).toBe(hour + 1);
  while (await store.records.sumHours(first + 15 * dayMs + 5 * hourMs));
  expect(await summedBefore()).toBeGreaterThan((first + 14 * dayMs) / hourMs);
  expect((await store.records.check()).faults).toEqual([]);
});

it('gives the reports that the rollups alone give', async () => {
  await expectSameWithoutSums();
  await expectGroupsToAddUp();
});

it('reads the day that is not over once for all parts of a report, and not series by series', async () => {
  const sent = vi.spyOn(pg.Client.prototype, 'query');
  await store.usage.report({
    ...{ accountId: accounts[0]!, fromMs: first, toMs: first + 16 * dayMs, stepMs: dayMs },
    ...{ groups: ['model', 'key'], filter: {}, routes: true },
  });
  const texts = sent.mock.calls.map(([query]) => String((query as { text?: string })?.text ?? query));
  sent.mockRestore();
  const reports = texts.filter((text) => text.includes('usage_sums'));
  expect(reports).toHaveLength(1);
  expect(reports[0]!.split('lodestone.usage_rollups').length - 1).toBe(1);
});

it('takes up what is settled later for the same hours, also while hours are added', async () => {
  const late = Array.from({ length: 40 }, () => [settlementRow(generation(below(days * dayMs)))]);
  // As the settler does it: on a busy machine a call waits too long for a connection.
  const settle = async (rows: readonly SettlementRow[]): Promise<void> =>
    store.ledger.settle(rows).catch((error) => {
      if (error instanceof StoreUnavailable) return settle(rows);
      throw error;
    });
  const settled = Promise.all(late.map(settle));
  while (await store.records.sumHours(first + 20 * dayMs));
  await settled;
  expect((await store.records.check()).faults).toEqual([]);
  await expectSameWithoutSums();
  await expectGroupsToAddUp();
});

it('gives what each key has spent', async () => {
  const spent = await store.usage.spentSince(accounts[0]!, first + 3 * dayMs + 5 * hourMs + 17);
  const { rows } = await client.query<{ key_id: string; pico: string }>(
    `select key_id, sum(cost_pico) as pico from lodestone.generations where account_id = $1 and billed and created_ms >= $2 group by 1`,
    [accounts[0], first + 3 * dayMs + 5 * hourMs + 17],
  );
  expect(spent).toEqual(new Map(rows.map(({ key_id, pico }) => [key_id, BigInt(pico)])));
  expect(spent.size).toBe(4);
});

it('is checked against the rollups', async () => {
  await client.query(
    `update lodestone.usage_sums set cost_pico = cost_pico + 1 where kind = 'account_keys' and hours = 240`,
  );
  const { faults } = await store.records.check();
  await client.query(
    `update lodestone.usage_sums set cost_pico = cost_pico - 1 where kind = 'account_keys' and hours = 240`,
  );
  expect(new Set(faults.map(({ what }) => what))).toEqual(new Set(['sums of 240 hours and rollups (account keys)']));
});
