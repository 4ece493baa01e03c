/** What outlives the drain time with several workers: it is cut, billed for what was sent, settled, and the exit is still clean. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ask, costOf, promptTokens, tokensOf } from '../faults/fixture.js';
import { holdStreams, startWorkers, usageOf, type WorkerRig, workerPids } from './worker-rig.js';

let rig: WorkerRig;
beforeAll(async () => {
  rig = await startWorkers({ workers: 2, config: { server: { drain: '500ms' } } });
}, 180_000);
afterAll(() => rig?.stop());

it('SIGTERM: streams that go on for longer than server.drain are ended, counted and settled by both workers, with exit 0', async () => {
  const { gateway, upstream } = rig;
  const account = await gateway.createAccount({ credit: '1000.00' });
  const held = holdStreams(upstream);
  const streams = Array.from({ length: 20 }, () => gateway.stream(ask(), { key: account.key }));
  void Promise.allSettled(streams);
  await vi.waitFor(() => expect(held.begun).toBe(20), { timeout: 60_000 });
  expect(workerPids(gateway.pid)).toHaveLength(2);
  expect(await gateway.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  for (const { content, done } of await Promise.all(streams)) expect([content, done]).toEqual([' one', false]);
  await gateway.restart();
  const usage = await usageOf(gateway, account, 1_000_000_000_000_000n);
  expect([...usage.values()]).toEqual(Array(20).fill(costOf(promptTokens, tokensOf(' one'))));
}, 180_000);

it('SIGTERM: a worker that is killed while it drains is no clean end, and the exit code says so', async () => {
  const { gateway, upstream } = rig;
  const account = await gateway.createAccount({ credit: '1.00' });
  const held = holdStreams(upstream);
  const streams = Array.from({ length: 4 }, () => gateway.stream(ask(), { key: account.key }));
  void Promise.allSettled(streams);
  await vi.waitFor(() => expect(held.begun).toBe(4), { timeout: 60_000 });
  const [victim] = workerPids(gateway.pid);
  const exit = gateway.kill('SIGTERM');
  process.kill(victim!, 'SIGKILL');
  expect(await exit).toEqual({ code: 1, signal: null });
}, 180_000);
