import { text } from 'node:stream/consumers';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aGeneration } from '../../../tests/support/generation.js';
import { type FreshDatabase, freshDatabase } from '../../../tests/support/postgres.js';
import { scaled } from '../../../tests/support/scaled.js';
import { SeededRandom } from '../../../tests/support/seeded-random.js';
import { silentLogger as logger } from '../../base/logger.js';
import type { Generation } from '../../domain/generation.js';
import { settlementRow } from '../../domain/settlement-row.js';
import { openStore } from '../open-store.js';
import type { ActivityFigures, ActivityGroup, Store } from '../store.js';

const start = Date.parse('2026-02-26T00:00:00Z');
const days = 6;
const hourMs = 3_600_000;
const accounts = ['account-1', 'account-2'];
const unserved = 'account-3';
const groups: ActivityGroup[] = ['key', 'project', 'model', 'provider', 'locode', 'status', 'account'];

let database: FreshDatabase;
let store: Store;
let client: pg.Client;
let rows: Generation[];
const seeded = new SeededRandom(11);
const pick = <T>(...values: T[]) => values[Math.floor(seeded.next() * values.length)]!;

beforeAll(async () => {
  database = await freshDatabase();
  store = await openStore({ connection: database.connection, logger });
  client = new pg.Client({ ...database.connection });
  await client.connect();
  await client.query(`insert into lodestone.key_projects (id, project_id) values ('k1', 'proj-team')`);
  for (const id of [...accounts, unserved]) {
    const person = { email: `${id}@example.com`, name: null, billingCountry: null };
    await store.accounts.create({ id, ...person, createdAt: start });
    const entry = { kind: 'credit' as const, generationId: null, note: null, createdAt: start };
    await store.ledger.post({ ...entry, id: `led-${id}`, accountId: id, amountPico: 10n ** 12n });
  }
  rows = Array.from({ length: 300 }, someGeneration);
  rows.push(aGeneration({ accountId: unserved, createdAt: start, status: 503, billed: false, costPico: 0n }));
  for (let at = 0; at < rows.length; at += 50) await store.ledger.settle(rows.slice(at, at + 50).map(settlementRow));
});
afterAll(async () => {
  await client.end();
  await store.close();
  await database.drop();
});

/** Over six days around the end of February: served, failed, cut, with odd names. */
function someGeneration(): Generation {
  const served = pick('acme/meta/llama/defra', 'zeta/meta/llama/global', 'acme/openai/gpt/usnyc', null);
  const [provider = null, , , locode = null] = served?.split('/') ?? [];
  const tokens = () => Math.floor(seeded.next() * 1000);
  return aGeneration({
    accountId: pick(...accounts),
    createdAt: start + Math.floor(seeded.next() * days * 24 * hourMs),
    requestedModel: pick('auto/meta/llama', 'alias/f\u00e4st\ttab', 'acme/openai/gpt'),
    ...{ servedModel: served, provider, locode, keyName: pick('a "b"\\', 'b'), keyId: pick('k1', 'k2') },
    status: served === null ? pick(503, 400, 499) : 200,
    streamEnd: served === null ? null : pick('complete', 'cut', 'client_closed'),
    errorCode: served === null ? 'provider_error' : null,
    billed: served !== null,
    costPico: served === null ? 0n : BigInt(Math.floor(seeded.next() * 1e9)),
    firstByteMs: pick(null, Math.round(seeded.next() * 1000)),
    ...{ promptTokens: tokens(), completionTokens: tokens(), cachedTokens: tokens(), latencyMs: tokens() / 2 },
  });
}

const sumsOf = ({ requests, errors, promptTokens, completionTokens, cachedTokens, costPico }: ActivityFigures) => [
  ...[requests, errors, promptTokens, completionTokens, cachedTokens, costPico],
];
const added = (all: ActivityFigures[]) =>
  all
    .map(sumsOf)
    .reduce((sum, one) => sum.map((value, i) => (value as number) + (one[i] as number)), [0, 0, 0, 0, 0, 0n]);

function expectedOf(accountId: string | null, fromMs: number, toMs: number, isMine = (_: Generation) => true) {
  const isAsked = (row: Generation) => (accountId === null || row.accountId === accountId) && isMine(row);
  const mine = rows.filter((row) => isAsked(row) && row.createdAt >= fromMs && row.createdAt < toMs);
  const sum = (read: (row: Generation) => number) => mine.reduce((total, row) => total + read(row), 0);
  const failed = (row: Generation) => (row.status >= 400 && row.status !== 499) || row.streamEnd === 'cut';
  return [
    ...[mine.length, mine.filter(failed).length, sum((row) => row.promptTokens), sum((row) => row.completionTokens)],
    ...[sum((row) => row.cachedTokens), mine.reduce((total, row) => total + row.costPico, 0n)],
  ];
}

it('sums by project are those of its keys, and only those of the projects that are asked for', async () => {
  const period = { accountId: null, fromMs: start, toMs: start + days * 24 * hourMs, interval: 'day' } as const;
  const isTeam = ({ keyId }: Generation) => keyId === 'k1';
  const team = await store.usage.activity({ ...period, groupBy: 'project', projects: ['proj-team'] });
  expect(sumsOf(team.total)).toEqual(expectedOf(null, period.fromMs, period.toMs, isTeam));
  expect(new Set(team.rows.map(({ group }) => group))).toEqual(new Set(['proj-team']));
  const all = await store.usage.activity({ ...period, groupBy: 'project' });
  const default1 = all.rows.filter(({ group }) => group === 'proj-account-1');
  const isDefault1 = (row: Generation) => row.accountId === 'account-1' && !isTeam(row);
  expect(added(default1)).toEqual(expectedOf(null, period.fromMs, period.toMs, isDefault1));
});

async function expectExact(): Promise<void> {
  const periods = Array.from({ length: 2 }, () => {
    const fromMs = start + Math.floor(seeded.next() * 4 * 24 * hourMs);
    return [fromMs, fromMs + Math.floor(seeded.next() * 3 * 24 * hourMs)] as const;
  });
  for (const [fromMs, toMs] of [
    ...periods,
    [start, start + days * 24 * hourMs] as const,
    [start + 5, start + 90_000] as const,
  ]) {
    for (const groupBy of [null, pick(...groups), pick(...groups)]) {
      const query = {
        accountId: pick(null, ...accounts),
        fromMs,
        toMs,
        interval: pick('hour' as const, 'day' as const),
        groupBy,
      };
      const { rows: found, total } = await store.usage.activity(query);
      expect(sumsOf(total)).toEqual(expectedOf(query.accountId, fromMs, toMs));
      expect(added(found)).toEqual(sumsOf(total));
    }
  }
}

const clean = { accounts: 3, faults: [] };

describe('rollups', () => {
  it('give sums that are exact to the millisecond, and groups that add up to the total', expectExact);

  it('agree with generations, ledger and balances', async () => {
    expect(await store.records.check()).toEqual({ ...clean, generations: 301 });
  });

  it('take up what an older version has written, before they are shown', async () => {
    const older = Array.from({ length: 40 }, someGeneration);
    await store.ledger.settle(older.map(settlementRow));
    const ids = older.map(({ id }) => id);
    // As an older version leaves them: written, and in no rollup.
    await client.query('delete from lodestone.usage_rollups; delete from lodestone.project_days');
    await client.query('update lodestone.generations set rolled_up = false');
    rows.push(...older);
    expect(ids).toHaveLength(40);
    await expectExact();
    expect((await store.records.check()).faults).toEqual([]);
  });

  it('take up what was there before them, part by part, and are exact in between', async () => {
    await client.query('delete from lodestone.usage_rollups; delete from lodestone.project_days');
    await client.query('update lodestone.generations set rolled_up = null');
    await client.query('update lodestone.records_state set backfill_before_ms = 9007199254740991');
    await expectExact();
    for (let part = 0; await store.records.backfill(start + (days + 1) * 24 * hourMs); part++) {
      if (part % scaled(36, 12) === 5) await expectExact();
      expect(part).toBeLessThan(200);
    }
    await expectExact();
    expect((await store.records.check()).faults).toEqual([]);
  });
});

describe('the check', () => {
  it.each([
    ['balance', 'update lodestone.accounts set balance_pico = balance_pico + $1'],
    ['usage of the account', 'update lodestone.accounts set usage_pico = usage_pico + $1'],
    ['rollups and generations', 'update lodestone.generations set prompt_tokens = prompt_tokens + $1'],
    ['rollups by hour and by day', 'update lodestone.usage_rollups set requests = requests + $1 where hours = 24'],
  ])('names a fault of the %s', async (what, sql) => {
    await client.query(sql, [1]);
    const { faults } = await store.records.check();
    await client.query(sql, [-1]);
    expect(faults.length).toBeGreaterThan(0);
    expect(faults[0]!.what).toContain(what);
    expect((await store.records.check()).faults).toEqual([]);
  });
});

describe('the export', () => {
  it('has every generation once, also when it goes on after the first ones', async () => {
    const lines = (await text(await store.records.export({ kind: 'generations', format: 'ndjson' })))
      .trim()
      .split('\n');
    const all = lines.map((line) => JSON.parse(line));
    expect(all.map(({ id }) => id).sort()).toEqual(rows.map(({ id }) => id).sort());
    const row = rows.find(({ id }) => id === all[0].id)!;
    expect(all[0]).toMatchObject({
      requested_model: row.requestedModel,
      key_name: row.keyName,
      attempts: JSON.stringify(row.attempts),
    });
    const after = all[99].id;
    const rest = (await text(await store.records.export({ kind: 'generations', format: 'ndjson', after })))
      .trim()
      .split('\n');
    expect(rest).toEqual(lines.slice(100));
    const [fromMs, toMs] = [rows[20]!.createdAt, rows[150]!.createdAt].sort((a, b) => a - b) as [number, number];
    const within = (await text(await store.records.export({ kind: 'generations', format: 'ndjson', fromMs, toMs })))
      .trim()
      .split('\n');
    const isWithin = ({ created_at: at }: { created_at: string }) => Date.parse(at) >= fromMs && Date.parse(at) < toMs;
    expect(within).toEqual(lines.filter((line) => isWithin(JSON.parse(line))));
    expect(within.length).toBeGreaterThan(50);
    const csv = await text(await store.records.export({ kind: 'ledger', format: 'csv', accountId: accounts[0]! }));
    expect(csv).toMatch(/^id,created_at,kind,amount_usd,balance_usd,generation_id,note,account_id\n/);
    const head = await text(await store.records.export({ kind: 'audit', format: 'ndjson' }));
    expect(JSON.parse(head)).toMatchObject({ type: 'lodestone-audit-export/1', origin: null });
  });
});

describe('the move to another store', () => {
  it('copies everything, refuses a store with other data, and can be run again after an interruption', async () => {
    const other = await freshDatabase();
    const to = other.databaseUrl;
    await client.query(`select nextval('lodestone.names_version') from generate_series(1, 7)`);
    const moved = await store.records.moveTo(to);
    expect(moved.find(({ table }) => table === 'generations')?.rows).toBe(rows.length);
    const target = await openStore({ databaseUrl: to, logger });
    expect(await target.records.check()).toEqual({ ...clean, generations: rows.length });
    // A move that was killed at its very end is run again.
    expect(await store.records.moveTo(to)).toEqual(moved);
    const link = new pg.Client({ connectionString: to });
    await link.connect();
    const sequences = `select sequencename, last_value from pg_sequences where schemaname = 'lodestone' order by 1`;
    expect((await link.query(sequences)).rows).toEqual((await client.query(sequences)).rows);
    await link.query('delete from lodestone.generations where id = $1', [rows[0]!.id]);
    await expect(store.records.moveTo(to)).rejects.toThrow('has accounts already');
    await link.query('create table lodestone.move_state (begun_at timestamptz)');
    await link.end();
    await store.records.moveTo(to);
    expect(await target.records.check()).toEqual({ ...clean, generations: rows.length });
    expect((await target.ledger.list(accounts[0]!, 1000)).length).toBe(
      (await store.ledger.list(accounts[0]!, 1000)).length,
    );
    await target.close();
    await other.drop();
  });
});

describe('the retention', () => {
  it('replaces a month by one entry for each account, and no sum changes', async () => {
    const march = Date.parse('2026-03-01T00:00:00Z');
    const before = await Promise.all(accounts.map((id) => store.accounts.find(id)));
    const february = rows.filter(({ createdAt }) => createdAt < march);
    // Nothing is removed while it waits for the log of receipts.
    expect(await store.records.prunable(march + 5 * 24 * hourMs)).toEqual([]);
    await store.log.setActive(false);
    const [first] = february;
    await client.query(
      `insert into lodestone.log_batches (batch, origin, version, leaf_count, leaves) values (7, 'x', 1, 1, '')`,
    );
    await client.query('update lodestone.generations set log_batch = 7 where id = $1', [first!.id]);
    expect(await store.records.prunable(march + 5 * 24 * hourMs)).toEqual([]);
    await client.query('update lodestone.generations set log_batch = 0 where id = $1', [first!.id]);
    await client.query('delete from lodestone.log_batches where batch = 7');
    const [month, ...rest] = await store.records.prunable(march + 5 * 24 * hourMs);
    expect([month, rest]).toEqual([
      { monthMs: Date.parse('2026-02-01T00:00:00Z'), accounts: 3, requests: february.length },
      [],
    ]);
    await store.records.prune(month!);
    await store.records.prune(month!);
    expect(await store.records.prunable(march + 5)).toEqual([]);
    expect(await Promise.all(accounts.map((id) => store.accounts.find(id)))).toEqual(before);
    const [account] = accounts;
    const entries = await store.ledger.list(account!, 1000);
    const own = february.filter(({ accountId }) => accountId === account);
    expect(entries.filter(({ note }) => note !== null)).toMatchObject([
      {
        kind: 'statement',
        amountPico: -own.reduce((sum, { costPico }) => sum + costPico, 0n),
        generationId: null,
        note: `usage of February 2026, ${own.length} requests`,
      },
    ]);
    expect(await store.ledger.list(account!, 10, { kind: 'statement' })).toHaveLength(1);
    expect(await store.ledger.list(unserved, 10, { kind: 'statement' })).toMatchObject([
      { amountPico: 0n, balancePico: 10n ** 12n, note: 'usage of February 2026, 1 request' },
    ]);
    expect(entries[0]!.balancePico).toBe(before[0]!.balancePico);
    expect((await store.records.check()).faults).toEqual([]);
    // A record of then that is settled again is refused, so the journal sets it aside.
    await expect(store.ledger.settle([settlementRow(february[0]!)])).rejects.toMatchObject({ code: '23514' });
    const whole = {
      accountId: null,
      fromMs: start,
      toMs: start + days * 24 * hourMs,
      interval: 'day' as const,
      groupBy: null,
    };
    expect(sumsOf((await store.usage.activity(whole)).total)).toEqual(
      expectedOf(null, start, start + days * 24 * hourMs),
    );
  });
});
