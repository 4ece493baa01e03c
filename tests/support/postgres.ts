/** Real PostgreSQL for tests: a freshly migrated database for each test that asks, in the one server of the run (shared-postgres.ts). */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import type { SocketConnection } from '../../src/storage/embedded/embedded.js';

declare module 'vitest' {
  interface ProvidedContext {
    postgres: SocketConnection;
    /** A cluster that no server has run on yet. */
    newCluster: string;
  }
}

export const template = 'lodestone_template';

/** Spares a gateway's own PostgreSQL the making of its cluster, which takes a second of processor time. */
export function placeCluster(newCluster: string, dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // Files keep their owner, the user that the server runs as.
  const { status, stderr } = spawnSync('cp', ['-a', newCluster, join(dataDir, 'postgres')], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The cluster could not be copied: ${stderr}`);
}

export interface FreshDatabase {
  databaseUrl: string;
  connection: SocketConnection;
  drop(): Promise<void>;
}

/** A database of its own, migrated unless it is made from another template, in some 15 ms. Needs `tests/support/global-setup.ts`. */
export async function freshDatabase(from = template): Promise<FreshDatabase> {
  const owner = inject('postgres');
  const database = `test_${randomBytes(6).toString('hex')}`;
  await asOwner(owner, `create database ${database} template ${from} strategy file_copy`);
  return {
    databaseUrl: databaseUrlOf({ ...owner, database }),
    connection: { ...owner, database },
    drop: () => asOwner(owner, `drop database if exists ${database} with (force)`),
  };
}

export function databaseUrlOf({ user, database, host, port }: SocketConnection): string {
  return `postgresql://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
}

/** Runs one statement outside any test's database. */
export async function asOwner(connection: SocketConnection, statement: string): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
