/** What the doctor looks at: this machine, its files and what can be reached from it. Each look returns a value and never throws. */
import { execFileSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { connect, createServer } from 'node:net';
import { totalmem } from 'node:os';
import { Redis } from 'ioredis';
import pg from 'pg';

/** The code of a system's error, or what a server said. */
export type Trouble = string;

interface Reached {
  readonly trouble: Trouble | null;
  /** The server's clock minus this one, in ms; null where it did not say. */
  readonly skewMs: number | null;
}

interface PostgresLook {
  readonly trouble: Trouble | null;
  readonly version: number;
  /** It has the schema, or may make it. */
  readonly mayCreate: boolean;
  /** A standby takes no writes. */
  readonly isStandby: boolean;
  /** Whose tables of the schema this user cannot change; null where there are none. */
  readonly owner: string | null;
}

interface RedisLook {
  readonly trouble: Trouble | null;
  readonly version: number;
  readonly isReplica: boolean;
  /** The empty text where the server does not tell. */
  readonly evicts: string;
  /** What it says to a script that writes, or to a message; null where it takes both. */
  readonly forbids: Trouble | null;
}

export interface Host {
  readonly nodeVersion: string;
  memoryBytes(): number;
  openFilesMax(): number;
  freeBytes(path: string): number | null;
  /** Rights; null where there is nothing. */
  fileAt(path: string): { readonly mode: number; readonly isDirectory: boolean } | null;
  mayWrite(path: string): boolean;
  listen(host: string, port: number): Promise<Trouble | null>;
  resolve(name: string): Promise<Trouble | null>;
  connect(host: string, port: number): Promise<Trouble | null>;
  reach(url: string): Promise<Reached>;
  /** Whether a gateway answers there. */
  isGateway(url: string): Promise<boolean>;
  postgres(url: string): Promise<PostgresLook>;
  redis(url: string): Promise<RedisLook>;
}

const waitMs = 5_000;

export const thisHost: Host = {
  nodeVersion: process.versions.node,
  memoryBytes: () => Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
  openFilesMax: () => {
    try {
      return Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' })) || Number.POSITIVE_INFINITY;
    } catch {
      return Number.POSITIVE_INFINITY;
    }
  },
  freeBytes: (path) => {
    try {
      const { bavail, bsize } = statfsSync(path);
      return bavail * bsize;
    } catch {
      return null;
    }
  },
  fileAt: (path) => {
    try {
      const found = statSync(path);
      return { mode: found.mode & 0o7777, isDirectory: found.isDirectory() };
    } catch {
      return null;
    }
  },
  mayWrite: (path) => {
    try {
      accessSync(path, constants.W_OK | constants.X_OK);
      return true;
    } catch {
      return false;
    }
  },
  listen: (host, port) =>
    new Promise((resolve) => {
      const server = createServer();
      server.once('error', (error) => resolve(codeOf(error)));
      server.listen(port, host, () => server.close(() => resolve(null)));
    }),
  resolve: (name) =>
    lookup(name).then(
      () => null,
      (error) => codeOf(error),
    ),
  connect: (host, port) =>
    new Promise((resolve) => {
      const socket = connect({ host, port, timeout: waitMs });
      const end = (trouble: Trouble | null) => {
        socket.destroy();
        resolve(trouble);
      };
      socket.once('connect', () => end(null));
      socket.once('timeout', () => end('ETIMEDOUT'));
      socket.once('error', (error) => end(codeOf(error)));
    }),
  reach: (url) =>
    new Promise((resolve) => {
      const send = url.startsWith('https:') ? tlsRequest : plainRequest;
      const asked = send(url, { method: 'HEAD', timeout: waitMs, agent: false }, (answer) => {
        answer.resume();
        const theirs = Date.parse(answer.headers.date ?? '');
        resolve({ trouble: null, skewMs: Number.isNaN(theirs) ? null : theirs - Date.now() });
      });
      asked.once('timeout', () => asked.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
      asked.once('error', (error) => resolve({ trouble: codeOf(error), skewMs: null }));
      asked.end();
    }),
  isGateway: async (url) => {
    try {
      const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(waitMs) });
      return answer.headers.has('x-request-id') && ((await answer.json()) as { status?: unknown }).status === 'ok';
    } catch {
      return false;
    }
  },
  postgres: async (url) => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: waitMs, query_timeout: waitMs });
    client.on('error', () => {});
    try {
      await client.connect();
      const { rows } = await client.query(
        `select current_setting('server_version_num')::int / 10000 as version,
          coalesce((select has_schema_privilege(oid, 'CREATE') from pg_namespace where nspname = 'lodestone'),
            has_database_privilege(current_database(), 'CREATE')) as may,
          pg_is_in_recovery() as standby,
          (select min(tableowner) from pg_tables
            where schemaname = 'lodestone' and not pg_has_role(tableowner, 'USAGE')) as owner`,
      );
      const { version, may, standby, owner } = rows[0];
      return { trouble: null, version, mayCreate: may, isStandby: standby, owner };
    } catch (error) {
      return { trouble: codeOf(error), version: 0, mayCreate: false, isStandby: false, owner: null };
    } finally {
      await client.end().catch(() => {});
    }
  },
  redis: async (url) => {
    const client = new Redis(url, {
      ...{ lazyConnect: true, maxRetriesPerRequest: 0, connectTimeout: waitMs, commandTimeout: waitMs },
      retryStrategy: () => null,
    });
    // A refused password ends the connection, and only the event says why.
    let said: unknown;
    client.on('error', (error) => {
      said = error;
    });
    try {
      await client.connect();
      const info = await client.info();
      const policy = await client.config('GET', 'maxmemory-policy').catch(() => []);
      return {
        trouble: null,
        version: Number(/^(?:valkey_version|redis_version):(\d+)/m.exec(info)?.[1] ?? 0),
        isReplica: /^role:slave/m.test(info),
        evicts: String((policy as string[])[1] ?? ''),
        forbids: await forbiddenBy(client),
      };
    } catch (error) {
      return { trouble: codeOf(said ?? error), version: 0, isReplica: false, evicts: '', forbids: null };
    } finally {
      client.disconnect();
    }
  },
};

/** Tries what the gateway does: a script that writes a key of its own, and a message. Nothing of it is left after a second. */
async function forbiddenBy(client: Redis): Promise<Trouble | null> {
  const writes = "return redis.call('set', KEYS[1], '1', 'PX', '1000')";
  try {
    await client.eval(writes, 1, 'lodestone:doctor');
    await client.publish('lodestone:doctor', '');
    return null;
  } catch (error) {
    const said = codeOf(error);
    // A node of a cluster names the node to ask, and a replica or a full server has a finding of its own.
    return /NOPERM/.test(said) ? said : null;
  }
}

function codeOf(error: unknown): Trouble {
  const { code, message } = error as { code?: string; message?: string };
  return code ?? message ?? 'unknown';
}
