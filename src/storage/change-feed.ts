/**
 * Changes as PostgreSQL tells them (LISTEN/NOTIFY), on a connection of its own that is opened again for as long as somebody
 * listens. A connection that was lost may have missed something, and says so.
 */
import pg from 'pg';
import type { Logger } from '../base/logger.js';
import { clientConfig, type Database, type StoreAddress } from './database.js';
import type { ChangeFeed } from './store.js';

const channel = 'lodestone_changes';
const reopenMs = 500;
/** A connection whose other end is gone without a word is noticed by a question that nobody answers. */
const askMs = 5_000;

export function changeFeed(database: Database, address: StoreAddress, logger: Logger): ChangeFeed {
  return {
    async listen(heard) {
      const feed = new Listening(address, heard, logger);
      await feed.open();
      return feed;
    },
    async announce(subject) {
      await database.statement('announce', 'select pg_notify($1, $2)', [channel, subject]);
    },
  };
}

class Listening {
  private client: pg.Client | null = null;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly address: StoreAddress,
    private readonly heard: (subject: string | null) => void,
    private readonly logger: Logger,
  ) {}

  /** Resolves in either case: a store that is away is listened to when it is back. */
  async open(): Promise<void> {
    const client = new pg.Client({ ...clientConfig(this.address), query_timeout: askMs });
    client.on('error', (error) => this.lost(client, error));
    client.on('end', () => this.lost(client, new Error('the connection ended')));
    client.on('notification', ({ payload }) => this.heard(payload ?? null));
    try {
      await client.connect();
      if (this.closed) return void client.end().catch(() => {});
      this.client = client;
      await client.query(`listen ${channel}`);
      this.heard(null);
      this.askLater(client);
    } catch (error) {
      this.lost(client, error);
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await this.client?.end().catch(() => {});
  }

  private askLater(client: pg.Client): void {
    this.timer = setTimeout(() => {
      client.query('select 1').then(
        () => this.client === client && !this.closed && this.askLater(client),
        (error) => this.lost(client, error),
      );
    }, askMs).unref();
  }

  private lost(client: pg.Client, error: unknown): void {
    if (this.closed || (this.client !== null && this.client !== client)) return;
    const wasOpen = this.client === client;
    this.client = null;
    client.removeAllListeners();
    client.on('error', () => {});
    client.end().catch(() => {});
    if (wasOpen) this.logger.warn({ error: String(error) }, 'changes in the store are not heard; listening again');
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.open(), reopenMs).unref();
  }
}
