import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aGeneration } from '../../../tests/support/generation.js';
import { type FreshDatabase, freshDatabase } from '../../../tests/support/postgres.js';
import { silentLogger as logger } from '../../base/logger.js';
import { startOfUtcDay, utcDay } from '../../base/time.js';
import type { Generation } from '../../domain/generation.js';
import { settlementRow } from '../../domain/settlement-row.js';
import { openStore } from '../open-store.js';
import { type HoldRecord, type Store, StoreUnavailable } from '../store.js';

const today = utcDay(Date.parse('2026-03-01T12:00:00Z'));
const route = 'acme/meta/llama/defra';
const aHold = (fields: Partial<HoldRecord> = {}): HoldRecord => ({
  utcDay: today,
  routeId: route,
  reason: 'upstream',
  quotaLifted: false,
  ...fields,
});

describe('quota holds in PostgreSQL', () => {
  let database: FreshDatabase;
  let store: Store;
  beforeAll(async () => {
    database = await freshDatabase();
    store = await openStore({ databaseUrl: database.databaseUrl, logger });
  });
  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  async function query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
    const client = new pg.Client(database.connection);
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }

  it('are given back from a day on, the newest record of a route and day', async () => {
    const other = aHold({ routeId: 'zeta/meta/llama/global', reason: 'daily_token_quota' });
    const tomorrow = aHold({ utcDay: today + 1 });
    for (const record of [aHold({ utcDay: today - 1 }), aHold(), other, tomorrow]) await store.holds.put(record);
    const lifted = aHold({ reason: null, quotaLifted: true });
    await store.holds.put(lifted);
    const found = await store.holds.since(today);
    expect(found).toHaveLength(3);
    expect(found).toEqual(expect.arrayContaining([lifted, other, tomorrow]));
  });

  it('sums the tokens of billed generations of a day, by the route that served', async () => {
    const { id: accountId } = { id: 'account-holds' };
    const from = startOfUtcDay(today);
    await store.accounts.create({
      id: accountId,
      email: 'h@example.com',
      name: null,
      billingCountry: null,
      createdAt: 0,
    });
    const generation = (fields: Partial<Generation>) => settlementRow(aGeneration({ accountId, ...fields }));
    await store.ledger.settle([
      generation({ servedModel: route, createdAt: from, promptTokens: 1, completionTokens: 2 }),
      generation({ servedModel: route, createdAt: from + 86_399_999, promptTokens: 10, completionTokens: 20 }),
      generation({ servedModel: 'zeta/meta/llama/global', createdAt: from + 5, promptTokens: 7, completionTokens: 0 }),
      generation({ servedModel: route, createdAt: from - 1, promptTokens: 1000 }),
      generation({ servedModel: route, createdAt: from + 86_400_000, promptTokens: 1000 }),
      generation({ servedModel: route, createdAt: from, promptTokens: 1000, billed: false }),
      generation({ servedModel: null, createdAt: from, promptTokens: 1000 }),
    ]);
    expect(await store.holds.tokensBetween(from, startOfUtcDay(today + 1))).toEqual(
      new Map([
        [route, 33],
        ['zeta/meta/llama/global', 7],
      ]),
    );
  });

  it('finds a day among many by the index, without reading the others', async () => {
    await query(
      `insert into lodestone.generations (id, request_id, account_id, key_id, key_name, created_ms, requested_model, streamed,
         status, prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, cost_pico, billed, latency_ms,
         providers_attempted, fallback_occurred, attempts)
       select 'filler-' || i, '', 'account-holds', '', '', i * 10000, '', false, 200, 1, 1, 0, 0, 0, true, 1, '[]', false, '[]'
       from generate_series(1, 100000) as i`,
    );
    await query('vacuum analyze lodestone.generations');
    const plan = await query<{ 'QUERY PLAN': string }>(
      `explain select sum(prompt_tokens) from lodestone.generations where created_ms >= 900000000 and created_ms < 950000000`,
    );
    expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain('generations_first_created');
  });

  it('keeps the columns of an account’s chain and policy empty until they are set', async () => {
    const [row] = await query('select fallback_models, routing_policy from lodestone.accounts limit 1');
    expect(row).toEqual({ fallback_models: null, routing_policy: null });
  });

  it('says StoreUnavailable when the database is gone', async () => {
    const doomed = await freshDatabase();
    const opened = await openStore({ databaseUrl: doomed.databaseUrl, logger });
    await doomed.drop();
    await expect(opened.holds.since(today)).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(opened.holds.put(aHold())).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(opened.holds.tokensBetween(0, 1)).rejects.toBeInstanceOf(StoreUnavailable);
    await opened.close();
  });
});
