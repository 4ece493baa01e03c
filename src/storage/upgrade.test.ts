import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { aGeneration } from '../../tests/support/generation.js';
import { scaled } from '../../tests/support/scaled.js';
import { silentLogger as logger } from '../base/logger.js';
import { settlementRow } from '../domain/settlement-row.js';
import { migrate } from './migrate.js';
import { migrations } from './migrations/index.js';
import { openStore } from './open-store.js';

const name = 'upgrade_with_rows';
const account = 'account-1';
const createdAt = Date.parse('2026-03-01T00:00:00Z');
const rows = Number(process.env.LODESTONE_UPGRADE_ROWS ?? scaled(3_000, 1_000_000));
const older = migrations.filter((migration) => migration.name < '0008');

let owner: pg.Client;
const connection = () => ({ ...inject('postgres'), database: name });
beforeAll(async () => {
  owner = new pg.Client({ ...inject('postgres'), database: 'postgres' });
  await owner.connect();
  await owner.query(`create database ${name}`);
});
afterAll(async () => {
  await owner.query(`drop database ${name} with (force)`);
  await owner.end();
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client(connection());
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** One settlement as the version before wrote it, without anything of the rollups. */
async function settleAsBefore(client: pg.Client, from: number, count: number): Promise<void> {
  await client.query('begin');
  await client.query('select lodestone.lock_accounts($1)', [[account]]);
  await client.query(
    `insert into lodestone.generations (id, request_id, account_id, key_id, key_name, created_ms, requested_model, served_model, provider,
       locode, streamed, status, prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, cost_pico, billed, latency_ms,
       providers_attempted, fallback_occurred, attempts)
     select 'gen-' || lpad(i::text, 26, '0'), '', $1, 'key', 'key', $2::bigint + i * 1000, 'auto/a/b', 'acme/a/b/defra', 'acme', 'defra', false,
       200, 3, 4, 0, 0, 7, true, 10, '["acme"]', false, '[]' from generate_series($3::integer, $4::integer) i`,
    [account, createdAt, from, from + count - 1],
  );
  await client.query('select lodestone.charge($1, $2, $3, $4)', [[account], [7 * count], [], []]);
  await client.query('commit');
}

describe('the upgrade of a store with rows', () => {
  it('loses nothing and counts nothing twice while an older replica goes on settling', async () => {
    const [before, migrating] = [await connect(), await connect()];
    await migrate(before, { known: older });
    await before.query(`insert into lodestone.accounts (id, email, created_at) values ($1, 'a@example.com', $2)`, [
      account,
      new Date(createdAt).toISOString(),
    ]);
    await settleAsBefore(before, 1, rows);
    let settled = rows;
    let upgraded = false;
    const replica = (async () => {
      for (let last = false; !last; ) {
        last = upgraded;
        await settleAsBefore(before, settled + 1, 10);
        settled += 10;
      }
    })();
    await migrate(migrating);
    upgraded = true;
    await replica;
    const store = await openStore({ connection: connection(), logger });
    const newer = aGeneration({
      accountId: account,
      createdAt: createdAt + 5,
      costPico: 7n,
      promptTokens: 3,
      completionTokens: 4,
    });
    await store.ledger.settle([settlementRow(newer)]);
    const all = {
      accountId: account,
      fromMs: 0,
      toMs: createdAt + 10 ** 10,
      interval: 'day' as const,
      groupBy: 'provider' as const,
    };
    const sums = { requests: settled + 1, costPico: BigInt(7 * (settled + 1)), promptTokens: 3 * (settled + 1) };
    expect((await store.usage.activity(all)).total).toMatchObject(sums);
    while (await store.records.backfill(createdAt + settled * 1000));
    expect((await store.usage.activity(all)).total).toMatchObject(sums);
    expect(await store.records.check()).toEqual({ accounts: 1, generations: settled + 1, faults: [] });
    // The older replica reads and writes as before.
    await settleAsBefore(before, settled + 1, 10);
    const listed = await before.query('select count(*) as n from lodestone.generations where account_id = $1', [
      account,
    ]);
    expect(Number(listed.rows[0].n)).toBe(settled + 11);
    expect((await store.records.check()).faults).toEqual([]);
    await store.close();
    await Promise.all([before.end(), migrating.end()]);
  }, 1_800_000);
});
