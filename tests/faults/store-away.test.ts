/** The store becomes unreachable under load: no running answer is cut, no 401 or 402 is made up, and everything is settled once it is back. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import { type Embedded, startEmbedded } from '../../src/storage/embedded/embedded.js';
import type { TestAccount } from '../support/client.js';
import type { SpawnedGateway } from '../support/gateway.js';
import { databaseUrlOf, placeCluster } from '../support/postgres.js';
import * as up from '../support/scripted-upstream.js';
import { ask, costOf, expectBooks, expectServes, pause, type Rig, scaled, spawnRig, words } from './fixture.js';
import { type StoreProxy, startStoreProxy } from './store-proxy.js';

let dataDir: string;
let postgres: Embedded;
let proxy: StoreProxy;
let rig: Rig<SpawnedGateway>;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'lodestone-away-'));
  placeCluster(inject('newCluster'), dataDir);
  postgres = await startEmbedded({ dataDir, logger: silentLogger });
  proxy = await startStoreProxy(databaseUrlOf(postgres.connection));
  rig = await spawnRig({ config: { storage: { database_url: proxy.databaseUrl } } });
}, 180_000);
afterAll(async () => {
  await rig?.stop();
  proxy?.close();
  await postgres?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const awayMs = scaled(2_500, 10_000);
const streamMs = awayMs + 1_500;

/** A key of the right shape that no account owns. */
const unknownKey = `sk-lr-${'Zz9_'.repeat(10)}abc`;

/** Streams that outlast the outage, and whole answers before, during and after it. */
async function loadDuring(account: TestAccount, outage: () => Promise<void>): Promise<bigint[]> {
  const streams = scaled(10, 200);
  rig.upstream.reset();
  rig.upstream.onRequest((call) =>
    (call.json as { stream: boolean }).stream
      ? up.sse(up.streamOf(words(20)), { gapMs: streamMs / 20 })
      : up.json(up.completion()),
  );
  const running = Array.from({ length: streams }, () => rig.gateway.stream(ask(), { key: account.key }));
  await rig.upstream.waitForCalls(streams);
  let over = false;
  let served = 0;
  const callers = Array.from({ length: 4 }, async () => {
    while (!over || served <= 20) {
      const reply = await rig.gateway.chat(ask(), { key: account.key });
      expect([reply.status, reply.json.error?.message]).toEqual([200, undefined]);
      served++;
      await pause(scaled(60, 10));
    }
  });
  await pause(200);
  await outage();
  over = true;
  await Promise.all(callers);
  for (const reply of await Promise.all(running)) {
    expect([reply.content, reply.done, reply.complete]).toEqual([words(20).join(''), true, true]);
    expect(reply.text).toContain('"stream_end":"complete"');
  }
  expect(served).toBeGreaterThan(20);
  return [
    ...Array.from({ length: streams }, () => costOf(9, 20)),
    ...Array.from({ length: served }, () => costOf(9, 3)),
  ];
}

/** While the store is unreachable: known keys are served, unknown ones get 500 and never 401, history is 500 `api_error`, readiness is off. */
async function expectHonest(account: TestAccount): Promise<void> {
  const unknown = await rig.gateway.chat(ask(), { key: unknownKey });
  expect([unknown.status, unknown.json.error.code]).toEqual([500, 'internal_server_error']);
  const malformed = await rig.gateway.chat(ask(), { key: 'sk-lr-short' });
  expect([malformed.status, malformed.json.error.code]).toEqual([401, 'api_key_malformed']);
  const history = await rig.gateway.call('GET', '/v1/generations', undefined, { key: account.key });
  expect([history.status, history.json.error.code]).toEqual([500, 'api_error']);
  expect((await rig.gateway.call('GET', '/readyz', undefined, { key: null })).status).toBe(503);
  expect((await rig.gateway.call('GET', '/healthz', undefined, { key: null })).status).toBe(200);
  expect((await rig.gateway.chat(ask(), { key: account.key })).status).toBe(200);
}

it('answers go on while a PostgreSQL that is stopped and started again is unreachable, and are settled exactly once when it is back', async () => {
  const account = await rig.gateway.createAccount();
  const { pid } = rig.gateway;
  const costs = await loadDuring(account, async () => {
    await postgres.stop();
    proxy.set('gone');
    const startedAt = performance.now();
    await expectHonest(account);
    await pause(awayMs - (performance.now() - startedAt));
    postgres = await startEmbedded({ dataDir, logger: silentLogger });
    proxy.set('open');
  });
  costs.push(costOf(9, 3));
  await expectBooks(rig.gateway, account, { records: costs.length, costs });
  expect(rig.gateway.pid).toBe(pid);
  const unknown = await rig.gateway.chat(ask(), { key: unknownKey });
  expect([unknown.status, unknown.json.error.code]).toEqual([401, 'api_key_not_registered']);
  await expectServes(rig);
}, 180_000);

it('a PostgreSQL that falls silent, takes connections and never answers cuts nothing and loses nothing', async () => {
  const account = await rig.gateway.createAccount();
  const costs = await loadDuring(account, async () => {
    proxy.set('frozen');
    await pause(awayMs);
    expect((await rig.gateway.chat(ask(), { key: account.key })).status).toBe(200);
    proxy.set('open');
  });
  costs.push(costOf(9, 3));
  await expectBooks(rig.gateway, account, { records: costs.length, costs });
  await expectServes(rig);
}, 180_000);

it('a store whose connections are cut at every moment of a settlement is settled exactly once', async () => {
  const account = await rig.gateway.createAccount();
  const costs = await loadDuring(account, async () => {
    for (let cut = 0; cut < scaled(8, 60); cut++) {
      proxy.set('cut');
      await pause(40);
      proxy.set('open');
      await pause(130 + (cut % 7) * 11);
    }
  });
  await expectBooks(rig.gateway, account, { records: costs.length, costs });
  await expectServes(rig);
}, 180_000);
