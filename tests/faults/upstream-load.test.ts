/** Upstreams that fail or hang by the thousand: what they leave behind does not grow, and another provider does not notice. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SpawnedGateway } from '../support/gateway.js';
import * as up from '../support/scripted-upstream.js';
import { type CoTenant, expectUnharmed, measured, startCoTenant } from './co-tenant.js';
import { ask, expectBooks, expectServes, pause, type Rig, scaled, spawnRig } from './fixture.js';

let rig: Rig<SpawnedGateway>;
let coTenant: CoTenant;
beforeAll(async () => {
  coTenant = await startCoTenant();
  rig = await spawnRig({
    providers: { co: coTenant.url },
  });
});
afterAll(async () => {
  await rig.stop();
  await coTenant.close();
});

function rssMb(): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${rig.gateway.pid}/status`, 'utf8'))![1]) / 1024;
}

/** Resident memory wanders by tens of MB with the collector; a leak grows in every round by at least the bodies that it keeps. */
it('errors with bodies of 100 KB leave no socket and no memory behind', async () => {
  const round = scaled(100, 3_500);
  const leakedMb = round / 10;
  const account = await rig.gateway.createAccount();
  rig.upstream.reply(up.json({ error: { message: 'out of order', detail: 'x'.repeat(100_000) } }, { status: 500 }));
  const runRound = async () => {
    let left = round;
    const caller = async () => {
      while (left-- > 0) expect((await rig.gateway.chat(ask(), { key: account.key })).status).toBe(503);
    };
    await Promise.all(Array.from({ length: 16 }, caller));
  };
  await runRound();
  const residentMb = [rssMb()];
  const leastGrowth = () => Math.min(...residentMb.slice(1).map((mb, at) => mb - residentMb[at]!));
  do {
    await runRound();
    residentMb.push(rssMb());
  } while (leastGrowth() >= leakedMb / 2 && residentMb.length < 7);
  console.log(`resident memory after each ${round} errors: ${residentMb.map((mb) => mb.toFixed(0)).join(', ')} MB`);
  expect(leastGrowth()).toBeLessThan(leakedMb / 2);
  expect(rig.upstream.connections.open).toBeLessThanOrEqual(17);
  await expectBooks(rig.gateway, account, { records: round * residentMb.length, costs: [] });
  await expectServes(rig);
}, 900_000);

it('calls that hang at one provider do not slow another one down', measured, async () => {
  const count = scaled(200, 2_000);
  const account = await rig.gateway.createAccount();
  const watch = {
    url: rig.gateway.url,
    key: account.key,
    model: 'co/meta/llama-3.3-70b/defra',
    pid: rig.gateway.pid,
  };
  coTenant.start(watch);
  await pause(1_000);
  const alone = await coTenant.finish();
  rig.upstream.reset();
  rig.upstream.reply(up.hang());
  const controller = new AbortController();
  const hanging = Array.from({ length: count }, (_, at) =>
    rig.gateway
      .chat(ask({ stream: at % 2 === 0 }), { key: account.key, signal: controller.signal })
      .catch(() => 'left'),
  );
  await rig.upstream.waitForCalls(Math.min(count, 512));
  coTenant.start(watch);
  await pause(1_500);
  const beside = await coTenant.finish();
  expectUnharmed(beside, { max: 250 });
  expect(beside.p50).toBeLessThan(Math.max(4 * alone.p50, 10));
  controller.abort();
  expect(new Set(await Promise.all(hanging))).toEqual(new Set(['left']));
  await rig.upstream.waitFor(() => rig.upstream.connections.open === 0);
  await expectServes(rig);
});
