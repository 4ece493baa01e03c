/** Real PostgreSQL for tests: one embedded server for a whole run, and a freshly migrated database for each test that asks. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import { type SocketConnection, startEmbedded } from '../../src/storage/embedded/embedded.js';
import { openStore } from '../../src/storage/open-store.js';

declare module 'vitest' {
  interface ProvidedContext {
    postgres: SocketConnection;
  }
}

const template = 'lodestone_template';
const memoryNeeded = 2 * 1024 ** 3;

export interface SharedPostgres {
  connection: SocketConnection;
  stop(): Promise<void>;
}

/** For the global setup: starts the server in a temp directory and makes the template that the tests' databases are cloned from. */
export async function sharedPostgres(): Promise<SharedPostgres> {
  const dataDir = mkdtempSync(join(dataParent(), 'lodestone-test-'));
  // A pool for each gateway of each worker of the run.
  const embedded = await startEmbedded({ dataDir, logger: silentLogger, connectionsMax: 150 });
  await asOwner(embedded.connection, `create database ${template}`);
  const connection = { ...embedded.connection, database: template };
  await (await openStore({ connection, logger: silentLogger })).close();
  return {
    connection: embedded.connection,
    async stop() {
      await embedded.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** In memory where there is room: hundreds of databases are made and dropped in a run, and no test cares for a power cut. */
function dataParent(): string {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > memoryNeeded ? memory : tmpdir();
}

export interface FreshDatabase {
  databaseUrl: string;
  connection: SocketConnection;
  drop(): Promise<void>;
}

/** A database of its own, migrated, in some 15 ms. Needs `tests/support/global-setup.ts`. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const owner = inject('postgres');
  const database = `test_${randomBytes(6).toString('hex')}`;
  await asOwner(owner, `create database ${database} template ${template} strategy file_copy`);
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
async function asOwner(connection: SocketConnection, statement: string): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
