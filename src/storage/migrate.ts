/**
 * Brings the database to the newest migration that this version knows, completely or not at all, one process at a time. Any
 * number of processes may start at once, older and newer versions side by side, and tables of others in the database are not
 * touched.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { lockNumbers } from './lock-numbers.js';
import { type Migration, migrations } from './migrations/index.js';

const lockNotAvailable = '55P03';

export interface MigrateOptions {
  known?: readonly Migration[];
  /**
   * How long a statement waits for a table that is in use. All later statements wait behind it, also those of running
   * requests, so it gives up, lets them pass and tries again.
   */
  tableWaitMs?: number;
  attemptsMax?: number;
}

interface Migrated {
  /** The names of the migrations that ran. */
  run: string[];
  /** Migrations of a newer version. They only add (`migrations/additive.test.ts`), so this version works with them. */
  newer: string[];
}

export async function migrate(client: ClientBase, options: MigrateOptions = {}): Promise<Migrated> {
  const { known = migrations, tableWaitMs = 2_000, attemptsMax = 20 } = options;
  const persist = <T>(work: () => Promise<T>) => whileTablesAreInUse(work, tableWaitMs, attemptsMax);
  const run: string[] = [];
  for (;;) {
    const step = await persist(() => inTransaction(client, () => runMissing(client, known, tableWaitMs)));
    run.push(...step.run);
    if (!step.next) return { run, newer: step.newer };
    const { next } = step;
    const ran = await alone(client, async () => {
      for (const statement of next.before) {
        await persist(() =>
          client.query(`set lock_timeout = ${Math.ceil(tableWaitMs)}`).then(() => client.query(statement)),
        );
      }
      return persist(() => inTransaction(client, () => runMissing(client, known, tableWaitMs, next.name)));
    });
    run.push(...ran.run);
  }
}

/** Tries again while a table is in use, so that the statements of running requests can pass. */
async function whileTablesAreInUse<T>(work: () => Promise<T>, tableWaitMs: number, attemptsMax: number): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if ((error as { code?: unknown }).code !== lockNotAvailable || attempt >= attemptsMax) throw error;
      await pause(tableWaitMs / 2);
    }
  }
}

async function inTransaction<T>(client: ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    // Held to the end of the transaction, so it also works through a pooler that assigns a connection to each transaction.
    await client.query('select pg_advisory_xact_lock($1)', [lockNumbers.migrations]);
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/**
 * One process at a time. It asks again instead of waiting inside a statement, because an index that is built concurrently waits for
 * every running statement.
 */
async function alone<T>(client: ClientBase, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [
      lockNumbers.migrationsOutsideTransactions,
    ]);
    if (rows[0]?.mine) break;
    await pause(100);
  }
  try {
    return await work();
  } finally {
    await client.query('select pg_advisory_unlock($1)', [lockNumbers.migrationsOutsideTransactions]).catch(() => {});
  }
}

interface Step extends Migrated {
  /** The next migration, where statements have to run before it. */
  next: { name: string; before: readonly string[] } | null;
}

/** Runs the missing migrations up to the next one that has statements before it; those of `prepared` have run. */
async function runMissing(
  client: ClientBase,
  known: readonly Migration[],
  tableWaitMs: number,
  prepared?: string,
): Promise<Step> {
  // Checked first: `create schema if not exists` needs the right to create even where there is nothing to do.
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('lodestone.lodestone_migrations') is not null as there`,
  );
  if (!rows[0]?.there) {
    await client.query('create schema if not exists lodestone');
    await client.query(
      'create table lodestone.lodestone_migrations (name text primary key, run_at timestamptz not null default now())',
    );
  }
  const done = await client.query<{ name: string }>('select name from lodestone.lodestone_migrations order by name');
  const names = new Set(done.rows.map((row) => row.name));
  const missing = known.filter((migration) => !names.has(migration.name));
  const stop = missing.findIndex(({ name, before }) => before !== undefined && name !== prepared);
  const ready = stop === -1 ? missing : missing.slice(0, stop);
  if (ready.length > 0) {
    await client.query(`set local lock_timeout = ${Math.ceil(tableWaitMs)}`);
    // A settlement locks accounts before all else. In any other order, it and several migrations could wait for each other for ever.
    if (names.size > 0) await client.query('lock table lodestone.accounts in access exclusive mode');
  }
  for (const { name, sql } of ready) {
    await client.query(sql);
    await client.query('insert into lodestone.lodestone_migrations (name) values ($1)', [name]);
  }
  const { name, before } = missing[stop] ?? {};
  for (const migration of known) names.delete(migration.name);
  const next = name !== undefined && before ? { name, before } : null;
  return { run: ready.map((migration) => migration.name), newer: [...names], next };
}
