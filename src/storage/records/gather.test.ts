import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aGeneration } from '../../../tests/support/generation.js';
import { type FreshDatabase, freshDatabase } from '../../../tests/support/postgres.js';
import { silentLogger as logger } from '../../base/logger.js';
import { settlementRow } from '../../domain/settlement-row.js';
import { openStore } from '../open-store.js';
import type { Store } from '../store.js';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const first = Date.parse('2026-03-01T00:00:00Z');
const accounts = ['account-1', 'account-2', 'account-3'];

let database: FreshDatabase;
let store: Store;
let client: pg.Client;
beforeAll(async () => {
  database = await freshDatabase();
  store = await openStore({ connection: database.connection, logger });
  client = new pg.Client({ ...database.connection });
  await client.connect();
  for (const id of accounts)
    await store.accounts.create({ id, email: `${id}@example.com`, name: null, billingCountry: null, createdAt: first });
  // As in a store that was there at that time.
  await client.query('update lodestone.records_state set days_gathered_before = null');
  for (let i = 0; i < 60; i++) await store.ledger.settle([settlementRow(generation(i, first + (i % 2) * dayMs))]);
});
afterAll(async () => {
  await client.end();
  await store.close();
  await database.drop();
});

/** Every one is of another series, and the accounts come by turns. */
const generation = (i: number, dayStart: number) =>
  aGeneration({ accountId: accounts[i % 3]!, keyId: `k${i}`, createdAt: dayStart + i * 1000, costPico: 5n });

/** How often the account changes from one row to the next, in the order in which a day's rows lie. */
async function changes(day: number): Promise<number> {
  const { rows } = await client.query<{ account_id: string }>(
    `select s.account_id from lodestone.usage_rollups r join lodestone.usage_series s on s.id = r.series
     where r.hours = 24 and r.from_hour = $1 order by r.ctid`,
    [(first + day * dayMs) / hourMs],
  );
  return rows.filter(({ account_id }, i) => i > 0 && account_id !== rows[i - 1]!.account_id).length;
}

const activity = () =>
  store.usage.activity({ accountId: null, fromMs: first, toMs: first + 3 * dayMs, interval: 'day', groupBy: 'key' });

it('puts finished days into the order of accounts, and changes no figure', async () => {
  const before = await activity();
  expect(await changes(0)).toBeGreaterThan(15);
  // The second day still lasts, then it has just ended.
  expect(await store.records.gatherDay(first + 2 * dayMs - 1)).toBe(true);
  expect(await store.records.gatherDay(first + 2 * dayMs)).toBe(false);
  expect([await changes(0), (await changes(1)) > 15]).toEqual([2, true]);
  expect(await store.records.gatherDay(first + 2 * dayMs + hourMs)).toBe(true);
  expect(await store.records.gatherDay(first + 2 * dayMs + hourMs)).toBe(false);
  expect(await changes(1)).toBe(2);
  expect(await activity()).toEqual(before);
  expect((await store.records.check()).faults).toEqual([]);
});

it('loses nothing that is settled meanwhile for the same day', async () => {
  const { total } = await activity();
  await client.query('update lodestone.records_state set days_gathered_before = null');
  const late = Array.from({ length: 20 }, (_, i) => [settlementRow(generation(i, first + 1))]);
  const settled = Promise.all(late.map((rows) => store.ledger.settle(rows)));
  while (await store.records.gatherDay(first + 5 * dayMs));
  await settled;
  expect((await activity()).total.requests).toBe(total.requests + 20);
  expect((await store.records.check()).faults).toEqual([]);
});
