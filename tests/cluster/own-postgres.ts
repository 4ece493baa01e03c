/** A PostgreSQL for one test. It stays down when it is killed, and can be frozen with all of its processes. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import { giveTo } from '../../src/storage/embedded/embedded-access.js';
import { locateBinaries, serverUser } from '../../src/storage/embedded/embedded-binaries.js';
import { awaitPredecessor } from '../../src/storage/embedded/embedded-predecessor.js';
import { launch, type ServerPlace, type ServerRun } from '../../src/storage/embedded/embedded-server.js';
import { databaseUrlOf, placeCluster } from '../support/postgres.js';

const port = 5432;

export class OwnPostgres {
  readonly databaseUrl: string;
  private run: ServerRun | null = null;
  private frozen: number[] = [];

  private constructor(
    private readonly folder: string,
    private readonly place: ServerPlace,
  ) {
    this.databaseUrl = databaseUrlOf({ host: place.socketDir, port, user: 'postgres', database: 'postgres' });
  }

  static async start(): Promise<OwnPostgres> {
    const user = serverUser();
    const folder = mkdtempSync(join(tmpdir(), 'lodestone-pg-'));
    giveTo(user, folder);
    const cluster = join(folder, 'postgres');
    placeCluster(inject('newCluster'), folder);
    const place = { native: locateBinaries(user), user, cluster, socketDir: cluster, port, connectionsMax: 60 };
    const postgres = new OwnPostgres(folder, place);
    await postgres.start();
    return postgres;
  }

  /** Also where it runs already. */
  async start(): Promise<void> {
    this.thaw();
    if (this.run) return;
    await awaitPredecessor(this.place.cluster, join(this.place.socketDir, `.s.PGSQL.${port}`));
    this.run = await launch(this.place, silentLogger);
  }

  /** In order: it ends its sessions and writes down what it has. */
  async stop(): Promise<void> {
    this.thaw();
    await this.run?.stop();
    this.run = null;
  }

  /** SIGKILL: its sessions break off where they are, and it recovers at its next start. */
  async kill(): Promise<void> {
    const { run } = this;
    this.run = null;
    process.kill(this.serverPid(), 'SIGKILL');
    await run?.ended;
  }

  /** SIGSTOP, to the server and every session: connections stay, new ones are taken, and nothing answers. */
  freeze(): void {
    const server = this.serverPid();
    this.frozen = [server];
    process.kill(server, 'SIGSTOP');
    // Stopped itself, it starts no more of them.
    this.frozen.push(...childrenOf(server));
    this.signal('SIGSTOP');
  }

  thaw(): void {
    this.signal('SIGCONT');
    this.frozen = [];
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private signal(signal: NodeJS.Signals): void {
    for (const pid of this.frozen) {
      try {
        process.kill(pid, signal);
      } catch {
        // A session may have ended in between.
      }
    }
  }

  private serverPid(): number {
    return Number(readFileSync(join(this.place.cluster, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
  }
}

function childrenOf(parent: number): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number));
  return pairs.filter(([, ppid]) => ppid === parent).map(([pid]) => pid!);
}
