/** The database of a test gateway, from outside: queried with SQL, or made unreachable for a while. */
import pg from 'pg';
import { inject } from 'vitest';
import type { TestGateway } from '../support/gateway.js';

export async function query(
  gateway: TestGateway,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(gateway.files.databaseUrl!);
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** Ends every connection and lets none in, as a database that is being restarted does. Call the result to bring it back. */
export async function takeAway(gateway: TestGateway): Promise<() => Promise<void>> {
  const database = /\/(test_[0-9a-f]+)\?/.exec(gateway.files.databaseUrl!)![1]!;
  const run = async (...statements: string[]) => {
    const owner = new pg.Client(inject('postgres'));
    await owner.connect();
    for (const statement of statements) await owner.query(statement);
    await owner.end();
  };
  await run(
    `alter database ${database} with allow_connections false`,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`,
  );
  return () => run(`alter database ${database} with allow_connections true`);
}
