/**
 * The PostgreSQL that all suites of a run share. Only the global setup loads this: what it needs of the gateway's source would be compiled
 * for every process of the tests.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '../../src/base/logger.js';
import { type SocketConnection, startEmbedded } from '../../src/storage/embedded/embedded.js';
import { locateBinaries, serverUser } from '../../src/storage/embedded/embedded-binaries.js';
import { initialise } from '../../src/storage/embedded/embedded-server.js';
import { openStore } from '../../src/storage/open-store.js';
import { asOwner, placeCluster, template } from './postgres.js';

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
