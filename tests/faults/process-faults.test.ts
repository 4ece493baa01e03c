/**
 * A process that ends by an uncaught error, or right after a client learned of a spent quota. What runs may finish where that is possible, and
 * the next start knows what this one knew. Each test leaves a gateway that was started again.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json, TestAccount } from '../support/client.js';
import type { SpawnedGateway } from '../support/gateway.js';
import { measuredTime, repeatMeasured } from '../support/measured-time.js';
import { type FreshDatabase, freshDatabase } from '../support/postgres.js';
import { spent } from '../support/routing-catalogue.js';
import * as up from '../support/scripted-upstream.js';
import { ask, costOf, expectBooks, otherPin, pause, pin, type Rig, spawnRig, words } from './fixture.js';
import { type StoreProxy, startStoreProxy } from './store-proxy.js';

/** Loaded into the gateway's process: a fault that no code of ours would catch, when a signal comes. */
const faults = `
process.on('SIGUSR2', () => setImmediate(() => { throw new Error('a fault of the test'); }));
process.on('SIGWINCH', () => void Promise.reject(new Error('a rejection of the test')));
`;

const folder = mkdtempSync(join(tmpdir(), 'lodestone-faults-'));
let database: FreshDatabase;
let proxy: StoreProxy;
let rig: Rig<SpawnedGateway>;
let gateway: SpawnedGateway;
beforeAll(async () => {
  writeFileSync(join(folder, 'faults.mjs'), faults);
  database = await freshDatabase();
  proxy = await startStoreProxy(database.databaseUrl);
  rig = await spawnRig({
    config: { storage: { database_url: proxy.databaseUrl } },
    env: { NODE_OPTIONS: `--import=${join(folder, 'faults.mjs')}` },
  });
  gateway = rig.gateway;
}, 180_000);
beforeEach(() => {
  rig.upstream.reset();
  rig.other.reset();
});
afterAll(async () => {
  await rig?.stop();
  proxy?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function usageOf({ accountId }: TestAccount): Promise<Json[]> {
  return (await gateway.ledger(accountId, 1_000)).filter(({ kind }) => kind === 'usage');
}

let startedNow = true;

it('the first answer without usage does not wait for the tokenizer to be loaded', {
  retry: repeatMeasured(3),
  timeout: 60_000,
}, async () => {
  if (!startedNow) await gateway.restart();
  startedNow = false;
  await pause(2_000);
  rig.upstream.onRequest(() => up.sse(up.streamOf(words(3))));
  const account = await gateway.createAccount();
  const times: number[] = [];
  for (let i = 0; i < 3; i++) {
    const startedAt = performance.now();
    expect((await gateway.stream(ask(), { key: account.key })).done).toBe(true);
    times.push(performance.now() - startedAt);
  }
  // Loading it takes several times as long as an answer, also on a slow machine.
  expect(times[0]!, measuredTime).toBeLessThan(250 + 2 * Math.max(times[1]!, times[2]!));
});

describe('an uncaught error', () => {
  it.each([
    ['an uncaught exception', 'SIGUSR2'],
    ['an unhandled rejection', 'SIGWINCH'],
  ] as const)(
    'after %s running answers finish, everything is settled, and the exit code is not 0',
    async (_, signal) => {
      const account = await gateway.createAccount();
      rig.upstream.reply(up.sse(up.streamOf(words(20), { usage: up.usage(9, 20) }), { gapMs: 40 }));
      const stream = gateway.stream(ask(), { key: account.key });
      await rig.upstream.waitForCalls(1);
      gateway.signal(signal);
      const { code } = await gateway.exited();
      expect(code).toBe(1);
      expect((await stream).done).toBe(true);
      await gateway.restart();
      await expectBooks(gateway, account, { records: 1, costs: [costOf(9, 20)] });
    },
    180_000,
  );

  it('a second one while it stops ends it at once, and what is not settled is on standard error and billed by the next start', async () => {
    const account = await gateway.createAccount();
    rig.upstream.reply(up.sse(up.streamOf(words(400)), { gapMs: 40 }));
    const stream = gateway.stream(ask(), { key: account.key }).catch(() => null);
    await rig.upstream.waitForCalls(1);
    await pause(300);
    const logged = gateway.output.stderr.length;
    gateway.signal('SIGUSR2');
    await expect.poll(() => gateway.output.stderr.slice(logged), { timeout: 60_000 }).toContain('a fault of the test');
    const before = performance.now();
    gateway.signal('SIGUSR2');
    expect((await gateway.exited()).code).toBe(1);
    expect(performance.now() - before, measuredTime).toBeLessThan(15_000);
    await stream;
    expect(gateway.output.stderr.slice(logged)).toContain('{"unsettled":{"id":"gen-');
    await gateway.restart();
    expect(await usageOf(account)).toHaveLength(1);
  }, 180_000);
});

// Last, as it leaves routes that are held.
describe('a kill right after a client learned of a spent quota', () => {
  let account: TestAccount;
  beforeAll(async () => {
    account = await gateway.createAccount();
    rig.upstream.reset();
    expect((await gateway.chat(ask(), { key: account.key })).status).toBe(200);
  });

  async function askAndKill(model: string): Promise<number> {
    const startedAt = performance.now();
    const reply = await gateway.chat(ask({ model }), { key: account.key });
    gateway.signal('SIGKILL');
    expect([reply.status, reply.json.error.code]).toEqual([503, 'provider_quota_exhausted']);
    const tookMs = performance.now() - startedAt;
    await gateway.exited();
    return tookMs;
  }

  async function holdOf(id: string): Promise<unknown> {
    const { json } = await gateway.admin('GET', '/routes');
    return (json.data as Json[]).find((route) => route.id === id)?.hold;
  }

  it('a store that is slow: the hold is there after the restart, and nobody is asked', async () => {
    rig.upstream.reply(spent);
    proxy.delayMs = 100;
    await askAndKill(pin);
    proxy.delayMs = 0;
    await gateway.restart();
    rig.upstream.reset();
    expect(await holdOf(pin)).toMatchObject({ reason: 'upstream' });
    const reply = await gateway.chat(ask(), { key: account.key });
    expect([reply.status, reply.json.error.code]).toEqual([503, 'provider_quota_exhausted']);
    expect(rig.upstream.calls).toHaveLength(0);
  }, 180_000);

  it('a store that does not answer: the client does not wait for it, and the hold is in a file until the store has it', async () => {
    rig.other.reply(spent);
    // The key is then in memory, so that only the hold needs the store.
    await gateway.chat(ask(), { key: account.key });
    proxy.set('frozen');
    expect(await askAndKill(otherPin)).toBeLessThan(10_000);
    const files = () => readdirSync(join(gateway.files.dataDir, 'holds'));
    expect(files()).toHaveLength(1);
    proxy.set('open');
    await gateway.restart();
    expect(await holdOf(otherPin)).toMatchObject({ reason: 'upstream' });
    await expect.poll(files, { timeout: 60_000 }).toEqual([]);
  }, 180_000);
});
