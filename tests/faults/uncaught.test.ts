/** An uncaught error: the process takes no more work, settles, and ends so that a supervisor starts another. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { catalogueOf, type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import * as up from '../support/scripted-upstream.js';
import { ask, costOf, expectBooks, pause, words } from './fixture.js';

/** Loaded into the gateway's process: a fault that no code of ours would catch, when a signal comes. */
const faults = `
process.on('SIGUSR2', () => setImmediate(() => { throw new Error('a fault of the test'); }));
process.on('SIGWINCH', () => void Promise.reject(new Error('a rejection of the test')));
`;

const folder = mkdtempSync(join(tmpdir(), 'lodestone-faults-'));
let upstream: up.ScriptedUpstream;
let gateway: SpawnedGateway;
beforeAll(async () => {
  writeFileSync(join(folder, 'faults.mjs'), faults);
  upstream = await up.startUpstream();
  gateway = await spawnGateway({
    catalogue: catalogueOf({ acme: upstream.url }),
    env: { NODE_OPTIONS: `--import=${join(folder, 'faults.mjs')}` },
  });
}, 180_000);
// Each test leaves a gateway that was started again.
beforeEach(() => upstream.reset());
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

it.each([
  ['an uncaught exception', 'SIGUSR2'],
  ['an unhandled rejection', 'SIGWINCH'],
] as const)(
  'after %s running answers finish, everything is settled, and the exit code is not 0',
  async (_, signal) => {
    const account = await gateway.createAccount();
    upstream.reply(up.sse(up.streamOf(words(20), { usage: up.usage(9, 20) }), { gapMs: 40 }));
    const stream = gateway.stream(ask(), { key: account.key });
    await upstream.waitForCalls(1);
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
  upstream.reply(up.sse(up.streamOf(words(400)), { gapMs: 40 }));
  const stream = gateway.stream(ask(), { key: account.key }).catch(() => null);
  await upstream.waitForCalls(1);
  await pause(300);
  const logged = gateway.output.stderr.length;
  gateway.signal('SIGUSR2');
  await expect.poll(() => gateway.output.stderr.slice(logged), { timeout: 60_000 }).toContain('a fault of the test');
  const before = performance.now();
  gateway.signal('SIGUSR2');
  expect((await gateway.exited()).code).toBe(1);
  expect(performance.now() - before).toBeLessThan(15_000);
  await stream;
  expect(gateway.output.stderr.slice(logged)).toContain('{"unsettled":{"id":"gen-');
  await gateway.restart();
  const { json } = await gateway.admin('GET', `/accounts/${account.accountId}/ledger?limit=100`);
  const usage = (json.data as { kind: string }[]).filter(({ kind }) => kind === 'usage');
  expect(usage).toHaveLength(1);
}, 180_000);
