/**
 * A connection to the store beside the pool, for what belongs to a session: it is opened again for as long as it is wanted, and asked
 * from time to time, because one whose other end is gone without a word is noticed only by a question that nobody answers.
 */
import pg from 'pg';
import { clientConfig, endWithin, type StoreAddress } from './database.js';

const reopenMs = 500;
const askMs = 5_000;

export interface KeptConnectionOptions {
  address: StoreAddress;
  /** Made on each new connection; one where it fails is given up. */
  begin: (client: pg.Client) => Promise<void>;
  ask: (client: pg.Client) => Promise<void>;
  /** Told of one that was open. */
  lost?: (error: unknown) => void;
  askEveryMs?: number;
}

export class KeptConnection {
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
