import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aGeneration } from '../../../tests/support/generation.js';
import { type FreshDatabase, freshDatabase } from '../../../tests/support/postgres.js';
import { periodsAt } from '../../accounts/keys/limit-period.js';
import { silentLogger as logger } from '../../base/logger.js';
import type { Generation } from '../../domain/generation.js';
import { type Budget, defaultProjectId } from '../../domain/organisation.js';
import { settlementRow } from '../../domain/settlement-row.js';
import { migrate } from '../migrate.js';
import { addUsageFunction } from '../migrations/0022-usage-sums.js';
import { openStore } from '../open-store.js';
import type { Store } from '../store.js';

const dayMs = 86_400_000;
const monday = Date.parse('2026-03-02T00:00:00Z');
const account = 'acct-1';
const other = 'acct-2';
const byDefault = defaultProjectId(account);
const whole = { accountId: account, projectId: null };
const ofDefault = { accountId: account, projectId: byDefault };
const team = { accountId: account, projectId: 'proj-team' };

let database: FreshDatabase;
let store: Store;
let client: pg.Client;
beforeAll(async () => {
  database = await freshDatabase();
  store = await openStore({ connection: database.connection, logger });
  client = new pg.Client({ ...database.connection });
  await client.connect();
  for (const id of [account, other])
    await store.accounts.create({ id, email: `${id}@x.example`, name: null, billingCountry: null, createdAt: monday });
});
afterAll(async () => {
  await client.end();
  await store.close();
  await database.drop();
});

const settle = (...batch: Partial<Generation>[]) =>
  store.ledger.settle(
    batch.map((fields) => settlementRow(aGeneration({ accountId: account, billed: true, ...fields }))),
  );
const at = (day: number, ms = 0) => ({ createdAt: monday + day * dayMs + ms });

describe('what was spent by day', () => {
  it('is there after an upgrade for the account and its default project, also of hours that no report has summed yet', async () => {
    // As it was before.
    await client.query(`drop table lodestone.project_days, lodestone.budget_notices cascade;
      drop function lodestone.add_project_days(json); alter table lodestone.balance_notices drop column mailed_at;
      ${addUsageFunction()} delete from lodestone.lodestone_migrations where name = '0027-budgets'`);
    await settle({ ...at(0), costPico: 3n }, { ...at(1, -1), costPico: 5n }, { ...at(1), costPico: 7n });
    await settle({ ...at(2), costPico: 100n, billed: false }, { ...at(2), costPico: 11n, accountId: other });
    await client.query('select lodestone.sum_usage($1)', [(monday + dayMs) / 3_600_000 - 3]);
    await migrate(client);
    expect(await store.budgets.spentSince(whole, 0)).toBe(15n);
    expect(await store.budgets.spentSince(ofDefault, monday + dayMs)).toBe(7n);
    expect(await store.budgets.spentSince({ accountId: other, projectId: null }, monday)).toBe(11n);
    expect(await store.budgets.spentSince(team, 0)).toBe(0n);
  });

  it('grows with each settlement, in the project of the request and on the day on which it began', async () => {
    await settle(
      { ...at(3, -1), costPico: 20n, projectId: 'proj-team' },
      { ...at(3), costPico: 30n, projectId: 'proj-team' },
    );
    await settle({ ...at(3), costPico: 50n, projectId: byDefault }, { ...at(3), costPico: 9n });
    expect(await store.budgets.spentSince(team, monday + 3 * dayMs)).toBe(30n);
    expect(await store.budgets.spentSince(team, monday)).toBe(50n);
    expect(await store.budgets.spentSince(ofDefault, monday + 3 * dayMs)).toBe(59n);
    expect(await store.budgets.spentSince(whole, monday + 3 * dayMs)).toBe(89n);
    expect(await store.budgets.spentOfProjects(account, monday + 3 * dayMs)).toEqual(
      new Map([
        [byDefault, 59n],
        ['proj-team', 30n],
      ]),
    );
  });

  it('is as exact where a settlement is repeated, and where the version before settles', async () => {
    const row = settlementRow(aGeneration({ accountId: account, billed: true, costPico: 4n, ...at(4) }));
    for (let time = 0; time < 2; time++) await store.ledger.settle([row]);
    // A line of the version before names no project.
    const { rows } = await client.query(
      `select lodestone.add_usage(json_build_array(json_build_object('account_id', $1::text,
      'key_id', 'k', 'key_name', 'k', 'requested_model', 'm', 'door', 'chat', 'billed', true, 'status', 200, 'from_hour', $2::integer,
      'requests', 1, 'prompt_tokens', 0, 'completion_tokens', 0, 'cached_tokens', 0, 'reasoning_tokens', 0, 'cost_pico', 6,
      'latency_ms', 1, 'first_byte_histogram', '0', 'latency_histogram', '0', 'speed_histogram', '0')))`,
      [account, (monday + 4 * dayMs) / 3_600_000],
    );
    expect(rows).toHaveLength(1);
    expect(await store.budgets.spentSince(ofDefault, monday + 4 * dayMs)).toBe(10n);
  });
});

describe('a budget', () => {
  it('is kept with amounts that no JSON number can hold, for an account and for a project', async () => {
    const spentPico = 123_456_789_012_345_678_901n;
    const budget: Budget = {
      ...{ limitPico: 987_654_321_987_654_321n, period: 'weekly', alertAt: [0.5, 1] },
      opening: { day: 20_500, spentPico },
    };
    await store.budgets.set(whole, budget, monday);
    await store.budgets.set(ofDefault, { limitPico: 0n, period: 'never', alertAt: [] }, 0);
    const read = await store.accounts.find(account);
    expect(read?.budget).toEqual(budget);
    expect(read?.projects.get(byDefault)?.budget).toEqual({ limitPico: 0n, period: 'never', alertAt: [] });
    await store.budgets.set(whole, null, 0);
    expect((await store.accounts.find(account))?.budget).toBeNull();
  });
});

describe('a threshold of a budget', () => {
  const now = monday + 40 * dayMs;
  const from = Date.UTC(2026, 3, 1);
  const look = () =>
    store.notices.lookForCrossings({
      ...{ nowMs: now, everyMs: 0, defaultPico: 0n, limit: 10, periods: periodsAt(now) },
    });
  const reported = async () => {
    await Promise.all([look(), look(), look()]);
    const taken = await store.notices.take({ nowMs: now, untilMs: now + 1, limit: 10 });
    for (const { id } of taken) await store.notices.delivered(id, now);
    return taken.map((notice) =>
      'threshold' in notice ? `${notice.projectName ?? 'account'} ${notice.threshold}` : '',
    );
  };
  const spend = (costPico: bigint) => settle({ createdAt: now, costPico, projectId: byDefault });
  const limit = (limitPico: bigint) =>
    store.budgets.set(ofDefault, { limitPico, period: 'monthly', alertAt: [0.5, 0.8, 1] }, from);

  it('is reported once a period, the highest of several, and again only where the limit was raised above what is spent', async () => {
    await limit(1_000n);
    expect(await reported()).toEqual([]);
    await spend(500n);
    expect(await reported()).toEqual(['default 0.5']);
    expect(await reported()).toEqual([]);
    await spend(500n);
    expect(await reported()).toEqual(['default 1']);
    // 0.8 and 1 of 1,250 lie at 1,000 and 1,250: the first is reached still.
    await limit(1_250n);
    expect(await reported()).toEqual([]);
    await spend(250n);
    expect(await reported()).toEqual(['default 1']);
    expect(await reported()).toEqual([]);
  });

  it('of the account counts all of its projects, and what was spent elsewhere, and tells owners and billing', async () => {
    const { usagePico } = (await store.accounts.balances([account]))[0]!;
    const opening = { day: monday / dayMs, spentPico: usagePico };
    const spentPico = 2n * usagePico;
    await store.budgets.set(whole, { limitPico: 2n * spentPico, period: 'never', alertAt: [0.5, 0.8], opening }, 0);
    await look();
    const [notice, ...others] = await store.notices.take({ nowMs: now, untilMs: now, limit: 10 });
    expect(others).toEqual([]);
    expect(notice).toMatchObject({
      ...{ accountId: account, projectId: null, threshold: 0.5, limitPico: spentPico * 2n, spentPico, period: 'never' },
      ...{ endsAt: null, isSent: false, isMailed: false, mailTo: ['acct-1@x.example'] },
    });
    await client.query(
      `insert into lodestone.sign_in_users (id, name, email, created_at, updated_at)
       select 'per-' || role, role, role || '@y.example', now(), now() from unnest(array['owner', 'billing', 'admin']) role;
       insert into lodestone.memberships (account_id, person_id, source, role, created_at)
       select '${account}', 'per-' || role, 'manual', role, now() from unnest(array['owner', 'billing', 'admin']) role`,
    );
    const [again] = await store.notices.take({ nowMs: now, untilMs: now, limit: 10 });
    expect(again).toMatchObject({ mailTo: ['billing@y.example', 'owner@y.example'], attempts: 2 });
  });
});
