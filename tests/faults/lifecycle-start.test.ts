/** Starting up: nothing that belongs to others is touched, nothing is served before the store is ready, and no Redis is needed. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { GatewayClient } from '../support/client.js';
import { freePort } from '../support/free-port.js';
import { catalogueOf, startGateway, type TestGateway } from '../support/gateway.js';
import { adminToken } from '../support/gateway-files.js';
import { type FreshDatabase, freshDatabase } from '../support/postgres.js';
import * as up from '../support/scripted-upstream.js';
import { ask, costOf, expectBooks, pause } from './fixture.js';
import { startStoreProxy } from './store-proxy.js';

let upstream: up.ScriptedUpstream;
beforeAll(async () => {
  upstream = await up.startUpstream();
});
afterAll(() => upstream.stop());

describe('a start beside tables of others', () => {
  const names = [
    'public.accounts',
    'public.keys',
    'public.generations',
    '"lodestone"."somebody_elses"',
    'other.migrations',
  ];
  let database: FreshDatabase;
  let client: pg.Client;
  let gateway: TestGateway;
  beforeAll(async () => {
    database = await freshDatabase();
    client = new pg.Client(database.databaseUrl);
    await client.connect();
    await client.query('create schema if not exists other; create schema if not exists lodestone');
    for (const name of names)
      await client.query(
        `create table ${name} (id int primary key, note text); insert into ${name} values (1, 'mine')`,
      );
    gateway = await startGateway({
      catalogue: catalogueOf({ acme: upstream.url }),
      config: { storage: { database_url: database.databaseUrl, redis_url: null } },
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await client?.end();
    await database?.drop();
  });

  it('one process without Redis starts, serves, limits and settles', async () => {
    const account = await gateway.createAccount();
    expect((await gateway.chat(ask(), { key: account.key })).status).toBe(200);
    expect((await gateway.call('GET', '/readyz', undefined, { key: null })).status).toBe(200);
    await expectBooks(gateway, account, { records: 1, costs: [costOf(9, 3)] });
  });

  it('a start changes no table of others and repeats nothing of its own: rows, keys and ledger survive it', async () => {
    const account = await gateway.createAccount();
    for (let start = 0; start < 3; start++) {
      if (start > 0) await gateway.restart();
      expect((await gateway.chat(ask(), { key: account.key })).status).toBe(200);
      const costs = Array.from({ length: start + 1 }, () => costOf(9, 3));
      await expectBooks(gateway, account, { records: start + 1, costs });
    }
    for (const name of names)
      expect((await client.query(`select * from ${name}`)).rows).toEqual([{ id: 1, note: 'mine' }]);
  });
});

it('with a slow store nothing is served before it is ready, /readyz says so, and every answer from then on is settled', async () => {
  const database = await freshDatabase();
  const proxy = await startStoreProxy(database.databaseUrl);
  proxy.delayMs = 120;
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-slow-'));
  writeFileSync(join(folder, 'catalogue.yaml'), stringify(catalogueOf({ acme: upstream.url })));
  const config = {
    server: { port },
    storage: { data_dir: join(folder, 'data'), database_url: proxy.databaseUrl },
    admin_token: adminToken,
    catalogue: ['catalogue.yaml'],
  };
  writeFileSync(join(folder, 'lodestone.yaml'), stringify(config));
  const main = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url));
  const child = spawn(process.execPath, [main, 'serve', '--config', join(folder, 'lodestone.yaml')], {
    stdio: 'ignore',
    cwd: folder,
  });
  const client = new GatewayClient(() => `http://127.0.0.1:${port}`);
  const seen: (number | 'refused')[] = [];
  const ready: (number | 'refused')[] = [];
  // Each of its many questions to the store waits; on a busy machine that adds up.
  const until = performance.now() + 60_000;
  while (ready.at(-1) !== 200 && performance.now() < until) {
    seen.push(
      await client.chat(ask(), { key: `sk-lr-${'A'.repeat(43)}` }).then(
        ({ status }) => status,
        () => 'refused' as const,
      ),
    );
    ready.push(
      await client.call('GET', '/readyz', undefined, { key: null }).then(
        ({ status }) => status,
        () => 'refused' as const,
      ),
    );
    await pause(20);
  }
  expect(ready.at(-1)).toBe(200);
  expect(seen[0]).toBe('refused');
  expect(ready.slice(0, -1)).not.toContain(200);
  // A key that nobody owns is told so only by a store that was asked.
  for (const status of seen) expect(['refused', 401, 500, 503]).toContain(status);
  proxy.delayMs = 0;
  const account = await client.createAccount();
  expect((await client.chat(ask(), { key: account.key })).status).toBe(200);
  await expectBooks(client, account, { records: 1, costs: [costOf(9, 3)] });
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  await client.close();
  proxy.close();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
}, 180_000);
