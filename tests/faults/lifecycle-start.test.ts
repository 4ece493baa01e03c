/** Starting up: nothing that belongs to others is touched, nothing is served before the store is ready, and no Redis is needed. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { GatewayClient } from '../support/client.js';
import { catalogueOf, startGateway } from '../support/gateway.js';
import { adminToken } from '../support/gateway-files.js';
import { freshDatabase } from '../support/postgres.js';
import * as up from '../support/scripted-upstream.js';
import { ask, costOf, expectBooks, pause, startRig } from './fixture.js';
import { startStoreProxy } from './store-proxy.js';

let upstream: up.ScriptedUpstream;
beforeAll(async () => {
  upstream = await up.startUpstream();
});
afterAll(() => upstream.stop());

it('one process without Redis starts, serves, limits and settles', async () => {
  const rig = await startRig({ config: { storage: { redis_url: null } } });
  const account = await rig.gateway.createAccount();
  expect((await rig.gateway.chat(ask(), { key: account.key })).status).toBe(200);
  expect((await rig.gateway.call('GET', '/readyz', undefined, { key: null })).status).toBe(200);
  await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 3)] });
  await rig.stop();
});

it('a start changes no table of others and repeats nothing of its own: rows, keys and ledger survive it', async () => {
  const database = await freshDatabase();
  const client = new pg.Client(database.databaseUrl);
  await client.connect();
  const names = [
    'public.accounts',
    'public.keys',
    'public.generations',
    '"lodestone"."somebody_elses"',
    'other.migrations',
  ];
  await client.query('create schema if not exists other; create schema if not exists lodestone');
  for (const name of names)
    await client.query(`create table ${name} (id int primary key, note text); insert into ${name} values (1, 'mine')`);
  const catalogue = catalogueOf({ acme: upstream.url });
  const config = { storage: { database_url: database.databaseUrl } };
  const first = await startGateway({ catalogue, config });
  const account = await first.createAccount();
  expect((await first.chat(ask(), { key: account.key })).status).toBe(200);
  await expectBooks(first, account, { records: 1, costs: [costOf(9, 3)] });
  await first.stop();
  for (let start = 0; start < 2; start++) {
    const again = await startGateway({ catalogue, config });
    expect((await again.chat(ask(), { key: account.key })).status).toBe(200);
    const costs = Array.from({ length: start + 2 }, () => costOf(9, 3));
    await expectBooks(again, account, { records: start + 2, costs });
    await again.stop();
  }
  for (const name of names)
    expect((await client.query(`select * from ${name}`)).rows).toEqual([{ id: 1, note: 'mine' }]);
  await client.end();
  await database.drop();
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
  const until = performance.now() + 20_000;
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

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
