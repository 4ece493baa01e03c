/** Streams of a process that dies: a client that received text is billed once, exactly if the process had time to count. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json, TestAccount } from '../support/client.js';
import type { SpawnedGateway } from '../support/gateway.js';
import * as up from '../support/scripted-upstream.js';
import { ask, countedCost, expectBooks, pause, pico, type Rig, scaled, spawnRig, words } from './fixture.js';

let rig: Rig<SpawnedGateway>;
beforeAll(async () => {
  rig = await spawnRig();
}, 180_000);
afterAll(() => rig.stop());

async function usageOf({ accountId }: TestAccount): Promise<Json[]> {
  const { json } = await rig.gateway.admin('GET', `/accounts/${accountId}/ledger?limit=1000`);
  return (json.data as Json[]).filter(({ kind }) => kind === 'usage');
}

/** A stream that goes on until its connection is closed. */
function endless(): void {
  rig.upstream.reset();
  rig.upstream.onRequest(() => up.sse(up.streamOf(words(2_000)), { gapMs: 10 }));
}

it('a caller that leaves a stream is billed once, also when the process is killed the moment the upstream sees the abort', async () => {
  const account = await rig.gateway.createAccount();
  endless();
  for (let round = 1; round <= scaled(1, 2); round++) {
    const calls = rig.upstream.calls.length;
    await rig.gateway.stream(ask(), { key: account.key, hangUpAfter: 11 });
    await rig.upstream.waitFor(() => rig.upstream.calls[calls]!.aborted);
    await rig.gateway.kill('SIGKILL');
    await rig.gateway.restart();
    const usage = await usageOf(account);
    expect(usage).toHaveLength(round);
    for (const entry of usage) expect(-pico(entry.amount_usd)).toBeGreaterThan(0n);
  }
  const { json } = await rig.gateway.call('GET', '/v1/generations', undefined, { key: account.key });
  for (const record of json.data as Json[])
    expect(record).toMatchObject({ stream_end: 'client_closed', status: 200, usage_source: 'counted' });
}, 180_000);

it('a stream whose process is killed in the middle is billed once for what was delivered by then', async () => {
  const account = await rig.gateway.createAccount();
  endless();
  const stream = rig.gateway.stream(ask(), { key: account.key });
  await rig.upstream.waitForCalls(1);
  await pause(300);
  await rig.gateway.kill('SIGKILL');
  expect((await stream).content).not.toBe('');
  await rig.gateway.restart();
  const usage = await usageOf(account);
  expect(usage).toHaveLength(1);
  expect(-pico(usage[0]!.amount_usd)).toBeGreaterThan(0n);
}, 180_000);

it('the exact count takes the place of the provisional record, and the balance follows', async () => {
  const account = await rig.gateway.createAccount();
  endless();
  const { content } = await rig.gateway.stream(ask(), { key: account.key, hangUpAfter: 11 });
  const [record] = await expectBooks(rig.gateway, account, { records: 1, costs: [countedCost(content)] });
  expect(record).toMatchObject({ stream_end: 'client_closed', completion_tokens: 10 });
  await pause(10);
  await rig.gateway.kill('SIGKILL');
  await rig.gateway.restart();
  await expectBooks(rig.gateway, account, { records: 1, costs: [countedCost(content)] });
}, 180_000);

it('the first answer without usage does not wait for the tokenizer to be loaded', {
  retry: 3,
  timeout: 60_000,
}, async () => {
  await rig.gateway.restart();
  await pause(2_000);
  rig.upstream.reset();
  rig.upstream.onRequest(() => up.sse(up.streamOf(words(3))));
  const account = await rig.gateway.createAccount();
  const times: number[] = [];
  for (let i = 0; i < 3; i++) {
    const startedAt = performance.now();
    expect((await rig.gateway.stream(ask(), { key: account.key })).done).toBe(true);
    times.push(performance.now() - startedAt);
  }
  // Loading it takes several times as long as an answer, also on a slow machine.
  expect(times[0]!).toBeLessThan(250 + 2 * Math.max(times[1]!, times[2]!));
});
