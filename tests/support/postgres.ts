/** Real PostgreSQL for tests: one embedded server for a whole run, and a freshly migrated database for each test that asks. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import { type SocketConnection, startEmbedded } from '../../src/storage/embedded/embedded.js';
import { locateBinaries, serverUser } from '../../src/storage/embedded/embedded-binaries.js';
import { initialise } from '../../src/storage/embedded/embedded-server.js';
import { openStore } from '../../src/storage/open-store.js';

declare module 'vitest' {
  interface ProvidedContext {
    postgres: SocketConnection;
    /** A cluster that no server has run on yet. */
    newCluster: string;
  }
}

const template = 'lodestone_template';

export interface SharedPostgres {
  connection: SocketConnection;
  newCluster: string;
  stop(): Promise<void>;
}

/** For the global setup: starts the server in a temp directory and makes the template that the tests' databases are cloned from. */
export async function sharedPostgres(): Promise<SharedPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-test-'));
  const [newCluster, dataDir] = [join(folder, 'new'), join(folder, 'data')];
  const user = serverUser();
  initialise({ native: locateBinaries(user), user, cluster: newCluster, socketDir: '', port: 0, connectionsMax: 0 });
  placeCluster(newCluster, dataDir);
  // A pool for each gateway of each worker of the run.
  const embedded = await startEmbedded({ dataDir, logger: silentLogger, connectionsMax: 150 });
  await asOwner(embedded.connection, `create database ${template}`);
  const connection = { ...embedded.connection, database: template };
  await (await openStore({ connection, logger: silentLogger })).close();
  return {
    connection: embedded.connection,
    newCluster,
    async stop() {
      await embedded.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

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
