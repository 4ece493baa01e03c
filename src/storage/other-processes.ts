/**
 * Finds out whether other processes serve from the same database. Each process holds a lock in shared mode while it runs; a
 * process that asks tries to get it exclusively. The server then knows about processes that died without notice.
 */

import type { ClientBase } from 'pg';
import pg from 'pg';
import type { Logger } from '../base/logger.js';
import { clientConfig, type Database, endWithin, type StoreAddress } from './database.js';
import { lockNumbers } from './lock-numbers.js';
import type { ChangeFeed, OtherProcesses } from './store.js';

/** Holds the lock until the connection ends. */
async function bePresent(client: ClientBase): Promise<void> {
  await client.query('select pg_advisory_lock_shared($1)', [lockNumbers.presence]);
}

async function isAlone(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ alone: boolean }>(
    'select case when pg_try_advisory_lock($1) then pg_advisory_unlock($1) else false end as alone',
    [lockNumbers.presence],
  );
  return rows[0]?.alone ?? true;
}

export function otherProcesses(address: StoreAddress): OtherProcesses {
  return {
    async watch(found, askEveryMs) {
      const look = async (client: ClientBase) => found(!(await isAlone(client)));
      const connection = new KeptConnection({
        address,
        ...(askEveryMs !== undefined && { askEveryMs }),
        async begin(client) {
          await bePresent(client);
          await look(client);
        },
        ask: look,
      });
      await connection.open();
      return connection;
    },
  };
}

const reopenMs = 500;
const askMs = 5_000;

interface KeptConnectionOptions {
  address: StoreAddress;
  /** Runs on each new connection; a connection where it fails is closed. */
  begin: (client: pg.Client) => Promise<void>;
  ask: (client: pg.Client) => Promise<void>;
  /** Called when an open connection is lost. */
  lost?: (error: unknown) => void;
  askEveryMs?: number;
}

/**
 * A connection outside the pool for work that belongs to a session. It is reopened while it is needed and checked from time
 * to time, because a peer that vanished is noticed only by a query without an answer.
 */
class KeptConnection {
  private client: pg.Client | null = null;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(private readonly options: KeptConnectionOptions) {}

  /** Resolves in either case: a store that is away is tried again until it is back. */
  async open(): Promise<void> {
    const client = new pg.Client({ ...clientConfig(this.options.address), query_timeout: askMs });
    client.on('error', (error) => this.lost(client, error));
    client.on('end', () => this.lost(client, new Error('the connection ended')));
    try {
      await client.connect();
      if (this.closed) return void client.end().catch(() => {});
      this.client = client;
      await this.options.begin(client);
      this.askLater(client);
    } catch (error) {
      this.lost(client, error);
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    if (this.client) await endWithin(this.client.end().catch(() => {}));
  }

  private askLater(client: pg.Client): void {
    if (this.client !== client || this.closed) return;
    this.timer = setTimeout(() => {
      this.options.ask(client).then(
        () => this.askLater(client),
        (error) => this.lost(client, error),
      );
    }, this.options.askEveryMs ?? askMs).unref();
  }

  private lost(client: pg.Client, error: unknown): void {
    if (this.closed || (this.client !== null && this.client !== client)) return;
    const wasOpen = this.client === client;
    this.client = null;
    client.removeAllListeners();
    client.on('error', () => {});
    client.end().catch(() => {});
    if (wasOpen) this.options.lost?.(error);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.open(), reopenMs).unref();
  }
}

const channel = 'lodestone_changes';

/**
 * Receives changes from PostgreSQL (LISTEN/NOTIFY) on a connection of its own, which is reopened while somebody listens.
 * After a lost connection it reports that changes may have been missed.
 */
export function changeFeed(database: Database, address: StoreAddress, logger: Logger): ChangeFeed {
  return {
    async listen(heard) {
      const connection = new KeptConnection({
        address,
        async begin(client) {
          client.on('notification', ({ payload }) => heard(payload ?? null));
          await client.query(`listen ${channel}`);
          heard(null);
          await bePresent(client);
        },
        ask: async (client) => void (await client.query('select 1')),
        lost: (error) =>
          logger.warn({ error: String(error) }, 'the connection for change notifications was lost; reconnecting'),
      });
      await connection.open();
      return connection;
    },
    async announce(subject) {
      await database.statement('announce', 'select pg_notify($1, $2)', [channel, subject]);
    },
  };
}
