/**
 * The built-in store: PostgreSQL from the npm package, on a unix socket, one process for each data directory. It stops with
 * its parent and is restarted if it dies.
 */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { takeLock } from '../../base/lock.js';
import type { Logger } from '../../base/logger.js';
import { giveTo } from './embedded-access.js';
import { locateBinaries, nobody, type ServerUser, serverUser } from './embedded-binaries.js';
import { awaitPredecessor } from './embedded-predecessor.js';
import { initialise, launch, type ServerPlace, type ServerRun } from './embedded-server.js';

export interface SocketConnection {
  /** The directory of the unix socket. */
  host: string;
  port: number;
  user: string;
  database: string;
}

export interface Embedded {
  readonly connection: SocketConnection;
  /** Shuts the server down cleanly and frees the data directory. */
  stop(): Promise<void>;
  /** Called when the server ended unexpectedly. It is being restarted by then. */
  onExit(listener: () => void): void;
}

const port = 5432;
/** The length that `sun_path` holds on the strictest system, with some reserve. */
const socketPathMax = 100;
const restartMinMs = 100;
const restartMaxMs = 5_000;

interface EmbeddedOptions {
  dataDir: string;
  logger: Logger;
  /** How many connections the server accepts at a time. */
  connectionsMax?: number;
}

export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const dataDir = resolve(options.dataDir);
  const lock = await takeLock(join(dataDir, 'lodestone.lock'), `The data directory ${dataDir}`);
  try {
    const place = prepare(dataDir, options.connectionsMax ?? 40);
    await awaitPredecessor(place.cluster, join(place.socketDir, `.s.PGSQL.${port}`));
    const server = new KeptServer(place, options.logger, await launch(place, options.logger));
    return {
      connection: { host: place.socketDir, port, user: 'postgres', database: 'postgres' },
      stop: async () => {
        await server.stop();
        if (place.socketDir !== place.cluster) rmSync(place.socketDir, { recursive: true, force: true });
        lock.release();
      },
      onExit: (listener) => server.listeners.push(listener),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function prepare(dataDir: string, connectionsMax: number): ServerPlace {
  const user = serverUser();
  const cluster = join(dataDir, 'postgres');
  const place = { native: locateBinaries(user), user, cluster, socketDir: cluster, port, connectionsMax };
  initialise(place);
  return { ...place, socketDir: socketDirFor(cluster, user) };
}

/**
 * Inside the cluster, which only the server's user and root may enter, or in a short private directory where that path is too
 * long.
 */
function socketDirFor(cluster: string, user: ServerUser): string {
  if (Buffer.byteLength(join(cluster, `.s.PGSQL.${port}`)) <= socketPathMax) return cluster;
  const directory = join(tmpdir(), `lodestone-${createHash('sha256').update(cluster).digest('hex').slice(0, 12)}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { uid } = lstatSync(directory);
  if (![process.getuid?.(), user.uid, user.uid === undefined ? undefined : nobody.uid].includes(uid)) {
    throw new Error(`${directory}, needed for the embedded store's socket, belongs to another user. Remove it.`);
  }
  giveTo(user, directory);
  return directory;
}

/** Keeps one server running until it is stopped. */
class KeptServer {
  readonly listeners: (() => void)[] = [];
  #stopping = false;
  #kept: Promise<void>;

  constructor(
    private readonly place: ServerPlace,
    private readonly logger: Logger,
    private run: ServerRun,
  ) {
    this.#kept = this.#keep();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.run.stop();
    await this.#kept;
  }

  async #keep(): Promise<void> {
    for (;;) {
      const { code, signal, lastLines } = await this.run.ended;
      if (this.#stopping) return;
      this.logger.error({ code, signal, lastLines }, 'the embedded PostgreSQL ended unexpectedly; starting it again');
      for (const listener of this.listeners) listener();
      if (!(await this.#restart())) return;
    }
  }

  async #restart(): Promise<boolean> {
    for (let delayMs = restartMinMs; ; delayMs = Math.min(delayMs * 2, restartMaxMs)) {
      await pause(delayMs);
      if (this.#stopping) return false;
      try {
        await awaitPredecessor(this.place.cluster, join(this.place.socketDir, `.s.PGSQL.${port}`));
        this.run = await launch(this.place, this.logger);
        if (this.#stopping) await this.run.stop();
        else this.logger.info({}, 'the embedded PostgreSQL is running again');
        return !this.#stopping;
      } catch (error) {
        this.logger.error({ error: String(error), delayMs }, 'the embedded PostgreSQL could not be started again');
      }
    }
  }
}
