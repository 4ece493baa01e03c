/**
 * Brings the database to the newest migration. All or nothing, and one at a time: any number of processes may start at
 * once, and the database may hold tables of others, which are not touched.
 */
import type { ClientBase } from 'pg';
import { migrations } from './migrations/index.js';

/** An arbitrary number that only Lodestone's migrations lock on. */
const lockNumber = 7_316_402_285;

/** The names of the migrations that were run. */
export async function migrate(client: ClientBase): Promise<string[]> {
  await client.query('begin');
  try {
    // Held to the end of the transaction, so it also works through a pooler that hands out a connection per transaction.
    await client.query('select pg_advisory_xact_lock($1)', [lockNumber]);
    const run = await runMissing(client);
    await client.query('commit');
    return run;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

async function runMissing(client: ClientBase): Promise<string[]> {
  // Asked first: `create schema if not exists` needs the right to create even where there is nothing to do.
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('lodestone.lodestone_migrations') is not null as there`,
  );
  if (!rows[0]?.there) {
    await client.query('create schema if not exists lodestone');
    await client.query(
      'create table lodestone.lodestone_migrations (name text primary key, run_at timestamptz not null default now())',
    );
  }
  const done = await client.query<{ name: string }>('select name from lodestone.lodestone_migrations');
  const names = new Set(done.rows.map((row) => row.name));
  const missing = migrations.filter((migration) => !names.has(migration.name));
  for (const { name, sql } of missing) {
    await client.query(sql);
    await client.query('insert into lodestone.lodestone_migrations (name) values ($1)', [name]);
  }
  return missing.map(({ name }) => name);
}
