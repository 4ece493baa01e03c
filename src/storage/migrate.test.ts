import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { measuredTime } from '../../tests/support/measured-time.js';
import { type FreshDatabase, freshDatabase } from '../../tests/support/postgres.js';
import { silentLogger } from '../base/logger.js';
import { type MigrateOptions, migrate } from './migrate.js';
import { migrations } from './migrations/index.js';
import { openStore } from './open-store.js';

let database: FreshDatabase;
let clients: pg.Client[] = [];
beforeEach(async () => {
  database = await freshDatabase();
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.end()));
  await database.drop();
});

async function connect(name = database.connection.database): Promise<pg.Client> {
  const client = new pg.Client({ ...inject('postgres'), database: name });
  await client.connect();
  clients.push(client);
  return client;
}

/** A migration that a later version may bring. */
const next = {
  name: '9001-next',
  sql: `alter table lodestone.accounts add column colour text, add column weight bigint not null default 7;
    create table lodestone.sequels (id text primary key);`,
};
const newerVersion: MigrateOptions = { known: [...migrations, next] };

describe('migrations during a rolling upgrade', () => {
  it('runs each migration once when two processes of this version and two of the next start at once', async () => {
    const owner = await connect('postgres');
    await owner.query('create database migrate_at_once');
    try {
      const four = await Promise.all([1, 2, 3, 4].map(() => connect('migrate_at_once')));
      const outcomes = await Promise.all(
        four.map((client, index) => migrate(client, index % 2 === 0 ? {} : newerVersion)),
      );
      const names = [...migrations, next].map(({ name }) => name);
      expect(outcomes.flatMap(({ run }) => run).sort()).toEqual(names);
      await Promise.all(four.map((client) => client.end()));
      clients = [owner];
    } finally {
      await owner.query('drop database migrate_at_once with (force)');
    }
  });

  it('makes statements of the pruned months that an older version posts as usage, before and after', async () => {
    const owner = await connect('postgres');
    await owner.query('create database migrate_statements');
    try {
      const client = await connect('migrate_statements');
      await migrate(client, { known: migrations.filter(({ name }) => name < '0020') });
      await client.query(`insert into lodestone.accounts (id, email, created_at) values ('a', 'a@example.com', now())`);
      const post = (id: string, kind: string) =>
        client.query(
          `insert into lodestone.ledger_posts (id, position, account_id, created_at, kind, amount_pico) values ($1, $1, 'a', now(), $2, 1)`,
          [id, kind],
        );
      await post('1', 'usage');
      await post('2', 'credit');
      await migrate(client);
      await post('3', 'usage');
      await post('4', 'adjustment');
      await expect(post('5', 'other')).rejects.toMatchObject({ code: '23514' });
      const { rows } = await client.query('select kind from lodestone.ledger order by id');
      expect(rows.map(({ kind }) => kind)).toEqual(['statement', 'credit', 'statement', 'adjustment']);
      await client.end();
      clients = [owner];
    } finally {
      await owner.query('drop database migrate_statements with (force)');
    }
  });

  it('changes nothing in a database that a newer version has migrated, and the store works on it', async () => {
    const client = await connect();
    expect(await migrate(client, newerVersion)).toEqual({ run: [next.name], newer: [] });
    expect(await migrate(client)).toEqual({ run: [], newer: [next.name] });
    const logged: object[] = [];
    const logger = { ...silentLogger, info: (fields: object) => logged.push(fields) };
    const store = await openStore({ connection: database.connection, logger });
    expect(logged).toEqual([{ migrations: [next.name] }]);
    const account = { id: 'account-1', email: 'a@example.com', name: null, billingCountry: null, createdAt: 0 };
    expect(await store.accounts.create(account)).toBe('created');
    expect(await store.accounts.find('account-1')).toMatchObject({ email: 'a@example.com', balancePico: 0n });
    await store.close();
  });

  it('lets the requests of a running version through while a table that it has to change is in use', async () => {
    const [backup, migrating, running] = [await connect(), await connect(), await connect()];
    await backup.query('begin; select count(*) from lodestone.accounts');
    const done = migrate(migrating, { ...newerVersion, tableWaitMs: 100 });
    await waitUntilWaiting(running);
    const startedAt = performance.now();
    await running.query('select count(*) from lodestone.accounts');
    expect(performance.now() - startedAt, measuredTime).toBeLessThan(10_000);
    await backup.query('commit');
    expect((await done).run).toEqual([next.name]);
  });

  it('gives up, and leaves all as it was, where the table never becomes free', async () => {
    const [backup, migrating] = [await connect(), await connect()];
    await backup.query('begin; select count(*) from lodestone.accounts');
    const given = migrate(migrating, { ...newerVersion, tableWaitMs: 20, attemptsMax: 3 });
    await expect(given).rejects.toMatchObject({ code: '55P03' });
    await backup.query('commit');
    expect(await migrate(migrating)).toEqual({ run: [], newer: [] });
  });

  async function waitUntilWaiting(client: pg.Client): Promise<void> {
    const query = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await client.query(query)).rowCount, { interval: 5 }).toBe(1);
  }
});
