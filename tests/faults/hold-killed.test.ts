/** A process is killed right after a client learned of a spent quota: the route is still held after the restart. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json, TestAccount } from '../support/client.js';
import type { SpawnedGateway } from '../support/gateway.js';
import { type FreshDatabase, freshDatabase } from '../support/postgres.js';
import { spent } from '../support/routing-catalogue.js';
import { ask, otherPin, pin, type Rig, spawnRig } from './fixture.js';
import { type StoreProxy, startStoreProxy } from './store-proxy.js';

let database: FreshDatabase;
let proxy: StoreProxy;
let rig: Rig<SpawnedGateway>;
let account: TestAccount;
beforeAll(async () => {
  database = await freshDatabase();
  proxy = await startStoreProxy(database.databaseUrl);
  rig = await spawnRig({ config: { storage: { database_url: proxy.databaseUrl } } });
  account = await rig.gateway.createAccount();
  expect((await rig.gateway.chat(ask(), { key: account.key })).status).toBe(200);
}, 180_000);
afterAll(async () => {
  await rig?.stop();
  proxy?.close();
  await database?.drop();
});

const reset = () => {
  rig.upstream.reset();
  rig.other.reset();
};

async function askAndKill(model: string): Promise<number> {
  const startedAt = performance.now();
  const reply = await rig.gateway.chat(ask({ model }), { key: account.key });
  rig.gateway.signal('SIGKILL');
  expect([reply.status, reply.json.error.code]).toEqual([503, 'provider_quota_exhausted']);
  const tookMs = performance.now() - startedAt;
  await rig.gateway.exited();
  return tookMs;
}

async function holdOf(id: string): Promise<unknown> {
  const { json } = await rig.gateway.admin('GET', '/routes');
  return (json.data as Json[]).find((route) => route.id === id)?.hold;
}

it('a store that is slow: the hold is there after the restart, and nobody is asked', async () => {
  rig.upstream.reply(spent);
  proxy.delayMs = 100;
  await askAndKill(pin);
  proxy.delayMs = 0;
  await rig.gateway.restart();
  reset();
  expect(await holdOf(pin)).toMatchObject({ reason: 'upstream' });
  const reply = await rig.gateway.chat(ask(), { key: account.key });
  expect([reply.status, reply.json.error.code]).toEqual([503, 'provider_quota_exhausted']);
  expect(rig.upstream.calls).toHaveLength(0);
}, 180_000);

it('a store that does not answer: the client does not wait for it, and the hold is in a file until the store has it', async () => {
  rig.other.reply(spent);
  // The key is then in memory, so that only the hold needs the store.
  await rig.gateway.chat(ask(), { key: account.key });
  proxy.set('frozen');
  expect(await askAndKill(otherPin)).toBeLessThan(10_000);
  const files = () => readdirSync(join(rig.gateway.files.dataDir, 'holds'));
  expect(files()).toHaveLength(1);
  proxy.set('open');
  await rig.gateway.restart();
  reset();
  expect(await holdOf(otherPin)).toMatchObject({ reason: 'upstream' });
  await expect.poll(files, { timeout: 60_000 }).toEqual([]);
}, 180_000);
