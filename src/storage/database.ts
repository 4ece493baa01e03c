/**
 * The connection pool, and the one place that translates the driver's errors: a failure of the connection or the server
 * becomes StoreUnavailable, and an error about the data stays as it is.
 */
import { once } from 'node:events';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import type { Logger } from '../base/logger.js';
import type { SocketConnection } from './embedded/embedded.js';
import { yieldToRequests } from './embedded/embedded-priority.js';
import { QueryTooSlow, StoreUnavailable } from './store.js';

export type StoreAddress = { connection: SocketConnection } | { databaseUrl: string };

const connectMs = 2_000;
const queryMs = 5_000;
const endMs = 1_000;

/** The server ends a query of the history before the driver gives it up, so that a slow query differs from a server that is away. */
const historyMs = queryMs;
/** Sums over thousands of series do not fit into the usual 4 MB, and would be sorted on disk. */
const historyMemory = '32MB';
const historyGraceMs = 3_000;
const queryCanceled = '57014';

/** Values as the domain has them: the driver would make text of long numbers, and dates of times. */
const parsers = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, Number],
  [pg.types.builtins.NUMERIC, BigInt],
  [pg.types.builtins.TIMESTAMPTZ, Date.parse],
]);
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => parsers.get(oid) ?? pg.types.getTypeParser(oid, format as 'text'),
};

/** SQLSTATE classes about the query or its values. All other classes are failures of the server. */
const dataClasses = new Set(['22', '23', '42', '54']);

export class Database {
  readonly #pool: pg.Pool;
  readonly #drizzle: NodePgDatabase;
  /**
   * Of a pool for slow queries. One that waits behind others must not seem to be one whose server is away, so it does not wait in the
   * pool, which gives up as soon as it would for a server that is away.
   */
  readonly #turns: Turns | null;
  #answeredAt = 0;
  #open = 0;

  constructor(address: StoreAddress, logger: Logger, connectionsMax: number, timeoutMs = queryMs) {
    this.#pool = new pg.Pool({
      ...clientConfig(address),
      max: connectionsMax,
      idleTimeoutMillis: 30_000,
      query_timeout: timeoutMs,
    });
    // The pool replaces an idle connection that breaks. Without a listener the event would end the process.
    this.#pool.on('error', (error) => logger.warn({ error: error.message }, 'a store connection broke'));
    this.#pool.on('connect', (client) => {
      this.#open++;
      client.on('error', () => {});
      if ('connection' in address) yieldToRequests(backendPid(client));
    });
    this.#pool.on('remove', () => {
      this.#open--;
    });
    this.#drizzle = drizzle(this.#pool);
    this.#turns = timeoutMs > queryMs ? new Turns(connectionsMax, timeoutMs) : null;
  }

  /** For a library that builds its own queries. Its errors are the driver's; `storeError` translates them. */
  get builder(): NodePgDatabase {
    return this.#drizzle;
  }

  /** Runs queries of the builder. */
  async query<T>(build: (db: NodePgDatabase) => PromiseLike<T>): Promise<T> {
    return this.#inTurn(() => build(this.#drizzle));
  }

  /**
   * Runs one statement, prepared under a name so that each connection parses it once. A row has the names of its columns; `bigint` is a
   * number (above 2^53 a statement reads it as text), `numeric` a `bigint`, and a time its epoch milliseconds.
   */
  async statement<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    return this.#inTurn(async () => (await this.#pool.query<Row>({ name, text, values })).rows);
  }

  /** The first row; null where there is none. */
  async one<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row | null> {
    return (await this.statement<Row>(name, text, values))[0] ?? null;
  }

  /** The only column of the first row; null where there is none. */
  async value<T>(name: string, text: string, values: unknown[]): Promise<T | null> {
    const row = await this.one<Record<string, T>>(name, text, values);
    return row && (Object.values(row)[0] ?? null);
  }

  /** Whether there is a row. */
  async hasRow(name: string, text: string, values: unknown[]): Promise<boolean> {
    return (await this.one(name, text, values)) !== null;
  }

  /** Uses one connection for a while. After an error it is not used again, because it may still be waiting for an answer. */
  async session<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      const client = await this.#pool.connect();
      try {
        const result = await work(client);
        client.release();
        return result;
      } catch (error) {
        client.release(true);
        throw error;
      }
    });
  }

  /** A caller that waits too long gets QueryTooSlow if the server has answered a query meanwhile, and StoreUnavailable otherwise. */
  #inTurn<T>(work: () => PromiseLike<T>): Promise<T> {
    if (this.#turns === null) return this.#translated(work);
    const startedAt = performance.now();
    return this.#turns.run(
      () => this.#translated(work),
      (waitedMs) => {
        const cause = new Error('no connection came free');
        return this.#answeredAt > startedAt ? new QueryTooSlow(waitedMs, cause) : new StoreUnavailable(cause);
      },
    );
  }

  async #translated<T>(work: () => PromiseLike<T>): Promise<T> {
    try {
      const result = await work();
      this.#answeredAt = performance.now();
      return result;
    } catch (error) {
      const translated = storeError(error);
      if (sqlStateOf(translated) !== null) this.#answeredAt = performance.now();
      throw translated;
    }
  }

  /** Commits all changes or none. */
  transaction<T>(work: (db: NodePgDatabase, client: pg.PoolClient) => Promise<T>): Promise<T> {
    return this.session(async (client) => {
      await client.query('begin');
      const result = await work(drizzle(client), client);
      await client.query('commit');
      return result;
    });
  }

  /**
   * A query that may take long. The server has the same time limit, or abandoned queries would pile up there. It is planned for its own
   * values each time: with a plan for any values, a report takes twice as long. A query that may take longer than the others has a limit
   * of its own, which `work` passes on to the driver.
   */
  look<T>(
    work: (db: NodePgDatabase, client: pg.PoolClient, limit: { query_timeout: number }) => Promise<T>,
    timeoutMs: number = historyMs,
  ): Promise<T> {
    return this.session(async (client) => {
      await client.query(
        `begin read only; set local statement_timeout = ${timeoutMs}; set local work_mem = '${historyMemory}';
         set local plan_cache_mode = force_custom_plan`,
      );
      const result = await work(drizzle(client), client, { query_timeout: timeoutMs + historyGraceMs });
      await client.query('commit');
      return result;
    }).catch(tooSlowAfter(timeoutMs));
  }

  /** One statement in a transaction, which the server ends after that time. */
  limited<Row extends object>(statement: string, timeoutMs: number = historyMs): Promise<Row[]> {
    return this.session(async (client) => {
      const text = `begin; set local statement_timeout = ${timeoutMs}; ${statement}; commit`;
      const query = { text, query_timeout: timeoutMs + historyGraceMs };
      const results = (await client.query(query)) as unknown as readonly pg.QueryResult<Row>[];
      return results[2]!.rows;
    }).catch(tooSlowAfter(timeoutMs));
  }

  close(): Promise<void> {
    return endWithin(this.#end());
  }

  /** The pool says that it has ended before its sockets have; a server that is stopped in between would seem to have broken them. */
  async #end(): Promise<void> {
    await this.#pool.end();
    while (this.#open > 0) await once(this.#pool, 'remove');
  }
}

export const historyTimeoutMs = historyMs + historyGraceMs;

function tooSlowAfter(timeoutMs: number): (error: unknown) => never {
  return (error) => {
    throw sqlStateOf(error) === queryCanceled ? new QueryTooSlow(timeoutMs, error) : error;
  };
}

/** The code of an error that the server sent. */
function sqlStateOf(error: unknown): string | null {
  const cause = error instanceof StoreUnavailable ? error.cause : error;
  const code = (cause as { code?: unknown } | undefined)?.code;
  return isSqlState(code) ? code : null;
}

/** The driver has it from the server's greeting; its published types leave it out. */
function backendPid(client: pg.PoolClient): number {
  return (client as unknown as { processID: number }).processID;
}

/** A server that does not answer never confirms the end of a connection, and stopping this process must not wait for it. */
export async function endWithin(ending: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const given = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, endMs);
  });
  await Promise.race([ending, given]).finally(() => clearTimeout(timer));
}

export function clientConfig(address: StoreAddress): pg.ClientConfig {
  const target = 'databaseUrl' in address ? { connectionString: address.databaseUrl } : address.connection;
  return { ...target, types, connectionTimeoutMillis: connectMs, keepAlive: true, application_name: 'lodestone' };
}

/** Translates the driver's error for callers of the store. */
export function storeError(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error;
  const cause = driverError(error);
  const code = (cause as { code?: unknown }).code;
  if (isSqlState(code)) return dataClasses.has(code.slice(0, 2)) ? cause : new StoreUnavailable(cause);
  return isConnectionFailure(cause, code) ? new StoreUnavailable(cause) : cause;
}

/** The builder wraps the driver's error in one whose text quotes every value; those must not reach a log. */
function driverError(error: unknown): Error {
  if (error instanceof Error && 'query' in error && error.cause instanceof Error) return error.cause;
  return error instanceof Error ? error : new Error(String(error));
}

/** `EPIPE` and similar codes have five capitals too, but no SQLSTATE class begins with E. */
const isSqlState = (code: unknown): code is string => typeof code === 'string' && /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code);

/**
 * A socket's errors have a system code, and the driver's own errors are plain. Our errors and bugs such as a TypeError are
 * neither.
 */
function isConnectionFailure(error: Error, code: unknown): boolean {
  return typeof code === 'string' || error instanceof AggregateError || error.constructor === Error;
}

/** Lets a limited number of tasks run at a time; the others wait in the order in which they came. */
class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(
    atOnce: number,
    private readonly waitMs: number,
  ) {
    this.#free = atOnce;
  }

  /** Runs the task when it is its turn; throws what `refusal` returns where that takes too long. */
  async run<T>(task: () => Promise<T>, refusal: (waitedMs: number) => unknown): Promise<T> {
    if (this.#free > 0) this.#free--;
    else if (!(await this.#wait())) throw refusal(this.waitMs);
    try {
      return await task();
    } finally {
      // The next one takes over the place.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }

  #wait(): Promise<boolean> {
    return new Promise((resolve) => {
      const begin = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        resolve(false);
      }, this.waitMs);
      this.#waiting.push(begin);
    });
  }
}
